//! `cargo xtask check`: what must hold before any test is worth running.

use crate::{
    shell::{self, Steps, Workspace},
    tidy,
};

/// Runs every check and fails if one does.
pub(crate) fn run(workspace: &Workspace) -> anyhow::Result<()> {
    let mut steps = Steps::default();
    code(workspace, &mut steps);
    steps.step("doc", || documentation(workspace));
    steps.step("deny", || licences(workspace));
    steps.finish()
}

/// The checks of the code alone, which `cargo xtask test` runs too.
pub(crate) fn code(workspace: &Workspace, steps: &mut Steps) {
    steps.step("fmt", || shell::run(&mut workspace.cargo(&["fmt", "--all", "--check"])));
    steps.step("clippy", || {
        let arguments = ["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"];
        shell::run(&mut workspace.cargo(&arguments))
    });
    steps.step("tidy", || tidy::run(workspace));
    steps.step("web", || dashboard(workspace));
}

/// The dashboard's types, which its build does not check.
fn dashboard(workspace: &Workspace) -> anyhow::Result<()> {
    let npm = |words: &[&str]| {
        let mut command = std::process::Command::new("npm");
        command.current_dir(workspace.root.join("web")).args(words);
        shell::run(&mut command)
    };
    npm(&["install", "--no-save", "--no-audit", "--no-fund", "--prefer-offline"])?;
    npm(&["run", "check"])
}

fn documentation(workspace: &Workspace) -> anyhow::Result<()> {
    let arguments = ["doc", "--workspace", "--no-deps", "--document-private-items"];
    shell::run(workspace.cargo(&arguments).env("RUSTDOCFLAGS", "-D warnings"))
}

fn licences(workspace: &Workspace) -> anyhow::Result<()> {
    if shell::find("cargo-deny").is_none() {
        println!("cargo-deny is not installed, so licences and advisories were NOT checked;");
        println!("install it with `cargo install --locked cargo-deny`");
        return Ok(());
    }
    shell::run(&mut workspace.cargo(&["deny", "check"]))
}
