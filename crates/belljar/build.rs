//! Links the program statically and at a fixed address: finding libraries and patching thousands of addresses at every
//! start would cost a tenth of a sandbox.

use std::{env, error::Error, fs, path::PathBuf, process::Command};

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-link-arg-bins=-no-pie");
    let gnu = env::var("CARGO_CFG_TARGET_ENV")? == "gnu" && env::var("TARGET")? == env::var("HOST")?;
    if !gnu || env::var("PROFILE")? != "release" {
        return Ok(());
    }
    // Some distributions ship no archive of the C library; there the program is linked as usual.
    let archives: Option<Vec<_>> =
        ["libc.a", "libm.a", "libgcc_eh.a", "libgcc.a"].map(archive).into_iter().collect();
    if let Some(archives) = archives {
        let dir = PathBuf::from(env::var("OUT_DIR")?);
        // The standard library asks for the shared forms by name. These say where the same code is as an archive.
        for name in ["libc.so", "libm.so", "libgcc_s.so"] {
            fs::write(dir.join(name), format!("GROUP({})\n", archives.join(" ")))?;
        }
        println!("cargo::rustc-link-arg-bins=-static");
        println!("cargo::rustc-link-arg-bins=-L{}", dir.display());
    }
    Ok(())
}

/// Where the C compiler keeps an archive, if it has it.
fn archive(name: &str) -> Option<String> {
    let asked = Command::new("cc").arg(format!("-print-file-name={name}")).output().ok()?;
    let path = String::from_utf8(asked.stdout).ok()?.trim().to_owned();
    // A compiler that does not have it answers with the bare name.
    (path.starts_with('/') && fs::exists(&path).ok()?).then_some(path)
}
