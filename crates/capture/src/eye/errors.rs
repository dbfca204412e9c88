//! Errors that look alike: what is left of a message when names, numbers and paths are taken out.

use belljar_domain::{
    EventKind, EventStatus,
    eye::{Call, ErrorGroup, ErrorGroupState, Shelf},
};

use super::{Pass, brief, hash};

/// Bytes of what errors have in common.
const TITLE: usize = 160;
const SAMPLE: usize = 1_000;

impl<S: Shelf + ?Sized> Pass<'_, S> {
    /// Puts a call that failed to those that failed alike, once.
    pub(super) fn failed(&mut self, call: &mut Call) -> Result<(), S::Error> {
        let has_failed = matches!(call.known.outcome, Some(EventStatus::Failure | EventStatus::Timeout));
        // The first message is waited for only as long as the one who has it needs to tell.
        if !has_failed || call.fingerprint.is_some() {
            return Ok(());
        }
        let (session, agent) = (call.session.clone(), call.agent.clone());
        let message = call.known.error.clone().unwrap_or_else(|| "failed, and did not say why".to_owned());
        let tool = call.known.tool.clone();
        call.fingerprint = Some(self.see_error("tool", tool, &message, &session, &agent)?);
        Ok(())
    }

    pub(super) fn model_failed(&mut self) -> Result<(), S::Error> {
        let code = self.said.text("status_code").map(|code| format!("{code} ")).unwrap_or_default();
        let why = self.event.what.error.as_deref().unwrap_or("a request to the model failed");
        let (session, agent) = (self.said.session(), self.said.agent());
        self.see_error("model", None, &format!("{code}{why}"), session, agent).map(drop)
    }

    pub(super) fn turn_failed(&mut self) -> Result<(), S::Error> {
        let said = self.said.text("message").or(self.event.what.error.as_deref());
        let (session, agent) = (self.said.session(), self.said.agent());
        self.see_error("turn", None, said.unwrap_or("a turn broke off"), session, agent).map(drop)
    }

    fn see_error(
        &mut self,
        what: &str,
        tool: Option<String>,
        message: &str,
        session: &str,
        agent: &str,
    ) -> Result<String, S::Error> {
        let (fingerprint, title) = fingerprint(tool.as_deref().unwrap_or(what), message);
        let (project, time) = (self.project().clone(), self.time());
        let mut group = match self.shelf.error_group(&project, &fingerprint)? {
            Some(known) => known,
            None => ErrorGroup {
                id: self.next_id(),
                project,
                fingerprint: fingerprint.clone(),
                what: what.to_owned(),
                tool,
                title,
                sample: String::new(),
                first: time,
                last: time,
                count: 0,
                agents: std::collections::BTreeSet::default(),
                sessions: std::collections::BTreeSet::default(),
                state: ErrorGroupState::Open,
                by: None,
                reason: None,
                since: None,
                returned: 0,
            },
        };
        let who = if agent.is_empty() { session } else { agent };
        group.see(&brief(message, SAMPLE), time, who, session);
        self.shelf.put_error_group(group)?;
        Ok(fingerprint)
    }

    /// Somebody says that errors are dealt with, or are not.
    pub(super) fn judge_errors(&mut self) -> Result<(), S::Error> {
        let project = self.project().clone();
        let fingerprint = self.event.what.target.as_deref().unwrap_or_default();
        let Some(mut group) = self.shelf.error_group(&project, fingerprint)? else { return Ok(()) };
        group.state = match self.event.what.kind {
            EventKind::ErrorGroupResolved => ErrorGroupState::Resolved,
            _ => ErrorGroupState::Open,
        };
        group.by = self.said.owned("by");
        group.reason.clone_from(&self.event.what.reason);
        group.since = Some(self.time());
        self.shelf.put_error_group(group)
    }
}

/// What errors have in common, as a hash and as text.
#[must_use]
pub fn fingerprint(source: &str, message: &str) -> (String, String) {
    let mut words = Vec::new();
    let lines = message.lines().map(str::trim).filter(|line| !line.is_empty()).take(3);
    for word in lines.flat_map(str::split_whitespace).take(40) {
        let plain = plain(word);
        if !plain.is_empty() && words.last() != Some(&plain) {
            words.push(plain);
        }
    }
    let title = brief(&words.join(" "), TITLE);
    (format!("{:016x}", hash(&[source, &title])), title)
}

/// A word without what differs from one time to the next.
fn plain(word: &str) -> String {
    let bare = word.trim_matches(|c: char| !c.is_alphanumeric() && c != '/');
    let is_path = bare.starts_with('/') || bare.contains("://") || bare.matches('/').count() > 1;
    if is_path {
        return "PATH".to_owned();
    }
    let digits = bare.bytes().filter(u8::is_ascii_digit).count();
    let is_id = bare.len() >= 8 && digits > 0 && bare.bytes().all(|b| b.is_ascii_hexdigit() || b == b'-');
    if is_id {
        return "ID".to_owned();
    }
    let mut out = String::new();
    for c in word.chars() {
        match c {
            '0'..='9' if out.ends_with('#') => {}
            '0'..='9' => out.push('#'),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_differs_each_time_does_not_count() {
        let same = |one: &str, other: &str| fingerprint("Bash", one).0 == fingerprint("Bash", other).0;
        assert!(same("Exit code 1\nno such file: /a/b/c.rs:12", "Exit code 2\nno such file: /x/y.rs:9"));
        assert!(same("pid 123 gone after 5ms", "pid 99999 gone after 17ms"));
        assert!(same("session 0190a6d0-1234 is over", "session deadbeef-77 is over"));
        assert!(!same("no such file: /a/b", "permission denied: /a/b"));
        assert_ne!(fingerprint("Bash", "x").0, fingerprint("Read", "x").0);
    }

    #[test]
    fn titles_can_be_read() {
        assert_eq!(fingerprint("Read", "File /a/b.txt has 12 lines").1, "File PATH has # lines");
    }
}
