//! Hostile files: generated, nested without end, truncated, or random bytes.

use planwright_code::{LARGEST_SOURCE, Language, ParseError, outline, parse};
use std::time::{Duration, Instant};

const SAMPLES: [(Language, &str); 12] = [
    (Language::C, include_str!("fixtures/greeter.c")),
    (Language::CSharp, include_str!("fixtures/Greeter.cs")),
    (Language::Cpp, include_str!("fixtures/greeter.cpp")),
    (Language::Go, include_str!("fixtures/greeter.go")),
    (Language::Java, include_str!("fixtures/Greeter.java")),
    (Language::JavaScript, include_str!("fixtures/greeter.js")),
    (Language::Php, include_str!("fixtures/greeter.php")),
    (Language::Python, include_str!("fixtures/greeter.py")),
    (Language::Ruby, include_str!("fixtures/greeter.rb")),
    (Language::Rust, include_str!("fixtures/greeter.rs")),
    (Language::Tsx, include_str!("fixtures/view.tsx")),
    (Language::TypeScript, include_str!("fixtures/greeter.ts")),
];

fn later() -> Instant {
    Instant::now() + Duration::from_mins(5)
}

#[test]
fn a_file_that_is_cut_off_anywhere_or_has_noise_in_it_is_parsed_as_far_as_it_goes() {
    let mut state = 7_u64;
    let mut random = move |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(state >> 33).unwrap() % below
    };
    for (language, sample) in SAMPLES {
        for _ in 0..60 {
            let mut bytes = sample.as_bytes()[..random(sample.len())].to_vec();
            for _ in 0..random(8) {
                let at = random(bytes.len() + 1);
                bytes.splice(at..at, std::iter::repeat_n(u8::try_from(random(256)).unwrap(), random(5)));
            }
            let source = parse(language, &bytes, later()).unwrap();
            let lines = bytes.iter().filter(|byte| **byte == b'\n').count() + 1;
            assert!(source.symbols.iter().all(|symbol| symbol.line as usize <= lines && symbol.end_line as usize <= lines + 1));
        }
    }
}

#[test]
fn nesting_without_end_overflows_no_stack() {
    for (language, open) in [
        (Language::Rust, "fn f() { ("),
        (Language::JavaScript, "(function () { ["),
        (Language::Python, "(["),
        (Language::Cpp, "namespace a {"),
    ] {
        let text = open.repeat(20_000);
        match parse(language, text.as_bytes(), later()) {
            Ok(source) => assert!(outline(&source).text.lines().count() <= 300),
            Err(why) => assert_eq!(why, ParseError::OutOfTime),
        }
    }
}

#[test]
fn a_huge_generated_file_is_refused_and_a_large_one_has_a_short_outline() {
    let huge = "int generated_table[] = { 1, 2, 3 };\n".repeat(LARGEST_SOURCE / 30);
    assert_eq!(parse(Language::C, huge.as_bytes(), later()), Err(ParseError::TooLarge));
    let large: String = (0..2_000).map(|number| format!("pub fn generated_{number}() {{}}\n")).collect::<Vec<_>>().concat();
    let source = parse(Language::Rust, large.as_bytes(), later()).unwrap();
    let outline = outline(&source);
    assert_eq!((source.symbols.len(), outline.symbols, outline.left_out), (2_000, 300, 1_700));
}

#[test]
fn parsing_ends_at_its_deadline() {
    let text = "fn f() { let x = (1 + 2) * 3; }\n".repeat(20_000);
    let begun = Instant::now();
    assert_eq!(parse(Language::Rust, text.as_bytes(), begun), Err(ParseError::OutOfTime));
}

#[test]
fn a_long_name_is_not_repeated_by_every_symbol_inside_of_it() {
    let (name, inside) = ("A".repeat(100_000), "fn f() {}\n".repeat(5_000));
    for (language, text) in [
        (Language::Rust, format!("mod {name} {{\n{inside}}}\n")),
        (Language::Cpp, format!("namespace {name} {{\n{}}}\n", "int f() {}\n".repeat(5_000))),
        (Language::Cpp, "int AAAAAAAA::BBBBBBBB<CCCCCCCC>::f() {}\n".replace("CCCCCCCC", &name).repeat(5)),
        (Language::Go, format!("package a\nfunc (a {name}) f() {{}}\n")),
    ] {
        let source = parse(language, text.as_bytes(), later()).unwrap();
        let most = 1_000 * source.symbols.len() + 40 * text.len();
        assert!(source.bytes() < most, "{} bytes are kept of {} ({} symbols)", source.bytes(), text.len(), source.symbols.len());
        assert!(source.symbols.iter().all(|symbol| symbol.container.as_ref().is_none_or(|name| name.len() <= 256)));
    }
}

#[test]
fn memory_of_what_is_kept_is_counted() {
    let source = parse(Language::Rust, include_bytes!("fixtures/greeter.rs"), later()).unwrap();
    let most = 20 * include_bytes!("fixtures/greeter.rs").len();
    assert!((1_000..most).contains(&source.bytes()), "{}", source.bytes());
}
