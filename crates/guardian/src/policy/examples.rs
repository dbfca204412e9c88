//! Examples: calls a rule promises to match, or not to.
//!
//! Owns: what an example stands for, and where it is made. Refuses: other rules; only the one that has it is asked.

use serde_json::{Value, json};

use super::{
    Scene,
    call::Call,
    certainty::Certainty,
    judge::effects_of,
    matching::Site,
    place::{Grounds, Places},
    rule::{Rule, RuleError},
};

/// Where examples are made: a user `dev`, in a project of theirs.
const HOME: &str = "/home/dev";
const WORKSPACE: &str = "/home/dev/project";

/// The tools an example may name itself.
const TOOLS: [&str; 9] =
    ["Bash", "Read", "Write", "Edit", "NotebookEdit", "Grep", "Glob", "WebFetch", "Task"];

/// Makes sure that a rule says of its examples what it promises.
pub(super) fn check(rule: &Rule, places: &Places) -> Result<(), RuleError> {
    let is_match = |example: &str| is_match(rule, places, example);
    if let Some(missed) = rule.examples.matching.iter().find(|example| !is_match(example)) {
        return Err(RuleError::Misses(missed.clone()));
    }
    match rule.examples.pass.iter().find(|example| is_match(example)) {
        Some(caught) => Err(RuleError::Catches(caught.clone())),
        None => Ok(()),
    }
}

fn is_match(rule: &Rule, places: &Places, example: &str) -> bool {
    let (tool, input) = call_of(rule.tool(), example);
    let call = Call { tool: &tool, input: &input, cwd: Some(WORKSPACE), home: Some(HOME) };
    if !rule.patterns.is_empty() && !rule.matches(&call) {
        return false;
    }
    if rule.effect.is_empty() {
        return true;
    }
    let scene = scene();
    let site = Site { places, grounds: Grounds::of(&scene.context) };
    let least = if rule.perhaps.is_some() { Certainty::Possible } else { Certainty::Certain };
    let effects = effects_of(&call, &scene.context);
    effects.iter().any(|effect| rule.effect.iter().any(|wanted| wanted.is_met(effect, &site) >= least))
}

/// Where examples are made.
pub(super) fn scene() -> Scene {
    Scene::on_host(Some(WORKSPACE), Some(HOME), None)
}

/// The call an example is.
pub(super) fn call_of(tool: &str, example: &str) -> (String, Value) {
    let own = example.strip_suffix(')').and_then(|rest| rest.split_once('('));
    let (tool, inside) = own.filter(|(tool, _)| TOOLS.contains(tool)).unwrap_or((tool, example));
    let input = match tool {
        "Bash" | "SandboxExec" => json!({ "command": inside }),
        "WebFetch" => json!({ "url": inside }),
        "Grep" | "Glob" => json!({ "pattern": "x", "path": inside }),
        "Task" => json!({ "subagent_type": inside }),
        _ => json!({ "file_path": inside, "content": "x", "new_string": "x" }),
    };
    (tool.to_owned(), input)
}
