//! Embeds the web UI anew when it was built anew. It never builds it: `make` does.
#![expect(clippy::print_stdout, reason = "it is how a build script speaks to Cargo")]

fn main() {
    println!("cargo::rerun-if-changed=../../web/dist");
}
