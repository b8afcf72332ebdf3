//! What `planwright serve` costs: its start, its memory, its streams, its requests. Exits with 1 when a bar is missed.
//!
//! Names of parts as arguments run only those: `cargo bench --bench server -- start snapshot`.
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::disallowed_methods,
    clippy::cast_precision_loss,
    reason = "a benchmark prints, fails by panicking, and counts far below the limits of floats"
)]

mod clients;
mod deletion;
mod load;
mod memory;
mod place;
mod requests;
mod start;
mod stored;
mod turns;

use std::process::ExitCode;

type Part = (&'static str, fn() -> std::pin::Pin<Box<dyn Future<Output = bool>>>);

const PARTS: &[Part] = &[
    ("start", || Box::pin(start::measure())),
    ("snapshot", || Box::pin(stored::measure())),
    ("streaming", || Box::pin(load::measure())),
    ("clients", || Box::pin(clients::measure_many())),
    ("stalled", || Box::pin(clients::measure_stalled())),
    ("requests", || Box::pin(requests::measure())),
    ("memory", || Box::pin(memory::measure())),
    ("deletion", || Box::pin(deletion::measure())),
    ("turns", || Box::pin(turns::measure())),
];

fn main() -> ExitCode {
    planwright_providers::install_cryptography();
    let wanted: Vec<String> = std::env::args().skip(1).filter(|arg| !arg.starts_with('-')).collect();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let mut all_within = true;
    for (name, part) in PARTS.iter().filter(|(name, _)| wanted.is_empty() || wanted.iter().any(|word| word == name)) {
        let within = runtime.block_on(part());
        if !within {
            println!("{name}: a bar was missed");
        }
        all_within &= within;
    }
    if all_within { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
