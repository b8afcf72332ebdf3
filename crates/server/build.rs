//! Embeds the web UI anew when it was built anew. It never builds it: `make` does.

fn main() {
    println!("cargo::rerun-if-changed=../../web/dist");
}
