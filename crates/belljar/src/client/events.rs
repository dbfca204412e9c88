//! Server-sent events, read one at a time.

use std::{io::BufRead as _, time::Duration};

use super::{ClientError, Event, Result, answer::Answer};

/// How long a stream may be silent; a server that is well sends a heartbeat far more often.
pub(super) const SILENCE: Duration = Duration::from_secs(120);
/// The longest line; an event's payload is a quarter of this at most, a piece of output half.
const LONGEST: u64 = 1024 * 1024;

/// What a stream says.
#[derive(Debug)]
pub(crate) enum Happening {
    /// Something happened.
    Event(Box<Event>),
    /// The stream is over: the server ends, or this client was too slow. It can be followed again from the last event.
    Over,
}

/// The same, with the event as it was sent.
#[derive(Debug)]
pub(crate) enum Told {
    /// Something happened.
    Event(serde_json::Value),
    /// The stream is over.
    Over,
}

/// A stream of events.
#[derive(Debug)]
pub(crate) struct Happenings {
    frames: Frames,
}

impl Happenings {
    pub(super) const fn new(answer: Answer) -> Self {
        Self { frames: Frames::new(answer) }
    }

    /// Waits for the next.
    pub(crate) fn next(&mut self) -> Result<Happening> {
        Ok(self.read()?.map_or(Happening::Over, |event| Happening::Event(Box::new(event))))
    }

    /// Waits for the next, and takes it as it was sent.
    pub(crate) fn next_value(&mut self) -> Result<Told> {
        Ok(self.read()?.map_or(Told::Over, Told::Event))
    }

    fn read<T: serde::de::DeserializeOwned>(&mut self) -> Result<Option<T>> {
        match self.frames.next()? {
            Some(frame) if !matches!(frame.name.as_str(), "goodbye" | "error") => {
                let event = serde_json::from_str(&frame.data);
                event.map(Some).map_err(|error| ClientError::Nonsense(error.to_string()))
            }
            Some(_) | None => Ok(None),
        }
    }
}

/// One thing a stream says, whatever it is about.
#[derive(Debug, Default)]
pub(super) struct Frame {
    pub(super) name: String,
    pub(super) data: String,
}

/// A stream, frame by frame.
#[derive(Debug)]
pub(super) struct Frames {
    answer: Answer,
}

impl Frames {
    pub(super) const fn new(answer: Answer) -> Self {
        Self { answer }
    }

    /// Waits for the next; `None` when the stream is over.
    pub(super) fn next(&mut self) -> Result<Option<Frame>> {
        let mut frame = Frame::default();
        loop {
            let Some(line) = self.line()? else { return Ok(None) };
            match line.split_once(':') {
                _ if line.is_empty() && frame.data.is_empty() => {}
                _ if line.is_empty() => return Ok(Some(frame)),
                Some(("event", value)) => value.trim_start().clone_into(&mut frame.name),
                Some(("data", value)) => frame.data.push_str(value.trim_start()),
                // A heartbeat, a place, or a word of a later day.
                Some(_) | None => {}
            }
        }
    }

    fn line(&mut self) -> Result<Option<String>> {
        let mut line = Vec::new();
        let mut body = std::io::Read::take(&mut self.answer, LONGEST);
        let count = body.read_until(b'\n', &mut line).map_err(|e| super::http::lost("hear from", "", e))?;
        if count == 0 {
            return Ok(None);
        }
        if line.pop() != Some(b'\n') {
            return Err(ClientError::Nonsense("a line of the stream is too long or cut short".to_owned()));
        }
        let text = String::from_utf8(line).map_err(|error| ClientError::Nonsense(error.to_string()))?;
        Ok(Some(text.trim_end_matches('\r').to_owned()))
    }
}
