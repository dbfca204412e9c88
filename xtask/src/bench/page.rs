//! The measured part of `docs/benchmarks.md`: tables between two markers, the prose around them stays.

use std::{fs, path::Path};

use anyhow::{Context as _, bail};

use super::{
    contestant::{
        BELLJAR_EXEC, BELLJAR_ROOT, BELLJAR_USER, BWRAP_ROOT, BWRAP_USER, DOCKER_EXEC, DOCKER_RUN, FLOOR,
        HOOK, HOOK_BEHIND, HOOK_DENY, HOOK_DENY_KILLED, HOOK_KILLED, HTTP_EXEC, HTTP_LIFE, HTTP_LIFE_POOL,
        PYTHON_HOOK,
    },
    crowd::Crowd,
    growth::{Creation, Forks},
    idle::Idle,
    ingest::Ingest,
    records::Records,
    rounds::Race,
    runs::{ATTEMPTS, FILES, Runs},
    target,
};

/// Everything that was measured.
#[derive(Debug)]
pub(crate) struct Findings {
    pub(crate) host: Vec<(&'static str, String)>,
    pub(crate) rounds: usize,
    pub(crate) races: Vec<Race>,
    pub(crate) idle: Idle,
    pub(crate) growth: Vec<Creation>,
    pub(crate) forks: Forks,
    pub(crate) runs: Runs,
    /// Durable events a second, in batches of 100.
    pub(crate) ledger: Option<f64>,
    /// Milliseconds for a judgement at the 99th percentile.
    pub(crate) judgement: f64,
    pub(crate) ingest: Ingest,
    pub(crate) crowd: Crowd,
    pub(crate) records: Records,
}

const BEGIN: &str = "<!-- measured: begin -->";
const END: &str = "<!-- measured: end -->";
const ROWS: [&str; 17] = [
    FLOOR,
    BWRAP_ROOT,
    BELLJAR_ROOT,
    BWRAP_USER,
    BELLJAR_USER,
    DOCKER_RUN,
    BELLJAR_EXEC,
    DOCKER_EXEC,
    HTTP_EXEC,
    HTTP_LIFE,
    HTTP_LIFE_POOL,
    HOOK,
    HOOK_DENY,
    HOOK_KILLED,
    HOOK_DENY_KILLED,
    HOOK_BEHIND,
    PYTHON_HOOK,
];

/// Renders the tables as Markdown.
pub(crate) fn render(findings: &Findings) -> String {
    let parts = [
        host(findings),
        targets(findings),
        races(&findings.races, findings.rounds),
        ingest(&findings.ingest),
        crowd(&findings.crowd),
        records(&findings.records),
        growth(findings),
        runs(&findings.runs),
        idle(&findings.idle),
    ];
    parts.join("\n").trim_end().to_owned()
}

fn host(findings: &Findings) -> String {
    table(
        "## This machine",
        &["", ""],
        findings.host.iter().map(|(name, value)| vec![(*name).to_owned(), value.clone()]),
    )
}

fn targets(findings: &Findings) -> String {
    let rows = target::all(findings).into_iter().map(|target| {
        let with_unit = |number: f64| format!("{} {}", brief(number), target.unit);
        let verdict = match target.is_reached() {
            Some(true) => "reached",
            Some(false) => "**missed**",
            None => "open",
        };
        let seen = target.seen.map_or_else(|| "not measured".to_owned(), with_unit);
        let floor = target.floor.map_or_else(|| "-".to_owned(), with_unit);
        vec![target.promise.to_owned(), seen, floor, verdict.to_owned()]
    });
    table("## Targets", &["Target", "Measured", "by the smallest times", ""], rows)
}

/// The table of all who race, whether they did or not.
pub(crate) fn races(races: &[Race], rounds: usize) -> String {
    let heading = format!("## Whole processes and requests, ms, {rounds} interleaved rounds");
    let rows = ROWS.map(|name| {
        let race = races.iter().find(|race| race.name == name);
        let mut row = vec![name.to_owned()];
        match race {
            None => row.extend(vec!["not measured".to_owned(); 6]),
            Some(race) => {
                let at =
                    |percent| race.times.at(percent).map_or_else(|| "-".to_owned(), |ms| format!("{ms:.2}"));
                row.extend([0, 50, 95, 99, 100].map(at));
                row.push(race.times.failures().to_string());
            }
        }
        row
    });
    table(&heading, &["", "min", "p50", "p95", "p99", "max", "failed"], rows)
}

fn ingest(ingest: &Ingest) -> String {
    let rows = [("one event a request", ingest.singles), ("100 events a request", ingest.batched)];
    let rows = rows.map(|(what, rate)| vec![what.to_owned(), format!("{rate:.0}")]);
    table("## Events over HTTP, a second, durable when answered", &["", "events"], rows)
}

pub(crate) fn crowd(crowd: &Crowd) -> String {
    let heading = format!(
        "## {} readers over WebSocket, {} events in {:.1} s, clients on the same processors",
        crowd.readers, crowd.events, crowd.took
    );
    let rows = [
        ("readers that saw every event, in order and once", format!("{}", crowd.complete)),
        ("processor time of the server, s", format!("{:.2}", crowd.processor)),
        ("the last reader behind the last acknowledgement, ms", format!("{:.0}", crowd.behind)),
    ];
    table(&heading, &["", ""], rows.map(|(what, number)| vec![what.to_owned(), number]))
}

fn records(records: &Records) -> String {
    let heading = format!("## Questions about {} events, ms ({})", records.events, records.room);
    let rows = records
        .questions
        .iter()
        .map(|(what, median, p95)| vec![what.clone(), format!("{median:.2}"), format!("{p95:.2}")]);
    table(&heading, &["", "p50", "p95"], rows)
}

fn growth(findings: &Findings) -> String {
    let percent = |rate: f64| format!("{:.1} %", rate * 100.0);
    let steps = findings.growth.iter().map(|step| {
        let name = format!("create, {} others running", step.live);
        vec![
            name,
            format!("{:.2}", step.p50),
            format!("{:.2}", step.p95),
            "-".to_owned(),
            percent(step.failure_rate),
        ]
    });
    let forks = &findings.forks;
    let fork = vec![
        format!("fork from a snapshot, {} running in the end", forks.count),
        format!("{:.2}", forks.p50),
        "-".to_owned(),
        format!("{:.0}", forks.total),
        percent(forks.failure_rate),
    ];
    table("## Many sandboxes, ms", &["", "p50", "p95", "all", "failed"], steps.chain([fork]))
}

/// The table of best of N.
pub(crate) fn runs(runs: &Runs) -> String {
    let rows = [
        (format!("from the snapshot until {ATTEMPTS} attempts run"), runs.started),
        ("a run of one attempt that sleeps 3 s".to_owned(), runs.one),
        (format!("the same with {ATTEMPTS}"), runs.all),
        (format!("`belljar quality`, {FILES} files, {} lines", runs.lines), runs.analysed),
    ];
    let rows = rows.map(|(what, millis)| vec![what, format!("{millis:.0}")]);
    table("## Best of N, ms", &["", "p50"], rows)
}

fn idle(idle: &Idle) -> String {
    let heading = format!("## One idle sandbox, KiB, mean of {}", idle.count);
    let mut rows = vec![("keeper and PID 1 (PSS)".to_owned(), idle.processes)];
    rows.extend(idle.kernel.iter().map(|(name, kib)| (format!("kernel: {name}"), *kib)));
    rows.extend(idle.group.map(|kib| ("charged to its memory group".to_owned(), kib)));
    table(&heading, &["", "KiB"], rows.into_iter().map(|(name, kib)| vec![name, format!("{kib:.0}")]))
}

fn table(heading: &str, columns: &[&str], rows: impl IntoIterator<Item = Vec<String>>) -> String {
    let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
    let names: Vec<_> = columns.iter().map(|&name| name.to_owned()).collect();
    let rule = format!("|{}\n", "---|".repeat(columns.len()));
    let rows: String = rows.into_iter().map(|row| line(&row)).collect();
    format!("{heading}\n\n{}{rule}{rows}", line(&names))
}

/// Three digits that matter.
fn brief(number: f64) -> String {
    if number < 10.0 { format!("{number:.3}") } else { format!("{number:.0}") }
}

/// Puts the text between the markers of a file.
pub(crate) fn store(path: &Path, text: &str) -> anyhow::Result<()> {
    let old = fs::read_to_string(path).with_context(|| format!("could not read {}", path.display()))?;
    fs::write(path, splice(&old, text)?).with_context(|| format!("could not write {}", path.display()))
}

fn splice(old: &str, text: &str) -> anyhow::Result<String> {
    let parts = old.split_once(BEGIN).and_then(|(head, rest)| Some((head, rest.split_once(END)?.1)));
    let Some((head, tail)) = parts else { bail!("the page has lost its markers {BEGIN} and {END}") };
    Ok(format!("{head}{BEGIN}\n{text}\n{END}{tail}"))
}

#[cfg(test)]
pub(super) mod tests {
    use std::time::Duration;

    use super::{super::times::Times, *};

    pub(crate) fn sample() -> Findings {
        let race = |name, millis| Race { name, times: Times::new([Some(Duration::from_millis(millis))]) };
        let step = |live, p50| Creation { live, p50, p95: p50, failure_rate: 0.0 };
        Findings {
            host: vec![("Kernel", "Linux 6".to_owned())],
            rounds: 1,
            races: vec![race(BWRAP_ROOT, 4), race(BELLJAR_ROOT, 8), race(DOCKER_RUN, 400)],
            idle: Idle { count: 1, processes: 200.0, kernel: vec![("Slab", 300.0)], group: None },
            growth: vec![step(10, 5.0), step(500, 9.0)],
            forks: Forks { count: 50, total: 400.0, p50: 8.0, failure_rate: 0.0 },
            runs: Runs { started: 90.0, one: 3000.0, all: 3100.0, analysed: 5000.0, lines: 500 },
            ledger: Some(60_000.0),
            judgement: 0.2,
            crowd: Crowd {
                readers: 200,
                events: 10_000,
                complete: 199,
                took: 10.0,
                processor: 3.0,
                behind: 8.0,
            },
            ingest: Ingest { singles: 20_000.0, batched: 60_000.0 },
            records: Records {
                events: 1000,
                room: "ledger 900 bytes".to_owned(),
                questions: vec![("session trace".to_owned(), 1.0, 12.0)],
            },
        }
    }

    #[test]
    fn a_page_names_what_was_missed_and_what_was_not_measured() {
        let text = render(&sample());
        assert!(
            text.contains("| `belljar run`, root ≤ 1.5 × bwrap | 2.000 × | 2.000 × | **missed** |"),
            "{text}"
        );
        assert!(text.contains("| docker exec | not measured |"), "{text}");
        assert!(text.contains("| create, 500 others running | 9.00 |"), "{text}");
    }

    #[test]
    fn only_what_lies_between_the_markers_changes() {
        let old = format!("# Title\n\n{BEGIN}\nold\n{END}\n\nprose\n");
        assert_eq!(splice(&old, "new").unwrap(), format!("# Title\n\n{BEGIN}\nnew\n{END}\n\nprose\n"));
        assert!(splice("# Title\n", "new").is_err());
    }
}
