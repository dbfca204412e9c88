//! What is done to sandboxes, as requests at the gate.
//!
//! Owns: how commands, files, mounts and networks look to a rule. Whose sandbox it is says its own record.

use belljar_domain::{NetworkMode, Principal, SandboxPath, SandboxSpec};
use serde_json::{Value, json};

use super::{Act, Identity, Passage, Place, Request, tool};
use crate::service::{Result, SandboxView, Service, ServiceError, StartExecution};

impl Service {
    /// Lets a command be started, changed as a person may have changed it.
    pub(in crate::service) fn pass_command(
        &self,
        who: &Principal,
        view: &SandboxView,
        order: &mut StartExecution,
    ) -> Result<Passage> {
        let cwd = order.cwd.as_ref().map(ToString::to_string);
        let input = json!({ "command": order.argv, "user": order.user, "cwd": cwd });
        let passage = self.pass(within(who, view, tool::EXEC, input, cwd))?;
        if let Some(edited) = &passage.edited {
            order.argv = argv_of(edited)?;
        }
        Ok(passage)
    }

    /// Lets a file be used.
    pub(in crate::service) fn pass_file(
        &self,
        who: &Principal,
        view: &SandboxView,
        tool: &str,
        path: &SandboxPath,
    ) -> Result<Passage> {
        self.pass(within(who, view, tool, json!({ "path": path.to_string() }), None))
    }

    /// Lets files be used together.
    pub(in crate::service) fn pass_files(
        &self,
        who: &Principal,
        view: &SandboxView,
        tool: &str,
        paths: &[&SandboxPath],
    ) -> Result<Passage> {
        let each =
            paths.iter().map(|path| within(who, view, tool, json!({ "path": path.to_string() }), None));
        weightiest(self.pass_all(each.collect())?)
    }

    /// Lets a sandbox be made, each path of the host be shown to it, and a network be given to it.
    pub(in crate::service) fn pass_creation(&self, who: &Principal, spec: &SandboxSpec) -> Result<Passage> {
        let made = json!({
            "template": spec.template.to_string(), "profile": spec.profile, "network": spec.network,
            "agent": spec.agent,
        });
        let mut acts = vec![(tool::CREATE, made)];
        let workspace =
            spec.workspace.as_ref().map(|path| json!({ "path": path.to_string(), "mode": "cow" }));
        acts.extend(workspace.map(|shown| (tool::MOUNT, shown)));
        acts.extend(spec.mounts.iter().map(|mount| {
            let (host, sandbox) = (mount.host.to_string(), mount.sandbox.to_string());
            (tool::MOUNT, json!({ "path": host, "mode": mount.mode, "target": sandbox }))
        }));
        if spec.network != NetworkMode::None {
            acts.push((tool::NETWORK, json!({ "path": spec.network })));
        }
        let requests = acts.into_iter().map(|(tool, input)| Request {
            who: Identity { agent: spec.agent.clone(), ..Identity::by_key(who.clone()) },
            act: Act { tool: tool.to_owned(), input },
            place: Place::Sandbox { id: None, isolation: None, cwd: None },
            session: None,
            claimed: Vec::new(),
            call: None,
        });
        weightiest(self.pass_all(requests.collect())?)
    }
}

/// Of several passages, the first a rule or a person spoke of is worth more than the rest.
fn weightiest(passed: Vec<Passage>) -> Result<Passage> {
    let speaking = passed.iter().position(Passage::speaks).unwrap_or(0);
    let found = passed.into_iter().nth(speaking);
    found.ok_or_else(|| ServiceError::Invalid("nothing was asked for".to_owned()))
}

fn within(who: &Principal, view: &SandboxView, tool: &str, input: Value, cwd: Option<String>) -> Request {
    let agent = view.spec.agent.clone();
    Request {
        who: Identity { agent, ..Identity::by_key(who.clone()) },
        act: Act { tool: tool.to_owned(), input },
        place: Place::Sandbox { id: Some(view.id), isolation: Some(view.isolation), cwd },
        session: None,
        claimed: Vec::new(),
        call: None,
    }
}

/// The words of a command a person wrote: a list of them, or a line for a shell.
fn argv_of(edited: &Value) -> Result<Vec<String>> {
    let words = match edited.get("command") {
        Some(Value::String(line)) => Some(["sh", "-c", line].map(str::to_owned).to_vec()),
        Some(Value::Array(words)) => words.iter().map(|word| word.as_str().map(str::to_owned)).collect(),
        _ => None,
    };
    words.filter(|words: &Vec<String>| !words.is_empty()).ok_or_else(|| {
        ServiceError::Invalid("the changed input has no `command`, a line or a list of words".to_owned())
    })
}
