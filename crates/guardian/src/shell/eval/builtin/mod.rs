//! Builtins: the commands that are the shell itself.
//!
//! Owns: which there are, and what each does to the state. Refuses: those that are also programs and only act outside (`kill`); the
//! knowledge of programs has them.

mod declare;
mod directory;
mod letters;
mod misc;
pub(super) mod print;
mod read;
mod run;
pub(super) mod settings;

use super::channel::Channel;
use super::machine::Machine;
use super::simple::Job;
use super::state::{Flow, State};
use super::worlds::Worlds;
use crate::shell::value::Value;

/// The builtins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Builtin {
    Alias,
    Bind,
    Break,
    /// `builtin`
    Inner,
    Cd,
    Command,
    Compgen,
    Continue,
    Declare,
    Dirs,
    Echo,
    Enable,
    Eval,
    Exec,
    Exit,
    Export,
    False,
    Fc,
    Getopts,
    Hash,
    Let,
    Local,
    Mapfile,
    Popd,
    Printf,
    Pushd,
    Pwd,
    Quiet,
    Read,
    Readonly,
    Return,
    Set,
    Shift,
    Shopt,
    Show,
    Source,
    Test,
    Bracket,
    Trap,
    True,
    Unalias,
    Unset,
}

impl Builtin {
    /// The builtin of a name.
    pub(super) fn named(name: &[u8]) -> Option<Self> {
        Some(match name {
            b"alias" => Self::Alias,
            b"bind" => Self::Bind,
            b"break" => Self::Break,
            b"builtin" => Self::Inner,
            b"cd" => Self::Cd,
            b"command" => Self::Command,
            b"compgen" | b"complete" | b"compopt" => Self::Compgen,
            b"continue" => Self::Continue,
            b"declare" | b"typeset" => Self::Declare,
            b"dirs" => Self::Dirs,
            b"echo" => Self::Echo,
            b"enable" => Self::Enable,
            b"eval" => Self::Eval,
            b"exec" => Self::Exec,
            b"exit" => Self::Exit,
            b"export" => Self::Export,
            b"false" => Self::False,
            b"fc" => Self::Fc,
            b"getopts" => Self::Getopts,
            b"hash" => Self::Hash,
            b"let" => Self::Let,
            b"local" => Self::Local,
            b"mapfile" | b"readarray" => Self::Mapfile,
            b"popd" => Self::Popd,
            b"printf" => Self::Printf,
            b"pushd" => Self::Pushd,
            b"pwd" => Self::Pwd,
            b"bg" | b"disown" | b"fg" | b"logout" | b"suspend" | b"ulimit" | b"umask" | b"wait" => {
                Self::Quiet
            }
            b"read" => Self::Read,
            b"readonly" => Self::Readonly,
            b"return" => Self::Return,
            b"set" => Self::Set,
            b"shift" => Self::Shift,
            b"shopt" => Self::Shopt,
            b"caller" | b"help" | b"jobs" | b"times" | b"type" => Self::Show,
            b"source" | b"." => Self::Source,
            b"test" => Self::Test,
            b"[" => Self::Bracket,
            b"trap" => Self::Trap,
            b"true" | b":" => Self::True,
            b"unalias" => Self::Unalias,
            b"unset" => Self::Unset,
            _ => return None,
        })
    }
}

impl Machine<'_> {
    /// Runs a builtin.
    pub(super) fn builtin(&mut self, builtin: Builtin, job: &Job, mut state: State) -> Worlds {
        if builtin.refuses(job) {
            state.status = Some(2);
            return vec![state];
        }
        let simple = match builtin {
            Builtin::Inner => return self.run_builtin(job, state),
            Builtin::Command => return self.run_command(job, state),
            Builtin::Exec => return self.run_exec(job, state),
            Builtin::Eval => return self.run_eval(job, state),
            Builtin::Source => return self.run_source(job, state),
            Builtin::Enable => return self.run_enable(job, state),
            Builtin::Compgen => return self.run_compgen(job, state),
            Builtin::Mapfile => return self.run_mapfile(job, state),
            Builtin::True => Some(0),
            Builtin::False => Some(1),
            Builtin::Break => self.leave(job, &mut state, Flow::Break),
            Builtin::Continue => self.leave(job, &mut state, Flow::Continue),
            Builtin::Return => self.end(job, &mut state, Flow::Return),
            Builtin::Exit => self.end(job, &mut state, Flow::Exit),
            Builtin::Cd => self.run_cd(job, &mut state),
            Builtin::Pushd => self.run_pushd(job, &mut state),
            Builtin::Popd => self.run_popd(job, &mut state),
            Builtin::Dirs => self.show(job, &mut state),
            Builtin::Pwd => self.run_pwd(job, &mut state),
            Builtin::Declare => self.run_declare(job, declare::Scope::Declare, &mut state),
            Builtin::Local => self.run_declare(job, declare::Scope::Local, &mut state),
            Builtin::Export => self.run_declare(job, declare::Scope::Export, &mut state),
            Builtin::Readonly => self.run_declare(job, declare::Scope::Readonly, &mut state),
            Builtin::Unset => self.run_unset(job, &mut state),
            Builtin::Let => self.run_let(job, &mut state),
            Builtin::Echo => self.run_echo(job, &mut state),
            Builtin::Printf => self.run_printf(job, &mut state),
            Builtin::Read => self.run_read(job, &mut state),
            Builtin::Getopts => self.run_getopts(job, &mut state),
            Builtin::Set => self.run_set(job, &mut state),
            Builtin::Shift => self.run_shift(job, &mut state),
            Builtin::Shopt => self.run_shopt(job, &mut state),
            Builtin::Alias => self.run_alias(job, &mut state),
            Builtin::Unalias => self.run_unalias(job, &mut state),
            Builtin::Hash => self.run_hash(job, &mut state),
            Builtin::Trap => self.run_trap(job, &mut state),
            Builtin::Test => self.run_test(job, job.argv.get(1..).unwrap_or_default(), &mut state),
            Builtin::Bracket => {
                match job.argv.get(1..).and_then(<[Value]>::split_last) {
                    Some((last, inner)) if last.bytes() == Some(b"]") => {
                        self.run_test(job, inner, &mut state)
                    }
                    // Without its end it is told to be wrong.
                    Some((last, _)) if job.more.is_some() || last.why().is_some() || last.has_glob() => None,
                    Some(_) | None => Some(2),
                }
            }
            Builtin::Bind => self.run_bind(job, &mut state),
            Builtin::Fc if options(job, b"e", false).has(b'l') => self.show(job, &mut state),
            Builtin::Fc => {
                self.unknown("commands of the history that are run again", job.span);
                None
            }
            Builtin::Show => self.show(job, &mut state),
            Builtin::Quiet => None,
        };
        let writes = matches!(builtin, Builtin::Echo | Builtin::Printf);
        let simple = if writes && is_shut(&state) { Some(1) } else { simple };
        state.status = simple;
        vec![state]
    }

    /// Something is shown that nobody can say here.
    fn show(&mut self, job: &Job, state: &mut State) -> Option<i32> {
        let by = job.argv.first().and_then(Value::text).unwrap_or("bash").to_owned();
        self.write(state, 1, crate::effects::Stream::default(), &by, job.span);
        None
    }
}

/// Whether nobody can write to the standard output.
fn is_shut(state: &State) -> bool {
    matches!(state.descriptors.get(&1), Some(Channel::Closed))
}

/// Splits options from what follows them: `-x`, `-xy`, `--`; letters with a value take the next argument or the rest.
pub(super) struct Options<'j> {
    pub(super) letters: Vec<(u8, u8, Option<Value>)>,
    pub(super) rest: &'j [Value],
    /// How many arguments the options took, the name of the command among them.
    pub(super) taken: usize,
}

/// Reads the options of a builtin. `with_value` are the letters that have one.
pub(super) fn options<'j>(job: &'j Job, with_value: &[u8], plus: bool) -> Options<'j> {
    let mut letters = Vec::new();
    let mut at = 1;
    while let Some(argument) = job.argv.get(at) {
        let Some(bytes) = argument.bytes() else { break };
        if bytes == b"--" {
            at += 1;
            break;
        }
        let (sign, flags) = match bytes.split_first() {
            Some((sign @ b'-', flags)) if !flags.is_empty() => (*sign, flags),
            Some((sign @ b'+', flags)) if plus && !flags.is_empty() => (*sign, flags),
            _ => break,
        };
        at += 1;
        let mut rest = flags;
        while let Some((letter, after)) = rest.split_first() {
            rest = after;
            if with_value.contains(letter) {
                let value = if rest.is_empty() {
                    at += 1;
                    job.argv.get(at - 1).cloned()
                } else {
                    Some(Value::known(rest))
                };
                letters.push((sign, *letter, value));
                break;
            }
            letters.push((sign, *letter, None));
        }
    }
    Options { letters, rest: job.argv.get(at..).unwrap_or_default(), taken: at }
}

impl Options<'_> {
    /// Whether a letter was given.
    pub(super) fn has(&self, letter: u8) -> bool {
        self.letters.iter().any(|(sign, other, _)| *sign == b'-' && *other == letter)
    }

    /// The value of a letter.
    pub(super) fn value(&self, letter: u8) -> Option<&Value> {
        self.letters
            .iter()
            .rev()
            .find(|(_, other, _)| *other == letter)
            .and_then(|(_, _, value)| value.as_ref())
    }
}
