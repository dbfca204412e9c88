//! What a hook travels in, to the server or to the spool: one line of JSON, the payload inside exactly as it was said.
//!
//! Owns: both directions. The id is made once, by the hook, and stays the same however often the line is handed over:
//! whoever keeps events by it keeps each once.

use std::collections::BTreeMap;

use belljar_domain::{EventId, Ruling, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{agent::Agent, bounds::MAX_PAYLOAD, error::CaptureError, hook::HookEvent, peek::Peek};

/// The form written here.
pub const ENVELOPE_VERSION: u32 = 1;
/// The most an envelope adds to its payload; text that is not JSON can double when it is quoted.
const MARGIN: usize = MAX_PAYLOAD + (256 << 10);

/// What came in on standard input.
#[derive(Debug, Clone)]
pub enum Payload<'p> {
    /// JSON, looked through to its end.
    Json {
        /// As it was said.
        raw: &'p str,
        /// What it tells at a glance.
        peek: Peek<'p>,
    },
    /// Something else; kept, since even nonsense was said by somebody.
    Text(&'p [u8]),
}

impl<'p> Payload<'p> {
    /// Looks at what came in.
    #[must_use]
    pub fn look(bytes: &'p [u8]) -> Self {
        match (std::str::from_utf8(bytes), Peek::at(bytes)) {
            (Ok(raw), Ok(peek)) => Self::Json { raw, peek },
            _ => Self::Text(bytes),
        }
    }

    /// What it tells at a glance, if anything.
    #[must_use]
    pub fn peek(&self) -> Option<&Peek<'p>> {
        match self {
            Self::Json { peek, .. } => Some(peek),
            Self::Text(_) => None,
        }
    }
}

/// An envelope to be written.
#[derive(Debug, Clone, Serialize)]
pub struct Draft<'d> {
    /// Always [`ENVELOPE_VERSION`].
    pub version: u32,
    /// The id of what will be recorded.
    pub id: EventId,
    /// Who speaks.
    pub agent: &'d Agent,
    /// What its vendor calls the event, where that is known.
    pub event: Option<&'d str>,
    /// When, by this machine's clock.
    pub sent_at: Timestamp,
    /// The process that speaks.
    pub pid: u32,
    /// Variables that say where it runs.
    pub env: BTreeMap<&'d str, String>,
    /// What the hook answered by itself, where no server did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ruled: Option<Ruling>,
}

impl Draft<'_> {
    /// Writes it around a payload, on one line.
    #[must_use]
    pub fn line(&self, payload: &Payload<'_>) -> Vec<u8> {
        // A struct of numbers and text always has a form in JSON.
        let mut line = serde_json::to_vec(self).unwrap_or_default();
        line.pop();
        match payload {
            Payload::Json { raw, .. } => {
                line.extend_from_slice(b",\"payload\":");
                // Between the tokens of JSON a line break is a space; inside of text it cannot be.
                line.extend(raw.trim().bytes().map(|b| if b == b'\n' || b == b'\r' { b' ' } else { b }));
            }
            Payload::Text(bytes) => {
                line.extend_from_slice(b",\"text\":");
                let text = Value::String(String::from_utf8_lossy(bytes).into_owned());
                line.extend_from_slice(text.to_string().as_bytes());
            }
        }
        line.push(b'}');
        line
    }
}

/// An envelope that was read.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Envelope {
    version: u32,
    /// The id of what is to be recorded.
    pub id: EventId,
    /// Who speaks.
    pub agent: Agent,
    /// What its vendor calls the event, where that is known.
    #[serde(default)]
    pub event: Option<String>,
    /// When, by the sender's clock.
    pub sent_at: Timestamp,
    /// The process that speaks.
    #[serde(default)]
    pub pid: u32,
    /// Variables that say where it runs. Claims, unless who sent them is known.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// The pass of the sandbox it came from, put in by whoever took it there.
    #[serde(default)]
    pub pass: Option<String>,
    /// What was said.
    #[serde(default)]
    pub payload: Option<Value>,
    /// What was said, if it was not a JSON object.
    #[serde(default)]
    pub text: Option<String>,
    /// What the hook answered by itself, where no server did.
    #[serde(default)]
    pub ruled: Option<Ruling>,
}

impl Envelope {
    /// A line with a pass put in, the rest as it was. One that has a pass already becomes no envelope at all.
    #[must_use]
    pub fn with_pass(line: &[u8], pass: &str) -> Vec<u8> {
        with_field(line, "pass", &Value::String(pass.to_owned()))
    }

    /// A line with what was answered put in, the rest as it was. One that has an answer already becomes no envelope.
    #[must_use]
    pub fn with_ruling(line: &[u8], ruling: &Ruling) -> Vec<u8> {
        with_field(line, "ruled", &serde_json::to_value(ruling).unwrap_or_default())
    }

    /// Reads a line.
    ///
    /// # Errors
    /// If it is too large, or not an envelope of this version.
    pub fn parse(line: &[u8]) -> Result<Self, CaptureError> {
        if line.len() > MAX_PAYLOAD + MARGIN {
            return Err(CaptureError::TooLarge { actual: line.len(), limit: MAX_PAYLOAD + MARGIN });
        }
        let wrong = |why: String| CaptureError::Envelope(format!("not an envelope: {why}"));
        let read: Self = serde_json::from_slice(line).map_err(|error| wrong(error.to_string()))?;
        if read.version != ENVELOPE_VERSION {
            return Err(wrong(format!("version {}, this is {ENVELOPE_VERSION}", read.version)));
        }
        Ok(read)
    }

    /// What was said, in the form that is the same for all.
    ///
    /// # Errors
    /// If what was said is not a JSON object.
    pub fn into_hook(self) -> Result<HookEvent, CaptureError> {
        let not_json =
            || CaptureError::NotJson(self.text.clone().unwrap_or_default().chars().take(80).collect());
        let payload = self.payload.ok_or_else(not_json)?;
        let mut hook = HookEvent::of(Some(self.agent), self.event.as_deref(), payload)?;
        hook.client_time.get_or_insert(self.sent_at);
        Ok(hook)
    }
}

fn with_field(line: &[u8], name: &str, value: &Value) -> Vec<u8> {
    let rest = line.strip_prefix(b"{").unwrap_or(line);
    [format!("{{\"{name}\":{value},").as_bytes(), rest].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draft<'d>(agent: &'d Agent, event: Option<&'d str>) -> Draft<'d> {
        Draft {
            version: ENVELOPE_VERSION,
            id: "evt_0190a6d0000070008000000000000001".parse().unwrap(),
            agent,
            event,
            sent_at: Timestamp::from_micros(1),
            pid: 7,
            env: BTreeMap::from([("BELLJAR_SANDBOX", "sbx\n\"1\"".to_owned())]),
            ruled: None,
        }
    }

    #[test]
    fn an_envelope_is_one_line_and_comes_out_as_it_went_in() {
        let said = b"{\n  \"hook_event_name\": \"Stop\",\r\n \"text\": \"a\\nb\"\n}\n";
        let payload = Payload::look(said);
        let event = payload.peek().and_then(Peek::event);
        let line = draft(&Agent::ClaudeCode, event).line(&payload);
        assert!(!line.contains(&b'\n'));
        let read = Envelope::parse(&line).unwrap();
        assert_eq!(read.env["BELLJAR_SANDBOX"], "sbx\n\"1\"");
        assert_eq!((read.event.as_deref(), read.pid), (Some("Stop"), 7));
        let hook = read.into_hook().unwrap();
        assert_eq!(hook.rest["text"], "a\nb");
        assert_eq!(hook.client_time, Some(Timestamp::from_micros(1)));
    }

    #[test]
    fn a_pass_is_put_in_once_and_by_nobody_else() {
        let line = draft(&Agent::Codex, None).line(&Payload::look(b"{\"a\":1}"));
        let passed = Envelope::with_pass(&line, "bjp_1.2");
        assert_eq!(Envelope::parse(&passed).unwrap().pass.as_deref(), Some("bjp_1.2"));
        assert!(Envelope::parse(&Envelope::with_pass(&passed, "bjp_3.4")).is_err());
    }

    #[test]
    fn what_is_not_json_is_kept_as_text() {
        for said in [&b"nonsense \"quoted\""[..], b"", b"{\"a\": \"\xff\"}", b"[1]", b"{} {}"] {
            let payload = Payload::look(said);
            assert!(payload.peek().is_none());
            let read = Envelope::parse(&draft(&Agent::Cursor, None).line(&payload)).unwrap();
            assert_eq!(read.text.as_deref(), Some(String::from_utf8_lossy(said).as_ref()));
            assert!(matches!(read.into_hook(), Err(CaptureError::NotJson(_))));
        }
    }

    #[test]
    fn another_version_is_refused_by_name() {
        let line = draft(&Agent::Codex, None).line(&Payload::look(b"{}"));
        let later = String::from_utf8(line).unwrap().replace("\"version\":1", "\"version\":2");
        let error = Envelope::parse(later.as_bytes()).unwrap_err().to_string();
        assert_eq!(error, "not an envelope: version 2, this is 1");
        assert!(Envelope::parse(b"{}").is_err());
    }
}
