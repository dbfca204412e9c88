//! What the tests need of a machine, and why: data alone. `prepare` acts on it.

/// How to see that a tool is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Probe {
    /// An executable of this name exists.
    Binary(&'static str),
    /// This command exits with success; for what is no program of its own.
    Succeeds(&'static [&'static str]),
}

/// What happens when a tool is missing and cannot be installed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Weight {
    /// The run fails.
    Required,
    /// The run says so and goes on: no test depends on it.
    Optional,
}

/// One tool.
#[derive(Debug)]
pub(crate) struct Need {
    /// Its package in Debian and Ubuntu.
    pub(crate) package: &'static str,
    pub(crate) probe: Probe,
    pub(crate) weight: Weight,
    /// Which part of the tests would be blind without it.
    pub(crate) reason: &'static str,
}

const fn required(package: &'static str, probe: Probe, reason: &'static str) -> Need {
    Need { package, probe, weight: Weight::Required, reason }
}

const fn optional(package: &'static str, probe: Probe, reason: &'static str) -> Need {
    Need { package, probe, weight: Weight::Optional, reason }
}

/// Every tool, in the order it is reported.
pub(crate) const NEEDS: [Need; 17] = [
    required("git", Probe::Binary("git"), "workspaces, branches of attempts, and tidy's list of files"),
    required(
        "gcc",
        Probe::Binary("cc"),
        "links every Rust program, and is a toolchain that must work inside a sandbox",
    ),
    required("make", Probe::Binary("make"), "a toolchain that must work inside a sandbox"),
    required("curl", Probe::Binary("curl"), "the README's walk through the service is pasted into a shell"),
    required(
        "bubblewrap",
        Probe::Binary("bwrap"),
        "runs generated scripts that the guardian reads beside bash, and is a yardstick for the sandbox's speed",
    ),
    required("e2fsprogs", Probe::Binary("mke2fs"), "disk limits are ext4 images with a fixed size"),
    required("python3", Probe::Binary("python3"), "a toolchain that must work inside a sandbox"),
    required(
        "python3-venv",
        Probe::Succeeds(&["python3", "-c", "import ensurepip, venv"]),
        "virtual environments are made inside a sandbox, and Python clients of the service live in some",
    ),
    required("nodejs", Probe::Binary("node"), "a toolchain that must work inside a sandbox"),
    required(
        "npm",
        Probe::Binary("npm"),
        "builds the dashboard, installs Claude Code, and packages inside a sandbox",
    ),
    required("chromium", Probe::Binary("chromium"), "the browser the dashboard is tested in"),
    required("docker.io", Probe::Binary("docker"), "the docker provider, and a yardstick for speed"),
    required("hyperfine", Probe::Binary("hyperfine"), "measures start times as ratios"),
    required(
        "prometheus",
        Probe::Binary("promtool"),
        "checks the alert rules in deploy/alerts, and fires them against written-down series",
    ),
    required(
        "prometheus-alertmanager",
        Probe::Binary("prometheus-alertmanager"),
        "the real receiver that alerts are sent to in a test",
    ),
    required(
        "systemd",
        Probe::Binary("systemd-analyze"),
        "reads the unit in deploy/systemd as a machine would",
    ),
    optional(
        "uidmap",
        Probe::Binary("newuidmap"),
        "ranges of user ids for rootless sandboxes; without it one id is mapped",
    ),
];

/// Parts of the Rust toolchain that a minimal one leaves out, with the cargo command each provides.
pub(crate) const COMPONENTS: [(&str, &str); 2] = [("rustfmt", "fmt"), ("clippy", "clippy")];

/// The npm package of the real agent that the hooks are tested with. Its wrapper asks for a newer Node.js than its native
/// program needs, so npm, left to choose, would take a version of long ago: the version is always named.
pub(crate) const CLAUDE_PACKAGE: &str = "@anthropic-ai/claude-code";

/// That version; the tests read the same file.
pub(crate) fn claude_version() -> &'static str {
    include_str!("../claude-code.version").trim_ascii()
}

/// Where that package puts its native program, below `node_modules`, by processor.
pub(crate) const CLAUDE_BINARIES: [&str; 2] =
    ["@anthropic-ai/claude-code-linux-x64/claude", "@anthropic-ai/claude-code-linux-arm64/claude"];

/// The PyPI package that throws everything at the API the OpenAPI document allows, and what it does not.
pub(crate) const SCHEMATHESIS_PACKAGE: &str = "schemathesis==4.32.5";
/// The Python package of the official MCP client, which the tools are tested with.
pub(crate) const MCP_PACKAGE: &str = "mcp";

/// The npm packages that drive the browser, and that look for what people with other senses cannot use.
pub(crate) const BROWSER_PACKAGES: [&str; 2] = ["playwright-core@1.65.1", "axe-core@4.14.0"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_need_is_listed_once_and_says_why() {
        for (place, need) in NEEDS.iter().enumerate() {
            assert!(need.reason.len() > 20, "{} gives no reason", need.package);
            assert!(NEEDS.iter().skip(place + 1).all(|other| other.package != need.package));
        }
    }
}
