//! What tools are called with. The comments are what models read.

use std::collections::BTreeMap;

use rmcp::schemars::{self, JsonSchema};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

type Variables = BTreeMap<String, String>;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Create {
    /// What it starts from: base, node, python, react, nextjs, vanilla, claude-code (all this machine's toolchain), the name of an imported template, or a snapshot's id (snp_…).
    #[serde(default = "base")]
    pub(super) template: String,
    /// A name for people.
    pub(super) name: Option<String>,
    /// How many seconds it may live.
    #[serde(default = "an_hour")]
    #[schemars(range(min = 1, max = 604_800))]
    pub(super) timeout: u64,
    /// Environment of every command.
    #[serde(default)]
    pub(super) env_vars: Variables,
    /// Packages to install at the start: with pip for the python template, with npm otherwise. Needs the network.
    #[serde(default)]
    pub(super) install_packages: Vec<String>,
    /// A shell script to run at the start.
    pub(super) startup_script: Option<String>,
    /// Anything to be kept with it.
    #[serde(default)]
    pub(super) metadata: Map<String, Value>,
    /// A directory of this machine it sees copy-on-write; `sandbox_diff` shows what changed. Only for the machine's admin.
    pub(super) workspace: Option<String>,
    /// What network it sees: none or open. The server's default is used when left out.
    pub(super) network: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Execute {
    /// Which sandbox.
    pub(super) sandbox_id: String,
    /// The program to run, in `language`. For programs beyond 100 KB, upload a file and run it by `command`.
    pub(super) code: Option<String>,
    /// What `code` is written in.
    #[serde(default)]
    pub(super) language: Language,
    /// A shell command to run instead of `code`.
    pub(super) command: Option<String>,
    /// How many seconds it may take.
    #[serde(default = "a_minute")]
    #[schemars(range(min = 1, max = 86_400))]
    pub(super) timeout: u64,
    /// Environment beside the sandbox's own.
    #[serde(default)]
    pub(super) env_vars: Variables,
    /// Where it runs, as an absolute path inside.
    pub(super) working_dir: Option<String>,
    /// Whether what it writes is answered.
    #[serde(default = "yes")]
    pub(super) capture_output: bool,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum Language {
    #[default]
    Javascript,
    Typescript,
    Python,
    Bash,
    Sh,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Configure {
    /// Which sandbox.
    pub(super) sandbox_id: String,
    /// Variables for every later command; null removes one that was set so.
    #[serde(default)]
    pub(super) env_vars: BTreeMap<String, Option<String>>,
    /// Packages to install: with pip for the python template, with npm otherwise. Needs the network.
    #[serde(default)]
    pub(super) install_packages: Vec<String>,
    /// Shell commands to run, in this order, until one fails.
    #[serde(default)]
    pub(super) run_commands: Vec<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Upload {
    /// Which sandbox.
    pub(super) sandbox_id: String,
    /// Where to, as an absolute path inside. Missing directories are made.
    pub(super) file_path: String,
    /// What is in it.
    pub(super) content: String,
    /// How `content` is written: text, or base64 for what is no text.
    #[serde(default)]
    pub(super) encoding: Encoding,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct WriteFile {
    /// Which sandbox.
    pub(super) sandbox_id: String,
    /// Where to, as an absolute path inside. Missing directories are made.
    pub(super) path: String,
    /// What is in it.
    pub(super) content: String,
    /// How `content` is written: text, or base64 for what is no text.
    #[serde(default)]
    pub(super) encoding: Encoding,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum Encoding {
    #[default]
    Text,
    Base64,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ReadFile {
    /// Which sandbox.
    pub(super) sandbox_id: String,
    /// Which file, as an absolute path inside.
    pub(super) path: String,
    /// The byte to begin with.
    #[serde(default)]
    pub(super) offset: u64,
    /// The most bytes to read.
    #[serde(default = "a_screenful")]
    #[schemars(range(min = 1, max = 262_144))]
    pub(super) max_bytes: u64,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ListFiles {
    /// Which sandbox.
    pub(super) sandbox_id: String,
    /// Which directory, as an absolute path inside.
    #[serde(default = "root")]
    pub(super) path: String,
    /// How many levels of directories to go down.
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 8))]
    pub(super) depth: u32,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Logs {
    /// Which sandbox.
    pub(super) sandbox_id: String,
    /// How many of the last lines.
    #[serde(default = "hundred")]
    #[schemars(range(min = 1, max = 1000))]
    pub(super) lines: usize,
    /// Whether each line begins with the time it was written.
    #[serde(default)]
    pub(super) include_timestamps: bool,
    /// Which lines: all, or error for what was written to standard error.
    #[serde(default)]
    pub(super) log_level: LogLevel,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum LogLevel {
    #[default]
    All,
    Debug,
    Info,
    Warn,
    Error,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct List {
    /// Those in this status alone.
    pub(super) status: Option<StatusFilter>,
    /// Those made from this template alone.
    pub(super) template: Option<String>,
    /// The most to answer.
    #[serde(default = "twenty")]
    #[schemars(range(min = 1, max = 100))]
    pub(super) limit: usize,
    /// What to sort the newest ones by.
    #[serde(default)]
    pub(super) sort_by: SortBy,
    /// Which way.
    #[serde(default)]
    pub(super) order: SortOrder,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum StatusFilter {
    Running,
    Paused,
    Stopped,
    All,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum SortBy {
    #[default]
    CreatedAt,
    Name,
    Status,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum SortOrder {
    Asc,
    #[default]
    Desc,
}

/// One sandbox, which is all there is to say.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Target {
    /// Which sandbox.
    pub(super) sandbox_id: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Snapshot {
    /// Which sandbox.
    pub(super) sandbox_id: String,
    /// A name for people.
    pub(super) name: Option<String>,
}

fn base() -> String {
    "base".to_owned()
}

fn root() -> String {
    "/".to_owned()
}

const fn an_hour() -> u64 {
    3600
}

const fn a_minute() -> u64 {
    60
}

const fn a_screenful() -> u64 {
    64 * 1024
}

const fn yes() -> bool {
    true
}

const fn one() -> u32 {
    1
}

const fn twenty() -> usize {
    20
}

const fn hundred() -> usize {
    100
}
