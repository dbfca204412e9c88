//! The last lines that commands in a sandbox wrote.

use std::collections::VecDeque;

use belljar_domain::{ExecutionId, Principal, SandboxId, Timestamp};
use belljar_engine::service::{Service, ServiceError};
use belljar_ports::store::LogStream;

use super::{
    arguments::{LogLevel, Logs},
    failure::Outcome,
    results::Logged,
    sandboxes::sandbox,
    tools::Call,
};

/// The most commands that are looked at, newest first.
const COMMANDS: usize = 50;
/// Bytes read at once.
const PAGE: usize = 256 * 1024;
/// The longest line that is shown whole.
const LONGEST_LINE: usize = 4096;

/// Which lines, and how.
#[derive(Debug, Clone, Copy)]
struct Wanted {
    lines: usize,
    errors_only: bool,
    timestamps: bool,
}

impl Call {
    pub(super) async fn logs(&self, asked: Logs) -> Outcome<Logged> {
        let id = sandbox(&asked.sandbox_id)?;
        let wanted = Wanted {
            lines: asked.lines.clamp(1, 1000),
            errors_only: matches!(asked.log_level, LogLevel::Error | LogLevel::Warn),
            timestamps: asked.include_timestamps,
        };
        let logs = self.ask(move |service, who| last_lines(service, who, id, wanted)).await?;
        Ok(Logged { sandbox_id: id.to_string(), count: logs.len(), logs })
    }
}

fn last_lines(
    service: &Service,
    who: &Principal,
    id: SandboxId,
    wanted: Wanted,
) -> Result<Vec<String>, ServiceError> {
    let mut lines: VecDeque<String> = VecDeque::new();
    for execution in service.executions(who, id, None, COMMANDS)? {
        let room = wanted.lines - lines.len();
        if room == 0 {
            break;
        }
        for line in
            of_command(service, who, execution.id, Wanted { lines: room, ..wanted })?.into_iter().rev()
        {
            lines.push_front(line);
        }
    }
    Ok(lines.into())
}

fn of_command(
    service: &Service,
    who: &Principal,
    id: ExecutionId,
    wanted: Wanted,
) -> Result<VecDeque<String>, ServiceError> {
    let mut last = Last { wanted, lines: VecDeque::new(), open: Vec::new(), began: None };
    let mut after = 0;
    loop {
        let page = service.output(who, id, after, PAGE)?;
        for chunk in &page.chunks {
            after = chunk.place;
            if !wanted.errors_only || chunk.stream == LogStream::Stderr {
                last.push(&chunk.bytes, chunk.time);
            }
        }
        if page.chunks.is_empty() || page.end {
            return Ok(last.finish());
        }
    }
}

/// The last lines of a stream of bytes.
struct Last {
    wanted: Wanted,
    lines: VecDeque<String>,
    open: Vec<u8>,
    began: Option<Timestamp>,
}

impl Last {
    fn push(&mut self, bytes: &[u8], time: Timestamp) {
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.began.get_or_insert(time);
            let (text, ends) = piece.strip_suffix(b"\n").map_or((piece, false), |text| (text, true));
            let room = LONGEST_LINE.saturating_sub(self.open.len()).min(text.len());
            self.open.extend_from_slice(text.get(..room).unwrap_or_default());
            if ends {
                self.close();
            }
        }
    }

    fn close(&mut self) {
        let text = String::from_utf8_lossy(&self.open);
        let line = match self.began.take() {
            Some(time) if self.wanted.timestamps => format!("{time} {text}"),
            _ => text.into_owned(),
        };
        self.open.clear();
        self.lines.push_back(line);
        if self.lines.len() > self.wanted.lines {
            self.lines.pop_front();
        }
    }

    fn finish(mut self) -> VecDeque<String> {
        if !self.open.is_empty() {
            self.close();
        }
        self.lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_last_lines_are_kept_whole_or_not() {
        let wanted = Wanted { lines: 2, errors_only: false, timestamps: false };
        let mut last = Last { wanted, lines: VecDeque::new(), open: Vec::new(), began: None };
        let time = Timestamp::from_micros(0);
        last.push(b"one\ntw", time);
        last.push(b"o\nthree\nfo", time);
        assert_eq!(last.finish(), ["three", "fo"]);
    }
}
