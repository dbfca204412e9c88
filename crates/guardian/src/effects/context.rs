//! Where a call is made: what is known of the machine without asking it.
//!
//! Owns: the directory, the home, the variables and the facts a call is read with. Refuses: looking; whoever has hands asks the
//! machine and hands the answers in as [`Facts`].

use std::collections::BTreeMap;

use super::path;
use crate::shell::value::Value;

/// What is known before the call is read. Paths are absolute and normal.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Context {
    /// Where it starts.
    pub cwd: Vec<u8>,
    /// The home of its user.
    pub home: Vec<u8>,
    /// The name of its user.
    pub user: String,
    /// The directory the work is about; what lies below it is the agent's to change.
    pub workspace: Vec<u8>,
    /// Variables that are known to be in its environment. Those that are not here may still be.
    pub environment: BTreeMap<Vec<u8>, Vec<u8>>,
    /// What was found out about files.
    pub facts: Facts,
}

/// What was found out about files. Empty is a good answer: then paths mean what they say.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Facts {
    found: BTreeMap<Vec<u8>, Fact>,
}

/// What was found out about one path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fact {
    /// Where it is once every symlink is followed; of a missing file, where it would be made.
    pub real: Vec<u8>,
    /// What is there.
    pub kind: FileKind,
    /// What it contains, when somebody wanted to know and it is small.
    pub text: Option<Vec<u8>>,
}

/// What is at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FileKind {
    /// Nothing.
    Missing,
    /// A file.
    File,
    /// A directory.
    Directory,
    /// A device, a socket, a pipe.
    Other,
}

impl Facts {
    /// Notes what was found at a path.
    pub fn insert(&mut self, path: Vec<u8>, fact: Fact) {
        self.found.insert(path, fact);
    }

    /// What was found at a path, if somebody looked.
    #[must_use]
    pub fn get(&self, path: &[u8]) -> Option<&Fact> {
        self.found.get(path)
    }

    /// Whether nobody looked at anything.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    /// The path itself, symlinks followed as far as they are known: the longest part of it somebody looked at decides.
    #[must_use]
    pub fn real(&self, path: &[u8]) -> Vec<u8> {
        let mut end = path.len();
        while end > 0 {
            let (head, tail) = path.split_at(end);
            if let Some(fact) = self.found.get(head) {
                let mut real = fact.real.clone();
                if real.ends_with(b"/") && tail.starts_with(b"/") {
                    real.pop();
                }
                real.extend_from_slice(tail);
                return real;
            }
            end = head.iter().rposition(|byte| *byte == b'/').unwrap_or(0);
        }
        path.to_vec()
    }
}

impl Context {
    /// A path as a program given it would find it: absolute, normal, unknown where it is not known. See [`path::resolve`].
    #[must_use]
    pub fn resolve(&self, path: &Value, cwd: &Value) -> Value {
        path::resolve(path, cwd)
    }

    /// The home of a user: that of [`Context::user`] is known, others are where homes usually are.
    #[must_use]
    pub fn home_of(&self, user: &[u8]) -> Vec<u8> {
        if user.is_empty() || user == self.user.as_bytes() {
            self.home.clone()
        } else if user == b"root" {
            b"/root".to_vec()
        } else {
            [b"/home/".as_slice(), user].concat()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_part_somebody_looked_at_decides() {
        let mut facts = Facts::default();
        let fact = |real: &str| Fact { real: real.into(), kind: FileKind::Directory, text: None };
        facts.insert(b"/w".to_vec(), fact("/srv/w"));
        facts.insert(b"/w/link".to_vec(), fact("/"));
        assert_eq!(facts.real(b"/w/link/etc"), b"/etc");
        assert_eq!(facts.real(b"/w/linked"), b"/srv/w/linked");
        assert_eq!(facts.real(b"/tmp"), b"/tmp");
    }

    #[test]
    fn homes_are_where_homes_are() {
        let context = Context { home: b"/home/me".to_vec(), user: "me".to_owned(), ..Context::default() };
        assert_eq!(context.home_of(b""), b"/home/me");
        assert_eq!(context.home_of(b"root"), b"/root");
        assert_eq!(context.home_of(b"you"), b"/home/you");
    }
}
