//! The nonces of signed requests of the last minutes: nothing is taken twice, also not by the next server.
//!
//! Owns: `nonces` in belljar's home, a line each, written before a request is taken and written anew when it holds more
//! that is old than is worth keeping. A process that dies loses none of it.

use std::{
    collections::HashMap,
    fs::{self, File, OpenOptions},
    io::{self, Write as _},
    os::unix::fs::OpenOptionsExt as _,
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
    time::Duration,
};

/// The most requests remembered; beyond that none is taken until some are too old to be repeated.
const MOST: usize = 200_000;

/// Why a request is not taken.
#[derive(Debug, thiserror::Error)]
pub(super) enum Again {
    #[error("this request was made before")]
    Repeated,
    #[error("too many signed requests in too short a time")]
    TooMany,
    #[error("that it was made cannot be written down")]
    Unwritten(#[from] io::Error),
}

/// What was said lately.
#[derive(Debug)]
pub(crate) struct Nonces {
    path: PathBuf,
    window: Duration,
    known: Mutex<Known>,
}

#[derive(Debug)]
struct Known {
    /// Each with its time in seconds.
    said: HashMap<String, u64>,
    file: File,
    /// Lines in the file.
    lines: usize,
}

impl Nonces {
    /// Reads what an earlier server took.
    pub(crate) fn open(home: &Path, window: Duration, now: u64) -> io::Result<Self> {
        let path = home.join("nonces");
        let text = match fs::read_to_string(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
            text => text?,
        };
        let line = |line: &str| {
            let (time, nonce) = line.split_once(' ')?;
            Some((nonce.to_owned(), time.parse().ok()?))
        };
        let mut said: HashMap<String, u64> = text.lines().filter_map(line).collect();
        said.retain(|_, time| is_fresh(*time, window, now));
        let file = written(&path, &said)?;
        let lines = said.len();
        Ok(Self { path, window, known: Mutex::new(Known { said, file, lines }) })
    }

    /// Takes what was not said before, and remembers it.
    pub(super) fn first(&self, nonce: String, time: u64, now: u64) -> Result<(), Again> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.lines >= MOST {
            known.said.retain(|_, time| is_fresh(*time, self.window, now));
            known.file = written(&self.path, &known.said)?;
            known.lines = known.said.len();
        }
        if known.said.len() >= MOST {
            return Err(Again::TooMany);
        }
        if known.said.contains_key(&nonce) {
            return Err(Again::Repeated);
        }
        known.file.write_all(format!("{time} {nonce}\n").as_bytes())?;
        known.lines += 1;
        known.said.insert(nonce, time);
        drop(known);
        Ok(())
    }
}

fn is_fresh(time: u64, window: Duration, now: u64) -> bool {
    time.saturating_add(window.as_secs()) >= now
}

/// The file with these and no others, open for more.
fn written(path: &Path, said: &HashMap<String, u64>) -> io::Result<File> {
    let part = path.with_extension("part");
    let mut options = OpenOptions::new();
    let mut file = options.create(true).write(true).truncate(true).mode(0o600).open(&part)?;
    let lines: String = said.iter().map(|(nonce, time)| format!("{time} {nonce}\n")).collect();
    file.write_all(lines.as_bytes())?;
    fs::rename(&part, path)?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    const WINDOW: Duration = Duration::from_secs(300);

    #[test]
    fn a_request_is_taken_once_also_by_the_next_server_and_the_old_make_room() {
        let home = tempfile::tempdir().unwrap();
        let open = |now| Nonces::open(home.path(), WINDOW, now).unwrap();
        let nonces = open(1000);
        assert!(nonces.first("a 1 x".to_owned(), 1000, 1000).is_ok());
        assert!(matches!(nonces.first("a 1 x".to_owned(), 1000, 1001), Err(Again::Repeated)));
        drop(nonces);
        let nonces = open(1100);
        assert!(matches!(nonces.first("a 1 x".to_owned(), 1000, 1100), Err(Again::Repeated)));
        for number in 2..=MOST {
            assert!(nonces.first(format!("a {number}"), 1000, 1000).is_ok());
        }
        assert!(matches!(nonces.first("b 1".to_owned(), 1000, 1000), Err(Again::TooMany)));
        assert!(nonces.first("b 1".to_owned(), 1400, 1400).is_ok());
        let lines = fs::read_to_string(home.path().join("nonces")).unwrap();
        assert_eq!(lines, "1400 b 1\n", "what is old is gone");
    }

    #[test]
    fn a_line_cut_off_is_passed_over() {
        let home = tempfile::tempdir().unwrap();
        fs::write(home.path().join("nonces"), "1000 a 1\nnonsense\n10").unwrap();
        let nonces = Nonces::open(home.path(), WINDOW, 1000).unwrap();
        assert!(matches!(nonces.first("a 1".to_owned(), 1000, 1000), Err(Again::Repeated)));
        assert!(nonces.first("a 2".to_owned(), 1000, 1000).is_ok());
    }
}
