//! A yes for the rest of a session.
//!
//! Owns: which later calls it covers: those of the same asker the same rule asks about, with the same tool, and of commands
//! only plain ones that begin with the same words. Whatever a shell would make something else of is covered by nothing but
//! itself.

use belljar_domain::{ApprovalScope, ApprovalState};
use belljar_ports::store::{ApprovalFilter, ApprovalRow};
use serde_json::Value;

use super::record::{Record, Shown};
use crate::service::{
    Result, Service,
    gate::{Passage, Request},
};

/// How many approvals of a session are looked at.
const LATEST: usize = 200;
/// What makes more of a line than one plain command.
const SPECIAL: &[char] = &[
    ';', '|', '&', '$', '`', '(', ')', '{', '}', '<', '>', '\n', '*', '?', '[', '~', '\\', '\'', '"', '#',
    '=',
];

/// Programs whose second word says what they do; of all others the rest of the line matters as much.
const VERBS: [&str; 24] = [
    "apt",
    "apt-get",
    "aws",
    "az",
    "brew",
    "cargo",
    "docker",
    "dotnet",
    "gcloud",
    "gh",
    "git",
    "go",
    "helm",
    "kubectl",
    "npm",
    "pip",
    "pip3",
    "pnpm",
    "podman",
    "systemctl",
    "terraform",
    "uv",
    "vercel",
    "yarn",
];

impl Service {
    /// The answer for the session that covers a call.
    pub(in crate::service) fn granted(
        &self,
        request: &Request,
        passage: &Passage,
    ) -> Result<Option<ApprovalRow>> {
        let filter = ApprovalFilter {
            project: Some(request.who.principal.project.clone()),
            states: vec![ApprovalState::Allowed],
            session: request.session.clone(),
            sandbox: request.place.sandbox(),
            ..ApprovalFilter::default()
        };
        // What belongs to no session and no sandbox is asked about each time.
        if filter.session.is_none() && filter.sandbox.is_none() {
            return Ok(None);
        }
        let rows = self.store().approvals(&filter, None, LATEST)?;
        Ok(rows.into_iter().find(|row| self.covers(row, request, passage)))
    }

    fn covers(&self, row: &ApprovalRow, request: &Request, passage: &Passage) -> bool {
        let Some(record) = Record::of(row) else { return false };
        let Some(answer) = record.answer.as_ref().filter(|said| said.scope == ApprovalScope::Session) else {
            return false;
        };
        let is_same_asker = row.session == request.session
            && row.sandbox == request.place.sandbox()
            && row.agent == request.who.agent
            && record.who == request.who.principal
            && record.proof == Shown::from(&request.who.proof)
            && record.tool == request.act.tool
            && record.rule.as_deref() == passage.rule();
        let allowed = answer.input.as_ref().unwrap_or(&record.input);
        let print = answer.print.as_ref().unwrap_or(&record.print);
        is_same_asker
            && (*print == self.0.desk.print_of(&request.act.input)
                || beginning(allowed).is_some_and(|words| Some(words) == beginning(&request.act.input)))
    }
}

/// The program and what it is to do, of a command that is nothing but that.
fn beginning(input: &Value) -> Option<Vec<String>> {
    let words: Vec<String> = match input.get("command").or_else(|| input.get("cmd"))? {
        Value::String(line) if !line.contains(SPECIAL) => {
            line.split_whitespace().map(str::to_owned).collect()
        }
        Value::Array(words) => {
            words.iter().map(|word| word.as_str().map(str::to_owned)).collect::<Option<_>>()?
        }
        _ => return None,
    };
    let [program, verb, ..] = words.as_slice() else { return None };
    let is_verb = !verb.is_empty() && verb.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-');
    (VERBS.contains(&program.as_str()) && is_verb && !verb.starts_with('-'))
        .then(|| vec![program.clone(), verb.clone()])
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_plain_commands_are_alike() {
        let words = |line: &str| beginning(&json!({ "command": line }));
        assert_eq!(words("git push origin main"), words("git push --force"));
        assert_ne!(words("git push"), words("git reset"));
        for line in [
            "git push; rm -rf /",
            "git push $(x)",
            "ls",
            "git -C / push",
            "bash x",
            "rm x",
            "git Push",
            "git push > /etc/x",
        ] {
            assert_eq!(words(line), None, "{line}");
        }
        assert_eq!(beginning(&json!({ "command": ["npm", "publish"] })), words("npm publish --dry-run"));
        assert_eq!(beginning(&json!({ "path": "/x" })), None);
    }
}
