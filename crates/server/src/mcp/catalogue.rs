//! Every tool on one screen: its name, what it says of itself, what it takes and answers.

use std::sync::OnceLock;

use rmcp::{
    handler::server::common::schema_for_type,
    model::{Tool, ToolAnnotations},
    schemars::JsonSchema,
};

use super::{arguments as takes, results as gives};

/// Whether a tool changes anything.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Nature {
    Looks,
    Adds,
    Destroys,
}
use Nature::{Adds, Destroys, Looks};

/// The tools, made once.
pub(super) fn tools() -> &'static [Tool] {
    static TOOLS: OnceLock<Vec<Tool>> = OnceLock::new();
    TOOLS.get_or_init(|| {
        vec![
            tool::<takes::Create, gives::Created>(
                "sandbox_create",
                "Create a sealed sandbox in which commands and code run without touching this machine.",
                Adds,
            ),
            tool::<takes::Execute, gives::Executed>(
                "sandbox_execute",
                "Run code or a shell command in a sandbox and answer with what it wrote and how it ended.",
                Destroys,
            ),
            tool::<takes::Target, gives::Status>(
                "sandbox_status",
                "Show a sandbox: its state, what it uses and what it may use.",
                Looks,
            ),
            tool::<takes::Target, gives::Ended>(
                "sandbox_stop",
                "End every process of a sandbox. Its record and logs stay.",
                Destroys,
            ),
            tool::<takes::Configure, gives::Configured>(
                "sandbox_configure",
                "Set variables, install packages and run commands in a sandbox.",
                Adds,
            ),
            tool::<takes::Upload, gives::Written>("sandbox_upload", "Put a file into a sandbox.", Adds),
            tool::<takes::Logs, gives::Logged>(
                "sandbox_logs",
                "Show the last lines that commands in a sandbox wrote.",
                Looks,
            ),
            tool::<takes::List, gives::Listed>("sandbox_list", "List sandboxes.", Looks),
            tool::<takes::Target, gives::Ended>(
                "sandbox_delete",
                "End a sandbox and remove everything in it.",
                Destroys,
            ),
            tool::<takes::ReadFile, gives::Read>(
                "sandbox_read_file",
                "Read a file in a sandbox, or a part of it.",
                Looks,
            ),
            tool::<takes::WriteFile, gives::Written>(
                "sandbox_write_file",
                "Write a file in a sandbox, whole.",
                Destroys,
            ),
            tool::<takes::ListFiles, gives::Files>(
                "sandbox_list_files",
                "List a directory of a sandbox.",
                Looks,
            ),
            tool::<takes::Target, gives::Diff>(
                "sandbox_diff",
                "Show what a sandbox changed in its workspace, as a patch.",
                Looks,
            ),
            tool::<takes::Snapshot, gives::Snapshotted>(
                "sandbox_snapshot",
                "Freeze a sandbox's files as a template that others can start from.",
                Adds,
            ),
        ]
    })
}

fn tool<A: JsonSchema + 'static, R: JsonSchema + 'static>(
    name: &'static str,
    says: &'static str,
    nature: Nature,
) -> Tool {
    let hints =
        ToolAnnotations::new().read_only(nature == Looks).destructive(nature == Destroys).open_world(false);
    Tool::new(name, says, schema_for_type::<A>()).with_output_schema::<R>().with_annotations(hints)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_tool_takes_a_key_or_anything_it_does_not_know() {
        for tool in tools() {
            let schema = serde_json::to_value(&*tool.input_schema).unwrap();
            assert_eq!(schema["additionalProperties"], false, "{}", tool.name);
            assert_eq!(schema["type"], "object", "{}", tool.name);
            let fields = schema["properties"].as_object().unwrap();
            assert!(fields.keys().all(|field| !field.contains("key")), "{}", tool.name);
        }
    }

    #[test]
    fn defaults_are_those_callers_know() {
        let schema = |name: &str| {
            let tool = tools().iter().find(|tool| tool.name == name).unwrap();
            serde_json::to_value(&*tool.input_schema).unwrap()["properties"].clone()
        };
        assert_eq!(schema("sandbox_create")["timeout"]["default"], 3600);
        assert_eq!(schema("sandbox_execute")["timeout"]["default"], 60);
        assert_eq!(schema("sandbox_execute")["language"]["default"], "javascript");
        assert_eq!(schema("sandbox_execute")["capture_output"]["default"], true);
        assert_eq!(schema("sandbox_logs")["lines"]["default"], 100);
    }
}
