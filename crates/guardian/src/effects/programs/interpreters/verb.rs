//! What functions of languages do, in words all languages share.
//!
//! Owns: the list. Refuses: names; each language says which of its names is which verb.

use crate::effects::act::Change;

/// What a function does with its arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verb {
    /// Files are removed.
    Delete,
    /// Directories and all below them are removed.
    DeleteTree,
    /// Removed, deep if an argument says so.
    DeletePerhapsTree,
    /// A file is read; its contents are the value.
    Read,
    /// A file is written: the path, then the contents.
    Write(Change),
    /// A file is opened; the second argument says for what.
    Open,
    /// One path becomes another.
    Move,
    /// One path is written with another's contents.
    Copy,
    /// A link: the second path is made, and leads to the first.
    Link,
    /// A directory or an empty file is made.
    Make,
    /// Permissions.
    Permit,
    /// Names in a directory are the value.
    List,
    /// Paths of what is in a directory are the value.
    Entries,
    /// What an archive holds is put into a directory.
    Extract,
    /// Names that match a pattern are the value.
    Glob,
    /// Directories below one, with the names in them.
    Walk,
    /// A line for a shell, or words for a program.
    Shell,
    /// Words for a program: one list, or a name and a list.
    Program,
    /// Words for a program, each an argument; alone it is a line for a shell.
    Words,
    /// Words for a program behind a mode or a flag.
    LaterWords,
    /// A program and its whole argv.
    Exec,
    /// A shell for somebody at a terminal.
    Terminal,
    /// Code of the same language.
    Eval,
    /// A file is run as code.
    Load,
    /// A module by its name.
    Import,
    /// A member by its name.
    Member,
    /// Something is fetched, or sent when there is something to send.
    Fetch,
    /// Something is sent.
    Send,
    /// A connection is opened.
    Connect,
    /// What goes over a connection.
    Transmit,
    /// A descriptor is put in place of another.
    Redirect,
    /// Another directory.
    Chdir,
    /// Processes are signalled: the number first.
    Kill,
    /// The same with the signal first.
    KillSecond,
    Fork,
    /// Rights.
    Privilege,
    /// All variables of the environment.
    Environment,
    /// One variable of the environment.
    Variable,
    Home,
    Cwd,
    /// A name in a directory for temporary files.
    Temporary,
    /// Paths put together.
    Join,
    /// `~` is put in.
    Expand,
    /// The directory of a path.
    Parent,
    /// The argument itself, as far as it matters.
    Same,
    /// Text is said.
    Print,
    /// What is read from the standard input.
    Input,
    /// Something that decodes.
    Base64,
    Hex,
    Rot13,
    /// Letters from their numbers.
    Letter,
    /// Every given function is called with the elements of what else is given.
    Apply,
    /// Nothing.
    Harmless,
    /// Something nobody can follow.
    Unknown,
}
