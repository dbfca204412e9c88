//! Best of N: how long after the snapshot all attempts run, whether many that wait take longer than one, and how long a
//! large repository is analysed.

use std::{
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
    process::Stdio,
    time::Instant,
};

use anyhow::{Context as _, ensure};

use super::{
    growth::{bench, numbers, series},
    site::Site,
};

/// Attempts of a run, and files of the repository.
pub(crate) const ATTEMPTS: u32 = 9;
pub(crate) const FILES: usize = 10_000;

/// What was measured, in milliseconds.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Runs {
    /// From the snapshot until all attempts run.
    pub(crate) started: f64,
    /// A run with one attempt, and with several, until they are over.
    pub(crate) one: f64,
    pub(crate) all: f64,
    /// `belljar quality` over the repository.
    pub(crate) analysed: f64,
    /// Lines in it.
    pub(crate) lines: usize,
}

pub(crate) fn measure(site: &Site) -> anyhow::Result<Runs> {
    println!("runs of {ATTEMPTS} attempts");
    let report = bench(site, &["best-of", "--count", &ATTEMPTS.to_string()])?;
    let median = |name: &str| Ok::<_, anyhow::Error>(numbers(series(&report, name)?, ["p50"])?[0]);
    let (started, one, all) =
        (median("snapshot to all running")?, median("one attempt")?, median("all attempts")?);
    println!("{FILES} files analysed");
    let dir = site.dir.join("repository");
    let lines = generate(&dir)?;
    let analysed = analyse(site, &dir);
    fs::remove_dir_all(&dir).context("remove the repository")?;
    Ok(Runs { started, one, all, analysed: analysed?, lines })
}

/// The second of two times: the first reads the files from the disk.
fn analyse(site: &Site, dir: &Path) -> anyhow::Result<f64> {
    let mut took = 0.0;
    for _turn in 0..2 {
        let dir = dir.to_str().context("the directory's name is not valid UTF-8")?;
        let mut command = site.belljar(&site.maker, &["--json", "quality", dir]);
        let begun = Instant::now();
        let status = command.stdout(Stdio::null()).status().context("run belljar quality")?;
        took = begun.elapsed().as_secs_f64() * 1000.0;
        // Findings are no failure of the program.
        ensure!(status.code().is_some_and(|code| code < 100), "belljar quality ended with {status}");
    }
    Ok(took)
}

/// A repository in six languages, the same every time: functions, types, constants, branches, and some of everything
/// rules look for. The answer is how many lines it has.
fn generate(dir: &Path) -> anyhow::Result<usize> {
    let mut lines = 0;
    for number in 0..FILES {
        let (ending, text) = file(number);
        let folder: PathBuf = dir.join(format!("part{}", number / 100));
        fs::create_dir_all(&folder).context("make the repository")?;
        lines += text.lines().count();
        fs::write(folder.join(format!("unit{number}.{ending}")), text).context("write the repository")?;
    }
    Ok(lines)
}

/// How many functions a file has: few mostly, many now and then, as in real repositories.
const fn functions(number: usize) -> usize {
    match number % 20 {
        0 => 40,
        1..=4 => 12,
        _ => 4,
    }
}

fn file(number: usize) -> (&'static str, String) {
    let mut text = String::new();
    let language = number % 6;
    let put = |text: &mut String, line: String| {
        // Writing to a text cannot fail.
        let _written = writeln!(text, "{line}");
    };
    match language {
        3 => put(&mut text, format!("package part{}\n", number / 100)),
        4 => put(&mut text, format!("class Unit{number} {{")),
        _ => {}
    }
    for each in 0..functions(number) {
        let (a, b) = (number % 97 + each, each % 7 + 2);
        put(
            &mut text,
            match language {
                0 => format!(
                    "def step_{each}(items, limit, mode=None):\n    total = 0\n    for item in items:\n        \
                     if item > limit and mode != \"fast\":\n            total += item * {a}\n        else:\n            \
                     total -= {b}\n    return total\n"
                ),
                1 => format!(
                    "export function step{each}(items, limit) {{\n  let total = 0;\n  for (const item of items) {{\n    \
                     if (item.kind === \"k{b}\" && item.size > limit) total += item.size * {a};\n    \
                     else total -= {b};\n  }}\n  return total;\n}}\n"
                ),
                2 => format!(
                    "pub fn step_{each}(items: &[u64], limit: u64) -> u64 {{\n    let mut total = 0;\n    \
                     for item in items {{\n        if *item > limit {{ total += item * {a}; }} else {{ total -= {b}; }}\n    \
                     }}\n    total\n}}\n"
                ),
                3 => format!(
                    "func Step{number}x{each}(items []int, limit int) int {{\n\ttotal := 0\n\tfor _, item := range items {{\n\t\t\
                     if item > limit {{\n\t\t\ttotal += item * {a}\n\t\t}} else {{\n\t\t\ttotal -= {b}\n\t\t}}\n\t}}\n\treturn total\n}}\n"
                ),
                4 => format!(
                    "    int step{each}(int[] items, int limit) {{\n        int total = 0;\n        for (int item : items) {{\n            \
                     if (item > limit) total += item * {a};\n            else total -= {b};\n        }}\n        return total;\n    }}\n"
                ),
                _ => format!(
                    "export const step{each} = (items: number[], limit: number): number =>\n  \
                     items.filter((item) => item > limit).reduce((sum, item) => sum + item * {a}, {b});\n"
                ),
            },
        );
    }
    if language == 4 {
        put(&mut text, "}".to_owned());
    }
    (["py", "js", "rs", "go", "java", "ts"].get(language).copied().unwrap_or("py"), text)
}
