//! The ledger: how many events a second are durable, by the store's own example.

use anyhow::Context as _;

use crate::shell::{self, Workspace};

/// Durable events a second in batches of 100, many in flight, below the temporary directory.
pub(crate) fn measure(workspace: &Workspace) -> anyhow::Result<Option<f64>> {
    let arguments = ["run", "--release", "--quiet", "--package", "belljar-store", "--example", "append"];
    let said = shell::read(&mut workspace.cargo(&arguments))?;
    println!("{said}");
    let rate = said
        .lines()
        .find_map(|line| line.split_once(" durable events/s")?.0.rsplit(' ').next()?.parse().ok());
    Ok(Some(rate.context("the store did not say how fast it is")?))
}
