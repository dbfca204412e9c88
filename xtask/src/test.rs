//! `cargo xtask test`: from a fresh clone on a fresh machine to a verdict, in one command.

use std::{path::PathBuf, process::Command};

use clap::Args;

use crate::{
    check, prepare,
    shell::{self, Steps, Workspace},
};

/// Tells the tests where the real Claude Code is.
const CLAUDE_VARIABLE: &str = "BELLJAR_TEST_CLAUDE";
/// Tells them where schemathesis is.
const SCHEMATHESIS_VARIABLE: &str = "BELLJAR_TEST_SCHEMATHESIS";
/// Tells them where the Python with the MCP client is.
const MCP_VARIABLE: &str = "BELLJAR_TEST_MCP_PYTHON";

/// Tells them where playwright-core and axe-core are.
const BROWSER_VARIABLE: &str = "BELLJAR_TEST_BROWSER";

/// How much to do.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Only the tests, on a machine already prepared: nothing is installed, format and lints are not checked.
    #[arg(long)]
    fast: bool,
}

/// Prepares, checks, tests. The tests come last, so that the runner's summary is what one sees.
pub(crate) fn run(workspace: &Workspace, options: &Options) -> anyhow::Result<()> {
    let machine = if options.fast { prepare::Mode::Verify } else { prepare::Mode::Install };
    println!("== machine");
    prepare::tools(machine)?;
    let claude = prepare::claude(&workspace.cache, machine, std::env::var_os(CLAUDE_VARIABLE))?;
    let named = std::env::var_os(SCHEMATHESIS_VARIABLE);
    let schemathesis = prepare::schemathesis(&workspace.cache, machine, named)?;
    let mcp = prepare::mcp_client(&workspace.cache, machine, std::env::var_os(MCP_VARIABLE))?;
    let browser = prepare::browser(&workspace.cache, machine, std::env::var_os(BROWSER_VARIABLE))?;
    let programs = [
        (CLAUDE_VARIABLE, claude),
        (SCHEMATHESIS_VARIABLE, schemathesis),
        (MCP_VARIABLE, mcp),
        (BROWSER_VARIABLE, browser),
    ];

    let mut steps = Steps::default();
    if !options.fast {
        prepare::toolchain(workspace)?;
        check::code(workspace, &mut steps);
    }
    tests(workspace, &programs, &mut steps);
    steps.finish()
}

/// Runs with cargo-nextest where it is installed; that runner leaves out doc tests, so they run beside it.
fn tests(workspace: &Workspace, programs: &[(&str, PathBuf)], steps: &mut Steps) {
    let with_programs = |arguments: &[&str]| -> Command {
        let mut command = workspace.cargo(arguments);
        command.envs(programs.iter().map(|(name, path)| (*name, path)));
        command
    };
    if shell::find("cargo-nextest").is_none() {
        steps.step("tests", || shell::run(&mut with_programs(&["test", "--workspace", "--no-fail-fast"])));
        return;
    }
    steps.step("doc tests", || shell::run(&mut with_programs(&["test", "--workspace", "--doc"])));
    steps.step("tests", || {
        let arguments = ["nextest", "run", "--workspace", "--no-fail-fast"];
        shell::run(&mut with_programs(&arguments))
    });
}
