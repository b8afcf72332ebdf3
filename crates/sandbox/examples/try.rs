use planwright_sandbox::*;
fn main() -> std::process::ExitCode {
    if let Some(code) = enter_if_asked() { return code; }
    let a: Vec<String> = std::env::args().collect();
    let base = std::path::PathBuf::from(&a[1]);
    for c in probe(&base) { println!("{c:?}"); }
    std::fs::create_dir_all(base.join("s")).unwrap(); std::fs::create_dir_all(base.join("ws")).unwrap();
    let view = match a[2].as_str() { "ro" => View::read_only(base.join("st")).unwrap(), "st" => View::staged(base.join("st")).unwrap(), _ => View::Direct };
    let p = Policy { workspace: base.join("ws"), view, cwd: "".into(), fixed: vec![], scratch: base.join("s"), builds_in_scratch: true, writable: vec![], network: Network::Off, limits: Limits::within(std::time::Duration::from_secs(20)) };
    let mut out = vec![];
    let r = run(&p, &a[3], &Stop::default(), |b| out.extend_from_slice(b));
    println!("{}\n{r:?}", String::from_utf8_lossy(&out));
    std::process::ExitCode::SUCCESS
}
