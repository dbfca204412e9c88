//! The languages that are read: which files are theirs, their grammar, and what its nodes are.

mod go;
mod java;
mod javascript;
mod python;
mod rust;

use std::sync::OnceLock;

use crate::tree::{Field, Kind};

/// A language rules are written for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Lang {
    /// Python.
    Python,
    /// JavaScript, with JSX.
    JavaScript,
    /// TypeScript.
    TypeScript,
    /// TypeScript with JSX.
    Tsx,
    /// Rust.
    Rust,
    /// Go.
    Go,
    /// Java.
    Java,
}

impl Lang {
    const ALL: [Self; 7] =
        [Self::Python, Self::JavaScript, Self::TypeScript, Self::Tsx, Self::Rust, Self::Go, Self::Java];

    /// The language of a file, by its name.
    #[must_use]
    pub fn of(path: &str) -> Option<Self> {
        let name = path.rsplit('/').next().unwrap_or(path);
        let (stem, extension) = name.rsplit_once('.')?;
        match extension {
            "py" | "pyi" => Some(Self::Python),
            "js" | "mjs" | "cjs" | "jsx" => Some(Self::JavaScript),
            "ts" | "mts" | "cts" if !stem.is_empty() => Some(Self::TypeScript),
            "tsx" => Some(Self::Tsx),
            "rs" => Some(Self::Rust),
            "go" => Some(Self::Go),
            "java" => Some(Self::Java),
            _ => None,
        }
    }

    /// Its name, as people write it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Python => "Python",
            Self::JavaScript => "JavaScript",
            Self::TypeScript | Self::Tsx => "TypeScript",
            Self::Rust => "Rust",
            Self::Go => "Go",
            Self::Java => "Java",
        }
    }

    /// TypeScript, with or without JSX.
    pub(crate) fn is_typescript(self) -> bool {
        matches!(self, Self::TypeScript | Self::Tsx)
    }

    /// JavaScript or TypeScript.
    pub(crate) fn is_script(self) -> bool {
        self == Self::JavaScript || self.is_typescript()
    }

    /// The language that stands for all whose files can import from each other.
    pub(crate) fn family(self) -> Self {
        if self.is_script() { Self::JavaScript } else { self }
    }

    pub(crate) fn grammar(self) -> tree_sitter::Language {
        match self {
            Self::Python => tree_sitter_python::LANGUAGE.into(),
            Self::JavaScript => tree_sitter_javascript::LANGUAGE.into(),
            Self::TypeScript => tree_sitter_typescript::LANGUAGE_TYPESCRIPT.into(),
            Self::Tsx => tree_sitter_typescript::LANGUAGE_TSX.into(),
            Self::Rust => tree_sitter_rust::LANGUAGE.into(),
            Self::Go => tree_sitter_go::LANGUAGE.into(),
            Self::Java => tree_sitter_java::LANGUAGE.into(),
        }
    }

    fn kind(self, name: &str) -> Kind {
        match self {
            Self::Python => python::kind(name),
            Self::JavaScript | Self::TypeScript | Self::Tsx => javascript::kind(name),
            Self::Rust => rust::kind(name),
            Self::Go => go::kind(name),
            Self::Java => java::kind(name),
        }
    }

    /// What the numbers of its grammar mean; worked out once.
    pub(crate) fn vocabulary(self) -> &'static Vocabulary {
        static ALL: OnceLock<Vec<Vocabulary>> = OnceLock::new();
        static NONE: Vocabulary = Vocabulary { kinds: Vec::new(), fields: Vec::new() };
        let all = ALL.get_or_init(|| Self::ALL.into_iter().map(Vocabulary::of).collect());
        all.get(self as usize).unwrap_or(&NONE)
    }
}

/// A grammar's numbers for nodes and fields, and what they stand for.
#[derive(Debug)]
pub(crate) struct Vocabulary {
    kinds: Vec<Kind>,
    fields: Vec<Field>,
}

impl Vocabulary {
    fn of(lang: Lang) -> Self {
        let grammar = lang.grammar();
        let kinds = (0..=u16::MAX).take(grammar.node_kind_count()).map(|id| {
            let name = grammar.node_kind_for_id(id).unwrap_or_default();
            if grammar.node_kind_is_named(id) { lang.kind(name) } else { Kind::Token }
        });
        let fields = (0..=u16::MAX)
            .take(grammar.field_count() + 1)
            .map(|id| grammar.field_name_for_id(id).map_or(Field::None, Field::named));
        Self { kinds: kinds.collect(), fields: fields.collect() }
    }

    pub(crate) fn kind(&self, id: u16) -> Kind {
        self.kinds.get(usize::from(id)).copied().unwrap_or(Kind::Other)
    }

    pub(crate) fn field(&self, id: u16) -> Field {
        self.fields.get(usize::from(id)).copied().unwrap_or(Field::None)
    }
}
