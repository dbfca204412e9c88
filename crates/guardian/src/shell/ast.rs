//! The tree of a script: every construct bash has, and nothing kept as raw text that bash would look into.
//!
//! Owns: the shapes. Refuses: a catch-all; whoever walks the tree names every kind, so a new one does not compile until
//! somebody has said what it does.

/// A stretch of the script's bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub struct Span {
    /// The first byte.
    pub start: u32,
    /// The byte after the last.
    pub end: u32,
}

/// What was read: the commands up to the first thing that could not be, and what could not.
///
/// `bash -c` runs the lines before a syntax error, so both halves count.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Script {
    /// The complete commands, in order.
    pub commands: Vec<Command>,
    /// What was not understood.
    pub unknown: Vec<Unknown>,
}

/// Something that was not understood.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unknown {
    /// Why.
    pub reason: Reason,
    /// Where.
    pub span: Span,
}

/// Why something was not understood.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Reason {
    /// Bash refuses it.
    Syntax,
    /// Too long, too deep, or too much work.
    Limit,
    /// A NUL byte, which cannot reach `bash -c`.
    Nul,
    /// Means one thing to one version of bash and another to the next.
    Version,
    /// Bash reads it and refuses it, or first learns what it is, when it comes to run it.
    Expansion,
}

/// One command with the redirections that hang on it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Command {
    /// What it is.
    pub kind: Kind,
    /// Its redirections, in order.
    pub redirects: Vec<Redirect>,
    /// Where it stands.
    pub span: Span,
}

/// The kinds of commands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kind {
    /// Assignments and words.
    Simple {
        /// `NAME=value` before the first word.
        assignments: Vec<Assignment>,
        /// The words; none when there are only assignments or redirections.
        words: Vec<Word>,
    },
    /// `a | b |& c`, also of one stage when it is negated or timed.
    Pipeline {
        /// `!` before it.
        negated: bool,
        /// The stages; `|&` has become a redirection `2>&1` of the stage before it.
        stages: Vec<Command>,
    },
    /// `a && b || c; d &`: each with what joins it to the next.
    List(Vec<(Command, Link)>),
    /// `{ …; }`
    Group(Script),
    /// `( … )`
    Subshell(Script),
    /// `if`, its `elif`s and its `else`.
    If {
        /// Condition and body of each arm.
        arms: Vec<(Script, Script)>,
        /// The `else`.
        otherwise: Option<Script>,
    },
    /// `while` and `until`.
    While {
        /// Whether it is `until`.
        until: bool,
        /// What is asked each time.
        condition: Script,
        /// What is done each time.
        body: Script,
    },
    /// `for` and `select` over words.
    For {
        /// Whether it is `select`.
        select: bool,
        /// The variable.
        name: Vec<u8>,
        /// The words after `in`; none means the positional parameters.
        words: Option<Vec<Word>>,
        /// What is done each time.
        body: Script,
    },
    /// `for ((…; …; …))`
    ForArithmetic {
        /// The three expressions, as words in double quotes would be.
        parts: Box<[Word; 3]>,
        /// What is done each time.
        body: Script,
    },
    /// `case`
    Case {
        /// What is compared.
        subject: Word,
        /// Its arms.
        arms: Vec<Arm>,
    },
    /// `[[ … ]]`
    Condition(Test),
    /// `(( … ))`, read as a word in double quotes would be.
    Arithmetic(Word),
    /// `f() …` and `function f …`: the redirections belong to each call.
    Function {
        /// Its name.
        name: Vec<u8>,
        /// Its body, a compound command.
        body: Box<Command>,
    },
    /// `coproc`
    Coprocess {
        /// Its name, when it has one.
        name: Option<Word>,
        /// What runs.
        body: Box<Command>,
    },
}

/// What joins a command to the next one in a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Link {
    /// `&&`
    And,
    /// `||`
    Or,
    /// `;`, a newline, or the end.
    Then,
    /// `&`
    Background,
}

/// One arm of a `case`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Arm {
    /// Its patterns.
    pub patterns: Vec<Word>,
    /// What is done.
    pub body: Script,
    /// How it ends.
    pub end: ArmEnd,
}

/// How an arm of a `case` ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ArmEnd {
    /// `;;`
    Break,
    /// `;&`
    FallThrough,
    /// `;;&`
    TestNext,
}

/// What `[[ … ]]` asks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Test {
    /// `a && b`
    And(Box<Self>, Box<Self>),
    /// `a || b`
    Or(Box<Self>, Box<Self>),
    /// `! a`
    Not(Box<Self>),
    /// `-f word`; also `-v a[$(c)]`.
    Unary(Vec<u8>, Word),
    /// `a == b`, `a -eq b`, `a =~ b`.
    Binary(Word, Vec<u8>, Word),
    /// `word`
    Word(Word),
}

/// `NAME=value`, `NAME+=value`, `NAME[i]=value`, `NAME=(…)`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Assignment {
    /// The variable.
    pub name: Vec<u8>,
    /// `[i]`
    pub index: Option<Word>,
    /// `+=`
    pub append: bool,
    /// What it becomes.
    pub value: Assigned,
    /// Where it stands.
    pub span: Span,
}

/// What a variable becomes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Assigned {
    /// One value.
    Scalar(Word),
    /// `( [i]=a b )`
    Array(Vec<(Option<Word>, Word)>),
}

/// A word: never raw text.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Word {
    /// Its parts, in order.
    pub parts: Vec<Part>,
    /// Where it stands.
    pub span: Span,
}

/// A part of a word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part {
    /// Text, its quotes removed and `$'…'` decoded.
    Literal {
        /// The bytes.
        text: Vec<u8>,
        /// Whether quotes or a backslash protected it; an empty quoted literal keeps an empty word alive.
        quoted: bool,
    },
    /// `$x`, `${x…}`
    Parameter {
        /// The name, a digit, or one of `@*#?-$!0`.
        name: Vec<u8>,
        /// `[i]`
        index: Option<Box<Word>>,
        /// What is made of it.
        operation: Operation,
        /// Whether it stands in double quotes.
        quoted: bool,
        /// Where it stands.
        span: Span,
    },
    /// `$(…)` and backquotes.
    Command {
        /// What runs.
        script: Script,
        /// Whether it stands in double quotes.
        quoted: bool,
        /// Where it stands.
        span: Span,
    },
    /// `$((…))` and `$[…]`
    Arithmetic {
        /// The expression, as a word in double quotes would be.
        expression: Box<Word>,
        /// Whether it stands in double quotes.
        quoted: bool,
        /// Where it stands.
        span: Span,
    },
    /// `<(…)` and `>(…)`
    Process {
        /// Whether the word's owner writes to it: `>(…)`.
        output: bool,
        /// What runs.
        script: Script,
        /// Where it stands.
        span: Span,
    },
    /// `~`, `~user`, `~+`, `~-` where bash would look.
    Tilde(Vec<u8>),
    /// `*`, `?`, `[…]`: as it is written.
    Glob(Vec<u8>),
    /// `@(a|b)` and its kin.
    ExtGlob {
        /// `@ * + ? !`
        operator: u8,
        /// What stands between the bars.
        alternatives: Vec<Word>,
    },
    /// `{a,b}`
    Braces(Vec<Word>),
    /// `{1..9..2}`, `{a..f}`: as it is written, without braces.
    Sequence(Vec<u8>),
    /// `(…)` behind `NAME=`, among the arguments of `declare` and its kin.
    Array(Vec<(Option<Word>, Word)>),
    /// What the word comes to here cannot be read: anything may run, anything may come of it.
    Unknown(Unknown),
}

/// What is made of a parameter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Operation {
    /// `$x`
    Plain,
    /// `${#x}`
    Length,
    /// `${!x}`; `${!x@}` and `${!x*}` name variables instead.
    Indirect(Box<Self>),
    /// `${!prefix@}`, `${!prefix*}`, `${!array[@]}`
    Names,
    /// `${x:-w}`, `${x-w}`
    Default(Box<Word>, bool),
    /// `${x:=w}`, `${x=w}`
    Assign(Box<Word>, bool),
    /// `${x:?w}`, `${x?w}`
    Require(Box<Word>, bool),
    /// `${x:+w}`, `${x+w}`
    Alternative(Box<Word>, bool),
    /// `${x#w}`, `${x##w}`: whether the longest.
    WithoutPrefix(Box<Word>, bool),
    /// `${x%w}`, `${x%%w}`: whether the longest.
    WithoutSuffix(Box<Word>, bool),
    /// `${x/p/r}`, `//`, `/#`, `/%`: the byte after the first slash, if it is one of `/#%`.
    Replace(Box<Word>, Option<Box<Word>>, Option<u8>),
    /// `${x:o}`, `${x:o:l}`: arithmetic.
    Slice(Box<Word>, Option<Box<Word>>),
    /// `${x^p}`, `^^`, `,`, `,,`
    Case(Vec<u8>, Option<Box<Word>>),
    /// `${x@Q}` and its kin; `@P` expands again.
    Transform(u8),
}

/// A redirection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redirect {
    /// What is redirected, when it is said.
    pub descriptor: Option<Descriptor>,
    /// What to.
    pub target: Target,
    /// Where it stands.
    pub span: Span,
}

/// A descriptor before a redirection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Descriptor {
    /// `2>`
    Number(u32),
    /// `{fd}>`
    Variable(Vec<u8>),
}

/// What a redirection does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// `<`
    Read(Word),
    /// `>`, and `>|` when it clobbers.
    Write(Word, bool),
    /// `>>`
    Append(Word),
    /// `<>`
    ReadWrite(Word),
    /// `&>` and `>&word`; `&>>` when it appends.
    Both(Word, bool),
    /// `<&` (whether it is for input) and `>&`, with a number, `-`, `n-`, or a word that comes to one.
    Duplicate(Word, bool),
    /// `<<`
    HereDocument(HereDocument),
    /// `<<<`
    HereString(Word),
}

/// A here-document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HereDocument {
    /// `<<-`
    pub strip: bool,
    /// Whether the delimiter was quoted, so that the body is only text.
    pub quoted: bool,
    /// Its body, as a word in double quotes would be.
    pub body: Word,
}
