//! The vocabulary of events: what each kind is called, how long it is kept, and its name in older audit schemas.
//!
//! Owns: the closed list of kinds belljar itself writes. Refuses nothing: a kind it does not know is kept as its text,
//! so that a ledger written by a newer belljar, or by a guest, can still be read.

use std::{borrow::Cow, fmt};

use serde::{Deserialize, Serialize};

use crate::word::words;

words! {
    /// How long events are kept, by what they are worth.
    Retention, "retention class" {
        /// Who did what and what was refused: 90 days, never given up for room.
        Audit = "audit",
        /// What happened besides: 30 days.
        Event = "event",
        /// Measurements: 7 days, then only their summary.
        Sample = "sample",
    }
}

macro_rules! kinds {
    ($($(#[$doc:meta])* $variant:ident = $text:literal, $class:ident, $operation:expr;)+) => {
        /// What kind of thing happened, as dotted words: the noun, then what became of it.
        #[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
        #[serde(from = "String", into = "String")]
        pub enum EventKind {
            $($(#[$doc])* $variant,)+
            /// A kind this belljar does not know.
            Other(String),
        }

        impl EventKind {
            /// Every kind belljar writes.
            pub const KNOWN: &'static [Self] = &[$(Self::$variant),+];

            /// The kind's name.
            #[must_use]
            pub fn as_str(&self) -> &str {
                match self {
                    $(Self::$variant => $text,)+
                    Self::Other(text) => text,
                }
            }

            /// How long its events are kept.
            #[must_use]
            pub const fn retention(&self) -> Retention {
                match self {
                    $(Self::$variant => Retention::$class,)+
                    Self::Other(_) => Retention::Event,
                }
            }

            /// What older audit logs call the operation, where they have a word for it.
            #[must_use]
            pub const fn operation(&self) -> Option<&'static str> {
                match self {
                    $(Self::$variant => $operation,)+
                    Self::Other(_) => None,
                }
            }
        }

        impl From<Cow<'_, str>> for EventKind {
            fn from(text: Cow<'_, str>) -> Self {
                match &*text {
                    $($text => Self::$variant,)+
                    _ => Self::Other(text.into_owned()),
                }
            }
        }
    };
}

kinds! {
    /// A sandbox is ready.
    SandboxCreated = "sandbox.created", Audit, Some("sandbox_create");
    /// A sandbox took a step in its life.
    SandboxState = "sandbox.state", Event, None;
    /// A sandbox is over.
    SandboxEnded = "sandbox.ended", Audit, Some("sandbox_delete");
    /// A command began.
    ExecutionStarted = "execution.started", Audit, None;
    /// A command is over.
    ExecutionEnded = "execution.ended", Audit, Some("command_execute");
    /// A file was read.
    FileRead = "file.read", Event, Some("file_read");
    /// A file was written.
    FileWrite = "file.write", Audit, Some("file_write");
    /// A snapshot was taken.
    SnapshotCreated = "snapshot.created", Audit, None;
    /// A limit was reached.
    LimitReached = "limit.reached", Audit, Some("resource_exceeded");
    /// A threshold was passed.
    AlertRaised = "alert.raised", Event, None;
    /// A threshold is no longer passed.
    AlertResolved = "alert.resolved", Event, None;
    /// Someone or a rule ended a sandbox at once.
    Killswitch = "killswitch", Audit, Some("kill_switch");
    /// A call was allowed.
    GuardianAllowed = "guardian.allowed", Audit, Some("guardian_approval");
    /// A call was denied.
    GuardianDenied = "guardian.denied", Audit, Some("guardian_denial");
    /// A call waits for a person.
    GuardianAsked = "guardian.asked", Audit, None;
    /// A person is asked about a call.
    ApprovalRequested = "approval.requested", Audit, None;
    /// A person said yes or no.
    ApprovalAnswered = "approval.answered", Audit, Some("guardian_approval");
    /// Nobody said anything in time.
    ApprovalExpired = "approval.expired", Audit, Some("guardian_denial");
    /// Whoever asked waits no more.
    ApprovalCancelled = "approval.cancelled", Audit, None;
    /// Whoever asked has the answer.
    ApprovalDelivered = "approval.delivered", Audit, None;
    /// A request to the server was refused.
    ApiDenied = "api.denied", Audit, None;
    /// The server began to serve.
    ServerStarted = "server.started", Audit, None;
    /// The server ended in order.
    ServerStopped = "server.stopped", Audit, None;
    /// The server found a sandbox an earlier one had left alive.
    ServerAdopted = "server.adopted", Audit, None;
    /// A webhook answered.
    WebhookDelivered = "webhook.delivered", Event, None;
    /// A webhook did not answer, or with an error.
    WebhookFailed = "webhook.failed", Event, None;
    /// Events past their time were removed.
    LedgerPruned = "ledger.pruned", Audit, None;
    /// What a sandbox used at one moment.
    UsageSampled = "usage.sampled", Sample, None;
    /// A conversation with an agent began or went on.
    SessionStarted = "session.started", Event, None;
    /// A conversation is over.
    SessionEnded = "session.ended", Event, None;
    /// A person asked an agent for something.
    PromptSubmitted = "prompt.submitted", Event, None;
    /// An agent is about to use a tool.
    ToolRequested = "tool.requested", Event, None;
    /// A tool did what it was asked to.
    ToolFinished = "tool.finished", Audit, Some("tool_use");
    /// A tool did not.
    ToolFailed = "tool.failed", Audit, Some("tool_use");
    /// An agent asks its person for leave.
    PermissionAsked = "permission.asked", Event, None;
    /// An agent's own rules or its person said no.
    PermissionDenied = "permission.denied", Audit, None;
    /// An agent wants its person's attention.
    AgentNotified = "agent.notified", Event, None;
    /// An agent began to work for another.
    AgentStarted = "agent.started", Event, None;
    /// An agent that worked for another is done.
    AgentStopped = "agent.stopped", Event, None;
    /// An agent has answered.
    TurnEnded = "turn.ended", Event, None;
    /// An agent could not answer.
    TurnFailed = "turn.failed", Event, None;
    /// An agent shortened what it remembers.
    ContextCompacted = "context.compacted", Event, None;
    /// Somebody says that errors of a kind are dealt with.
    ErrorGroupResolved = "error_group.resolved", Audit, None;
    /// Somebody says that they are not.
    ErrorGroupReopened = "error_group.reopened", Audit, None;
    /// A model was asked.
    ModelCalled = "model.called", Event, None;
    /// A person said whether an agent may act, or what it may do.
    RegistryChanged = "registry.changed", Audit, None;
    /// A budget was set or removed.
    BudgetChanged = "budget.changed", Audit, None;
    /// A budget is used up to one of its steps.
    BudgetReached = "budget.reached", Audit, Some("resource_exceeded");
    /// Something was spent that counts for a budget.
    BudgetSpent = "budget.spent", Event, None;
    /// A budget had no room for a call.
    BudgetBlocked = "budget.blocked", Audit, Some("resource_exceeded");
    /// A task was given to several sandboxes at once.
    RunStarted = "run.started", Audit, None;
    /// A run is over.
    RunEnded = "run.ended", Audit, None;
    /// The best of several attempts was found, or that none is good enough.
    BestOfNSelected = "bestofn.selected", Audit, None;
    /// A person chose an attempt.
    AttemptPicked = "bestofn.picked", Audit, None;
    /// A person undid a killswitch.
    KillswitchLifted = "killswitch.lifted", Audit, None;
}

/// What agents and their tools may tell; of everything else belljar tells itself.
const TOLD: [&str; 8] =
    ["session.", "prompt.", "tool.", "permission.", "agent.", "turn.", "context.", "model."];
/// What belljar alone says, though the family is told by others.
const OWN: [&str; 2] = ["session.archived", "session.processed"];

impl EventKind {
    /// Says whether it is this kind, or begins with it and a dot.
    #[must_use]
    pub fn is_of(&self, family: &str) -> bool {
        self.as_str().strip_prefix(family).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    }

    /// Says whether an event of this kind may come from outside. A guest may not write in belljar's own name.
    #[must_use]
    pub fn may_be_told(&self) -> bool {
        match self {
            Self::Other(text) => {
                let family = text.split_once('.').map_or(&**text, |(family, _)| family);
                let told = TOLD.iter().any(|prefix| text.starts_with(prefix)) && !OWN.contains(&&**text);
                told || !Self::KNOWN.iter().any(|known| known.is_of(family))
            }
            known => TOLD.iter().any(|prefix| known.as_str().starts_with(prefix)),
        }
    }
}

impl From<&str> for EventKind {
    fn from(text: &str) -> Self {
        Self::from(Cow::Borrowed(text))
    }
}

impl From<String> for EventKind {
    fn from(text: String) -> Self {
        Self::from(Cow::Owned(text))
    }
}

impl From<EventKind> for String {
    fn from(kind: EventKind) -> Self {
        match kind {
            EventKind::Other(text) => text,
            known => known.as_str().to_owned(),
        }
    }
}

impl fmt::Display for EventKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_survives_its_own_text_and_unknown_ones_are_kept() {
        for kind in EventKind::KNOWN {
            assert_eq!(&EventKind::from(kind.as_str()), kind);
        }
        let guest = EventKind::from("hook.pre_tool_use");
        assert_eq!((guest.as_str(), guest.retention()), ("hook.pre_tool_use", Retention::Event));
    }

    #[test]
    fn a_guest_cannot_write_in_our_name() {
        for (kind, may) in [
            ("tool.finished", true),
            ("tool.something_new", true),
            ("deploy.finished", true),
            ("sandbox.created", false),
            ("guardian.allowed", false),
            ("guardian.overruled", false),
            ("session.archived", false),
            ("killswitch", false),
        ] {
            assert_eq!(EventKind::from(kind).may_be_told(), may, "{kind}");
        }
    }

    #[test]
    fn every_operation_of_the_older_audit_log_has_a_kind() {
        for operation in [
            "sandbox_create",
            "sandbox_delete",
            "command_execute",
            "file_read",
            "file_write",
            "resource_exceeded",
            "guardian_approval",
            "guardian_denial",
            "kill_switch",
        ] {
            assert!(EventKind::KNOWN.iter().any(|kind| kind.operation() == Some(operation)), "{operation}");
        }
    }

    #[test]
    fn what_was_refused_is_kept_longest() {
        for kind in [EventKind::GuardianDenied, EventKind::ApiDenied, EventKind::Killswitch] {
            assert_eq!(kind.retention(), Retention::Audit);
        }
    }
}
