//! Builds the small static program that is PID 1 in every sandbox and hands its bytes to the crate.
//!
//! It is a separate build because it has no libc: other link flags, other panic strategy, other optimisation.

use std::{env, path::PathBuf, process::Command};

fn main() -> Result<(), String> {
    println!("cargo::rerun-if-changed=init/src");
    println!("cargo::rerun-if-changed=init/Cargo.toml");
    let out = PathBuf::from(env::var_os("OUT_DIR").ok_or("OUT_DIR is not set")?);
    let target = env::var("TARGET").map_err(|e| e.to_string())?;
    let cargo = env::var_os("CARGO").ok_or("CARGO is not set")?;
    let target_dir = out.join("init");
    let flags = [
        "-Crelocation-model=static",
        "-Ctarget-feature=+crt-static",
        "-Cpanic=abort",
        "-Copt-level=s",
        "-Clto=fat",
        "-Ccodegen-units=1",
        "-Cembed-bitcode=yes",
        "-Cstrip=symbols",
        "-Clink-arg=-nostdlib",
        "-Clink-arg=-nostartfiles",
        "-Clink-arg=-static",
        "-Clink-arg=-no-pie",
        "-Clink-arg=-Wl,--gc-sections,--build-id=none,-z,norelro,-z,noseparate-code",
    ];
    let mut command = Command::new(cargo);
    command
        .args([
            "build",
            "--quiet",
            "--release",
            "--package",
            "belljar-init",
            "--bin",
            "belljar-init",
            "--features",
            "pid1",
        ])
        .args(["--target", &target])
        .arg("--manifest-path")
        .arg("init/Cargo.toml")
        .arg("--target-dir")
        .arg(&target_dir)
        .env("CARGO_ENCODED_RUSTFLAGS", flags.join("\u{1f}"))
        // What wraps the outer build (clippy, coverage) has no business in here.
        .env_remove("RUSTC_WORKSPACE_WRAPPER")
        .env_remove("RUSTC_WRAPPER")
        .env_remove("RUSTFLAGS")
        .env_remove("CARGO_BUILD_TARGET");
    let status = command.status().map_err(|e| format!("could not start cargo for belljar-init: {e}"))?;
    if !status.success() {
        return Err(format!("building belljar-init failed: {status}"));
    }
    let built = target_dir.join(&target).join("release/belljar-init");
    println!("cargo::rustc-env=BELLJAR_INIT={}", built.display());
    Ok(())
}
