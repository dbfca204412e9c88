//! One vocabulary for the syntax of six languages: what a node is, and what it is to its parent.

/// What a node is. Rules speak of these alone; `lang` says which node of which grammar is which.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub(crate) enum Kind {
    /// Nothing rules ask about.
    Other,
    /// A keyword, an operator, punctuation.
    Token,
    Comment,
    /// Part of a function that does not parse; no rule looks at it.
    Broken,
    Module,

    /// A function or method with a body.
    Function,
    /// A function declared without a body.
    Signature,
    /// A function without a name of its own.
    Lambda,
    /// A class, struct or record.
    Class,
    /// A block that gives a type its methods.
    Impl,
    Interface,
    Enum,
    EnumMember,
    /// A field declared in a class or struct.
    Field,
    Params,
    Param,
    DefaultParam,
    /// Takes any number of arguments.
    SplatParam,
    /// What stands between positional and keyword-only parameters.
    KeywordMark,
    SelfParam,

    Block,
    ExprStmt,
    /// A statement that declares names.
    Decl,
    /// A name and its first value.
    Declarator,
    /// A name that never gets another value, by its keyword.
    Const,
    Static,
    Assign,
    AugAssign,
    Update,
    Return,
    Throw,
    Jump,
    If,
    Loop,
    Switch,
    Case,
    /// What a case is compared with.
    Label,
    Try,
    Catch,
    Finally,
    With,
    WithItem,
    Synchronized,
    Defer,
    /// Starts a concurrent call.
    Spawn,
    Delete,

    Call,
    New,
    Macro,
    Member,
    Index,
    Slice,
    Binary,
    Compare,
    Unary,
    Await,
    Ternary,
    Cast,
    Spread,
    Keyword,
    Args,
    Pair,
    Dict,
    List,
    Tuple,
    Set,
    Comprehension,
    /// Names taken out of one value at once.
    Pattern,
    Number,
    Str,
    /// A string with code in it.
    Template,
    Bool,
    Null,
    Ident,
    SelfRef,
    Type,
    Decorator,
    Decorated,
    Attribute,
    Modifiers,
    Global,
    Nonlocal,
    Import,
    Export,
    Heritage,
    /// Not kept as a node: its children stand in its place.
    Transparent,
}

impl Kind {
    pub(crate) const COUNT: usize = Self::Transparent as usize + 1;

    /// Whether a value of this kind is written out in place.
    pub(crate) fn is_literal(self) -> bool {
        matches!(self, Self::Number | Self::Str | Self::Bool | Self::Null)
    }
}

/// What a node is to its parent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Field {
    None,
    Name,
    Body,
    Parameters,
    Condition,
    Consequence,
    Alternative,
    Left,
    Right,
    Value,
    Object,
    Member,
    Function,
    Arguments,
    Operator,
    Type,
    Result,
    Pattern,
    Index,
    Key,
    Receiver,
    Trait,
    Alias,
    Source,
}

impl Field {
    /// By the name a grammar gives it.
    pub(crate) fn named(name: &str) -> Self {
        match name {
            "name" => Self::Name,
            "body" => Self::Body,
            "parameters" | "parameter" => Self::Parameters,
            "condition" => Self::Condition,
            "consequence" => Self::Consequence,
            "alternative" => Self::Alternative,
            "left" => Self::Left,
            "right" => Self::Right,
            "value" | "subject" | "argument" => Self::Value,
            "object" | "operand" | "array" | "path" | "scope" => Self::Object,
            "attribute" | "property" | "field" => Self::Member,
            "function" | "constructor" | "macro" => Self::Function,
            "arguments" => Self::Arguments,
            "operator" | "operators" | "kind" => Self::Operator,
            "type" => Self::Type,
            "return_type" | "result" => Self::Result,
            "pattern" => Self::Pattern,
            "subscript" | "index" => Self::Index,
            "key" => Self::Key,
            "receiver" => Self::Receiver,
            "trait" => Self::Trait,
            "alias" => Self::Alias,
            "module_name" | "source" => Self::Source,
            _ => Self::None,
        }
    }
}
