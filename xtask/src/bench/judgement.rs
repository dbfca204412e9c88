//! The guardian: how long one call is judged in a process that is running, by its own example.

use anyhow::Context as _;

use crate::shell::{self, Workspace};

/// Milliseconds at the 99th percentile: every call of the corpus, each again in a command of 4 KB, and those that are nothing but short
/// commands; the slowest kind counts.
pub(crate) fn measure(workspace: &Workspace) -> anyhow::Result<f64> {
    let arguments = ["run", "--release", "--quiet", "--package", "belljar-guardian", "--example", "latency"];
    let said = shell::read(&mut workspace.cargo(&arguments))?;
    println!("{said}");
    p99(&said).context("the guardian did not say how fast it is")
}

fn p99(said: &str) -> Option<f64> {
    let kinds = said
        .lines()
        .map(|line| -> Option<f64> { line.split_once("p99 ")?.1.split(' ').next()?.parse().ok() });
    let micros: Vec<f64> = kinds.collect::<Option<_>>()?;
    micros.into_iter().reduce(f64::max).map(|micros| micros / 1000.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_example_says_is_read() {
        let said = "12 calls: p50 20.5 us, p99 250.0 us, p99.9 900.1 us\n3 scripts: p50 1.0 us, p99 800.0 us";
        assert_eq!(p99(said), Some(0.8));
        assert_eq!(p99("nothing"), None);
    }
}
