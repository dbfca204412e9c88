//! The page in a real browser: `web/scripts/measure.mjs` starts a server of its own and prints a table.

use std::{env, path::Path, process::Command};

use crate::{
    prepare::{self, Mode},
    shell::{self, Workspace},
};

/// Prints what was found. Into `docs/benchmarks.md` it is put by hand: a browser is not on every machine that measures.
pub(super) fn measure(workspace: &Workspace, program: &Path) -> anyhow::Result<()> {
    let driver = prepare::browser(&workspace.cache, Mode::Verify, env::var_os("BELLJAR_TEST_BROWSER"))?;
    shell::run(
        Command::new("node")
            .current_dir(&workspace.root)
            .args(["web/scripts/measure.mjs", "--belljar"])
            .arg(program)
            .env("BELLJAR_TEST_BROWSER", driver),
    )
}
