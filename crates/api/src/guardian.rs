//! The policy in force, and what it would say of a call.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

/// The policy in force.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Guardian {
    /// `observe`, `guard` or `enforce`.
    pub mode: String,
    /// How long a call waits for a person.
    pub wait_seconds: u64,
    /// Its rules, the user's own first.
    pub rules: Vec<GuardianRule>,
    /// Directories that are given or kept, whatever the rules say.
    pub acl: Vec<GuardianAcl>,
    /// Whether hits are a lower bound, since there were very many.
    pub hits_bounded: bool,
}

/// One rule.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct GuardianRule {
    /// What it is called in rulings.
    pub name: String,
    /// Whose it is: a pack that is shipped; absent if it is of `guardian.toml`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pack: Option<String>,
    /// What it says: `allow`, `ask`, `deny`, or `off`.
    pub verdict: String,
    /// How bad such a call could turn out.
    pub risk: String,
    /// Why.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What to do instead.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instead: Option<String>,
    /// The rule as it is written.
    #[schema(value_type = Object)]
    pub written: Value,
    /// How often it decided within the last 24 hours.
    pub hits: u64,
    /// When it last did.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(format = DateTime)]
    pub last_hit: Option<String>,
}

/// A directory that is given or kept.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct GuardianAcl {
    /// The directory.
    pub path: String,
    /// `none`, `read` or `write`.
    pub access: String,
    /// To whom; everybody when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
}

/// A call to be looked at. Nothing is run.
#[derive(Debug, Clone, Default, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
#[schema(example = json!({"command": "rm -rf ~", "place": "host"}))]
pub struct CheckCall {
    /// A line for the shell; short for the tool `Bash` with this command.
    #[schema(max_length = 65_536)]
    pub command: Option<String>,
    /// The tool.
    #[schema(max_length = 128)]
    pub tool: Option<String>,
    /// What it is given.
    #[schema(value_type = Object)]
    pub input: Option<Value>,
    /// Where it would be made: `host` (the default) or `sandbox`.
    pub place: CheckPlace,
    /// The directory.
    #[schema(max_length = 4096)]
    pub cwd: Option<String>,
    /// Its user's home.
    #[schema(max_length = 4096)]
    pub home: Option<String>,
    /// The agent that would make it.
    #[schema(max_length = 128)]
    pub agent: Option<String>,
}

/// Where a call would be made.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum CheckPlace {
    /// On this machine, with its user's rights.
    #[default]
    Host,
    /// In a sandbox.
    Sandbox,
}

/// What the policy says of a call.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct CheckedCall {
    /// `allow`, `ask` or `deny`.
    pub verdict: String,
    /// How bad it could turn out; absent where no rule speaks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub risk: Option<String>,
    /// The rule that speaks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// Why.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What it would do, in words.
    pub effects: Vec<String>,
    /// What every rule that matches says.
    pub findings: Vec<CheckedFinding>,
    /// How long judging took, in microseconds.
    pub took_us: u64,
}

/// What one rule says of a call.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct CheckedFinding {
    /// The rule.
    pub rule: String,
    /// Its pack; absent if it is of `guardian.toml`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pack: Option<String>,
    /// What it says.
    pub verdict: String,
    /// How bad it could turn out.
    pub risk: String,
    /// The effect it is about, from 1; absent if it is about the call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub effect: Option<usize>,
    /// Whether it is certain that the rule is about it.
    pub certain: bool,
    /// What takes it back: the sandbox, or a rule that allows; absent if it counts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub relieved_by: Option<String>,
    /// Why, in the rule's words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What to do instead.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instead: Option<String>,
}

/// What is known of this machine.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct HostReport {
    /// What `belljar doctor` says: what this host can enforce, and what to do where it cannot.
    #[schema(value_type = Object)]
    pub doctor: Value,
    /// Where agents' hooks are installed, and what waits for a server.
    #[schema(value_type = Object)]
    pub hooks: Value,
}
