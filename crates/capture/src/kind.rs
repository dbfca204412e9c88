//! What a hook is about, whatever its vendor calls it.

use std::fmt;

use serde::{Deserialize, Serialize};

/// An enum of the kinds with the word of each, and room for what is not known yet.
macro_rules! kinds {
    ($($(#[$doc:meta])* $variant:ident = $text:literal,)+) => {
        /// What a hook is about.
        #[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
        #[serde(from = "String", into = "String")]
        pub enum HookKind {
            $($(#[$doc])* $variant,)+
            /// Something we have no word for, by the name its vendor gave it.
            Other(String),
        }

        impl HookKind {
            /// Every kind that has a word.
            pub const KNOWN: &'static [Self] = &[$(Self::$variant),+];

            /// The word.
            #[must_use]
            pub fn as_str(&self) -> &str {
                match self {
                    $(Self::$variant => $text,)+
                    Self::Other(name) => name,
                }
            }
        }
    };
}

kinds! {
    /// A session begins or goes on.
    SessionStart = "session.start",
    /// A session ends.
    SessionEnd = "session.end",
    /// A project is prepared or maintained, outside of any conversation.
    Setup = "setup",
    /// A file of instructions was read.
    Instructions = "instructions",
    /// A prompt is about to be taken up.
    Prompt = "prompt",
    /// A shorthand in a prompt is about to be spelled out.
    PromptExpansion = "prompt.expansion",
    /// A tool is about to run.
    ToolBefore = "tool.before",
    /// A tool ran.
    ToolAfter = "tool.after",
    /// A tool ran and failed.
    ToolFailed = "tool.failed",
    /// All calls of one reply are through.
    ToolBatch = "tool.batch",
    /// A person would be asked.
    Permission = "permission",
    /// A call was refused by the agent's own rules.
    PermissionDenied = "permission.denied",
    /// The agent wants somebody's attention.
    Notification = "notify",
    /// A piece of a reply is shown.
    Message = "message",
    /// A turn is over.
    TurnEnd = "turn.end",
    /// A turn broke off.
    TurnFailed = "turn.failed",
    /// A subagent begins.
    SubagentStart = "subagent.start",
    /// A subagent is through.
    SubagentEnd = "subagent.end",
    /// The conversation is about to be shortened.
    CompactBefore = "compact.before",
    /// The conversation was shortened.
    CompactAfter = "compact.after",
    /// Another model is about to take over.
    ModelSwitchBefore = "model_switch.before",
    /// Another model took over.
    ModelSwitchAfter = "model_switch.after",
    /// A model is about to be asked.
    ModelBefore = "model.before",
    /// A model answered, or a piece of its answer came.
    ModelAfter = "model.after",
    /// Tools are about to be offered to the model.
    ToolSelection = "tool.selection",
    /// A task was put on the list.
    TaskCreated = "task.created",
    /// A task is about to be ticked off.
    TaskCompleted = "task.completed",
    /// A teammate has nothing to do.
    TeammateIdle = "teammate.idle",
    /// A tool's server wants to ask the user something.
    Elicitation = "elicitation",
    /// The user answered a tool's server.
    ElicitationResult = "elicitation.result",
    /// Settings are about to change.
    ConfigChange = "config.change",
    /// The session moved to another directory.
    CwdChanged = "cwd.changed",
    /// A watched file changed.
    FileChanged = "file.changed",
    /// Another directory was opened to the session.
    DirectoryAdded = "directory.added",
    /// A worktree is wanted.
    WorktreeCreate = "worktree.create",
    /// A worktree is removed.
    WorktreeRemove = "worktree.remove",
}

impl HookKind {
    /// Whether the agent waits for a verdict before it goes on with what could do harm.
    #[must_use]
    pub const fn is_guard(&self) -> bool {
        matches!(
            self,
            Self::ToolBefore
                | Self::Permission
                | Self::Prompt
                | Self::PromptExpansion
                | Self::ConfigChange
                | Self::ModelSwitchBefore
        )
    }

    /// Whether it tells how a call came out.
    #[must_use]
    pub const fn is_outcome(&self) -> bool {
        matches!(self, Self::ToolAfter | Self::ToolFailed)
    }
}

impl From<String> for HookKind {
    fn from(text: String) -> Self {
        Self::KNOWN.iter().find(|kind| kind.as_str() == text).cloned().unwrap_or(Self::Other(text))
    }
}

impl From<HookKind> for String {
    fn from(kind: HookKind) -> Self {
        kind.as_str().to_owned()
    }
}

impl fmt::Display for HookKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_kind_has_a_word_of_its_own_and_is_found_by_it() {
        let words: BTreeSet<&str> = HookKind::KNOWN.iter().map(HookKind::as_str).collect();
        assert_eq!(words.len(), HookKind::KNOWN.len());
        for kind in HookKind::KNOWN {
            assert_eq!(HookKind::from(kind.as_str().to_owned()), *kind);
        }
    }

    #[test]
    fn what_has_no_word_keeps_its_name() {
        let kind = HookKind::from("FutureEvent".to_owned());
        assert_eq!(serde_json::to_string(&kind).unwrap(), "\"FutureEvent\"");
        assert!(!kind.is_guard());
    }
}
