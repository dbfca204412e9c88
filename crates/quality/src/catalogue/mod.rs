//! Every rule: which kind of connascence it finds, what it is called, why it matters, how to mend it.

mod cards;

use std::fmt;

use cards::{CARDS, Card, FIRST};

/// The nine kinds, from the weakest to the strongest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// Several places agree on a name.
    Name,
    /// On a type.
    Type,
    /// On what a value means.
    Meaning,
    /// On the order of values.
    Position,
    /// On how something is computed.
    Algorithm,
    /// On what runs first.
    Execution,
    /// On when something runs.
    Timing,
    /// On values that change together.
    Value,
    /// On which object it is.
    Identity,
}

impl Kind {
    /// All of them.
    pub const ALL: [Self; 9] = [
        Self::Name,
        Self::Type,
        Self::Meaning,
        Self::Position,
        Self::Algorithm,
        Self::Execution,
        Self::Timing,
        Self::Value,
        Self::Identity,
    ];

    /// As reports say it: `CoM`.
    #[must_use]
    pub fn code(self) -> &'static str {
        match self {
            Self::Name => "CoN",
            Self::Type => "CoT",
            Self::Meaning => "CoM",
            Self::Position => "CoP",
            Self::Algorithm => "CoA",
            Self::Execution => "CoE",
            Self::Timing => "CoTm",
            Self::Value => "CoV",
            Self::Identity => "CoI",
        }
    }

    /// As people say it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Name => "name",
            Self::Type => "type",
            Self::Meaning => "meaning",
            Self::Position => "position",
            Self::Algorithm => "algorithm",
            Self::Execution => "execution order",
            Self::Timing => "timing",
            Self::Value => "value",
            Self::Identity => "identity",
        }
    }

    /// Points of a finding at its plainest, in thousandths. Value ranks below its place: text shows only copies.
    pub(crate) fn base(self) -> u64 {
        match self {
            Self::Name => 500,
            Self::Type => 1000,
            Self::Meaning => 2000,
            Self::Position => 3000,
            Self::Algorithm | Self::Value => 5000,
            Self::Execution => 6000,
            Self::Timing | Self::Identity => 7000,
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code())
    }
}

/// A rule of the catalogue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Rule {
    /// `duplicate-definition`: two definitions of one name.
    DuplicateDefinition,
    /// `record-shape`: a record's keys are spelled out in several files.
    RecordShape,
    /// `any-type`: a signature that accepts or returns anything.
    AnyType,
    /// `unchecked-cast`: a cast that switches the type checker off.
    UncheckedCast,
    /// `untyped-parameter`: a parameter without a type in a file that has types.
    UntypedParameter,
    /// `mixed-arguments`: one parameter, literals of different types.
    MixedArguments,
    /// `mixed-returns`: different types on different paths.
    MixedReturns,
    /// `coded-value`: a code whose meaning is only in people's heads.
    CodedValue,
    /// `magic-number-cond`: a bare number decides.
    MagicNumberCond,
    /// `magic-number-arith`: a bare number in a calculation.
    MagicNumberArith,
    /// `magic-return`: a bare number is returned.
    MagicReturn,
    /// `magic-string-eq`: compared with a string that stands for something.
    MagicStringEq,
    /// `many-positional`: many parameters told apart by their place alone.
    ManyPositional,
    /// `swappable-call`: bare values of one type in a row.
    SwappableCall,
    /// `positional-record`: a record told apart by places.
    PositionalRecord,
    /// `bool-trap`: several bare booleans at a call.
    BoolTrap,
    /// `clone`: the same body twice.
    Clone,
    /// `near-clone`: the same body but for its literals.
    NearClone,
    /// `twin`: a synchronous and an asynchronous copy of one body.
    Twin,
    /// `paired-codec`: two halves of one format in different files.
    PairedCodec,
    /// `test-reimplements`: a test computes what it expects as the code does.
    TestReimplements,
    /// `state-guard`: a method that fails unless another was called first.
    StateGuard,
    /// `field-handoff`: one method leaves a field for the next to pick up.
    FieldHandoff,
    /// `use-after-terminal`: used after it was finished.
    UseAfterTerminal,
    /// `lock-order`: two locks taken in both orders.
    LockOrder,
    /// `unpaired`: opened here, closed by nobody here.
    Unpaired,
    /// `sleep-sync`: waits a fixed time and hopes.
    SleepSync,
    /// `floating-async`: started and not waited for.
    FloatingAsync,
    /// `rmw-across-await`: read, waited, written back.
    RmwAcrossAwait,
    /// `toctou`: checked first, used later.
    Toctou,
    /// `detached`: started and never joined.
    Detached,
    /// `same-name-same-literal`: one value, written down in several places.
    SameNameSameLiteral,
    /// `shadowed-constant`: a constant's value written out beside the constant.
    ShadowedConstant,
    /// `repeated-string`: the same string in several files.
    RepeatedString,
    /// `co-assigned`: fields that always change together.
    CoAssigned,
    /// `mutable-default`: a default that all calls share.
    MutableDefault,
    /// `class-level-mutable`: a container that all instances share.
    ClassLevelMutable,
    /// `module-mutable`: a container that functions share behind everyone's back.
    ModuleMutable,
    /// `global-state`: one function writes what another reads, without passing it.
    GlobalState,
    /// `static-mut`: a mutable static.
    StaticMut,
    /// `static-mutable`: static state that methods change.
    StaticMutable,
    /// `literal-identity`: compares which object it is, not what it says.
    LiteralIdentity,
}

impl Rule {
    /// All of them, by kind.
    pub const ALL: [Self; 42] = [
        Self::DuplicateDefinition,
        Self::RecordShape,
        Self::AnyType,
        Self::UncheckedCast,
        Self::UntypedParameter,
        Self::MixedArguments,
        Self::MixedReturns,
        Self::CodedValue,
        Self::MagicNumberCond,
        Self::MagicNumberArith,
        Self::MagicReturn,
        Self::MagicStringEq,
        Self::ManyPositional,
        Self::SwappableCall,
        Self::PositionalRecord,
        Self::BoolTrap,
        Self::Clone,
        Self::NearClone,
        Self::Twin,
        Self::PairedCodec,
        Self::TestReimplements,
        Self::StateGuard,
        Self::FieldHandoff,
        Self::UseAfterTerminal,
        Self::LockOrder,
        Self::Unpaired,
        Self::SleepSync,
        Self::FloatingAsync,
        Self::RmwAcrossAwait,
        Self::Toctou,
        Self::Detached,
        Self::SameNameSameLiteral,
        Self::ShadowedConstant,
        Self::RepeatedString,
        Self::CoAssigned,
        Self::MutableDefault,
        Self::ClassLevelMutable,
        Self::ModuleMutable,
        Self::GlobalState,
        Self::StaticMut,
        Self::StaticMutable,
        Self::LiteralIdentity,
    ];

    fn card(self) -> &'static Card {
        CARDS.get(self as usize).unwrap_or(&FIRST)
    }

    /// The kind of connascence it finds.
    #[must_use]
    pub fn kind(self) -> Kind {
        self.card().kind
    }

    /// Its name in reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.card().name
    }

    /// What it finds, in a few words.
    #[must_use]
    pub fn title(self) -> &'static str {
        self.card().title
    }

    /// Why that makes code hard to change.
    #[must_use]
    pub fn why(self) -> &'static str {
        self.card().why
    }

    /// What to do about it.
    #[must_use]
    pub fn mend(self) -> &'static str {
        self.card().mend
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_and_cards_are_in_one_order() {
        for rule in Rule::ALL {
            let variant = format!("{rule:?}").to_lowercase();
            assert_eq!(rule.name().replace('-', ""), variant);
        }
    }
}
