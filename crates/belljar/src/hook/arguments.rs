//! The words after `belljar hook`, read leniently: an agent cannot mend a typo, and a parser that exits with 2 would
//! block it. What is not understood is passed over.

use std::{ffi::OsString, os::unix::ffi::OsStringExt as _, path::PathBuf, time::Duration};

use belljar_capture::Agent;

/// What was asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Arguments {
    pub(super) agent: Option<Agent>,
    pub(super) event: Option<String>,
    /// The payload, where an agent hands it over as an argument.
    pub(super) notify: Option<Vec<u8>>,
    pub(super) home: Option<PathBuf>,
    /// The server to tell, where it is not the home's.
    pub(super) url: Option<String>,
    /// How long a guard waits.
    pub(super) wait: Option<Duration>,
    pub(super) verbose: bool,
    pub(super) spool: bool,
}

impl Arguments {
    pub(super) fn read(words: impl Iterator<Item = OsString>) -> Self {
        let mut read = Self {
            agent: None,
            event: None,
            notify: None,
            home: None,
            url: None,
            wait: None,
            verbose: false,
            spool: true,
        };
        let mut words = words;
        while let Some(word) = words.next() {
            let bytes = word.into_vec();
            let (name, attached) = match bytes.iter().position(|byte| *byte == b'=') {
                Some(at) if bytes.starts_with(b"--") => {
                    let (name, value) = bytes.split_at(at);
                    (name, Some(value.iter().skip(1).copied().collect::<Vec<u8>>()))
                }
                Some(_) | None => (bytes.as_slice(), None),
            };
            let mut value = || attached.clone().or_else(|| words.next().map(OsString::into_vec));
            match name {
                b"--agent" => read.agent = value().as_deref().map(|name| Agent::from(text(name).as_str())),
                b"--event" => read.event = value().as_deref().map(text).filter(|name| !name.is_empty()),
                b"--notify" => read.notify = value(),
                b"--home" => read.home = value().map(|path| PathBuf::from(OsString::from_vec(path))),
                b"--url" => read.url = value().as_deref().map(text).filter(|url| !url.is_empty()),
                b"--wait" => read.wait = value().as_deref().and_then(seconds),
                b"--verbose" => read.verbose = true,
                b"--no-spool" => read.spool = false,
                _ => {}
            }
        }
        read
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).trim().to_owned()
}

/// At most an hour.
fn seconds(bytes: &[u8]) -> Option<Duration> {
    let number: f64 = text(bytes).parse().ok()?;
    (0.0..=3600.0).contains(&number).then(|| Duration::from_secs_f64(number))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(words: &[&str]) -> Arguments {
        Arguments::read(words.iter().map(OsString::from))
    }

    #[test]
    fn flags_are_understood_in_both_forms() {
        for words in [
            &["--agent", "codex", "--event", "Stop", "--wait", "1.5"][..],
            &["--agent=codex", "--event=Stop", "--wait=1.5"],
            &["extra", "--colour", "--agent=codex", "-x", "--event", "Stop", "--wait", "1.5", "--"],
        ] {
            let read = read(words);
            assert_eq!(read.agent, Some(Agent::Codex));
            assert_eq!((read.event.as_deref(), read.wait), (Some("Stop"), Some(Duration::from_millis(1500))));
        }
    }

    #[test]
    fn nonsense_is_passed_over() {
        let nothing = read(&[]);
        for words in
            [&["--agent"][..], &["--wait", "long"], &["--wait=-1"], &["--wait=1e300"], &["=", "--", "-"]]
        {
            assert_eq!(read(words), nothing, "{words:?}");
        }
        assert_eq!(read(&["--notify", "{\"a=b\":1}"]).notify.as_deref(), Some(&b"{\"a=b\":1}"[..]));
        assert!(!read(&["--no-spool"]).spool && read(&["--verbose"]).verbose);
    }
}
