//! Which letters each builtin takes as options.
//!
//! Owns: refusing the others; bash tells of them, and nothing is done. Refuses: those that read options in ways of their own
//! (`set`, `printf`, `test`, `declare`).

use super::super::simple::Job;
use super::{Builtin, options};
use crate::shell::value::Value;

impl Builtin {
    /// The letters it takes, and those of them that have a value; none where that is not known here.
    fn letters(self) -> Option<(&'static [u8], &'static [u8])> {
        Some(match self {
            Self::Alias => (b"p", b""),
            Self::Cd => (b"LPe@", b""),
            Self::Command => (b"pVv", b""),
            Self::Eval | Self::Source | Self::Getopts | Self::Inner => (b"", b""),
            Self::Exec => (b"acl", b"a"),
            Self::Export | Self::Readonly => (b"aAfnp", b""),
            Self::Hash => (b"dlprt", b"p"),
            Self::Mapfile => (b"cCdnOstu", b"cCdnOsu"),
            Self::Pwd => (b"LP", b""),
            Self::Read => (b"aderinNpstu", b"adinNptu"),
            Self::Shopt => (b"opqsu", b""),
            Self::Trap => (b"lp", b""),
            Self::Unalias => (b"a", b""),
            Self::Unset => (b"fnv", b""),
            Self::Bind
            | Self::Break
            | Self::Compgen
            | Self::Continue
            | Self::Declare
            | Self::Dirs
            | Self::Echo
            | Self::Enable
            | Self::Exit
            | Self::False
            | Self::Fc
            | Self::Let
            | Self::Local
            | Self::Popd
            | Self::Printf
            | Self::Pushd
            | Self::Quiet
            | Self::Return
            | Self::Set
            | Self::Shift
            | Self::Show
            | Self::Test
            | Self::Bracket
            | Self::True => return None,
        })
    }

    /// Whether a command has an option this builtin does not know, or one without its value.
    pub(super) fn refuses(self, job: &Job) -> bool {
        // Most words are no options.
        let begins = |word: &Value| matches!(word.prefix(), [b'-', letter, ..] if *letter != b'-');
        if !job.argv.get(1).is_some_and(begins) {
            return false;
        }
        self.letters().is_some_and(|(known, with_value)| {
            options(job, with_value, false).letters.iter().any(|(_, letter, value)| {
                let lacks = with_value.contains(letter) && value.is_none() && job.more.is_none();
                !known.contains(letter) || lacks
            })
        })
    }
}
