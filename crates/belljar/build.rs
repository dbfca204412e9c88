//! Links the program at a fixed address: thousands of relocations at every start would cost a fifth of a sandbox.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-link-arg-bins=-no-pie");
}
