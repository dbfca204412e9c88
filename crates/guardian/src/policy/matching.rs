//! Whether an effect is one a condition is about: surely, perhaps, or not.
//!
//! Owns: how each part of a condition is held against each act. Refuses: to guess. What holds whatever the unknown pieces
//! come to is certain; what some of them could make true is possible; see docs/adr/0011-three-answers.md.

use super::{
    certainty::Certainty,
    condition::Condition,
    place::{Area, Grounds, Places},
    target::{Target, is_wild},
    words::{DataWord, Kind},
};
use crate::effects::{Act, Code, Datum, Effect, Power};
use crate::redact::{self, is_telling};
use crate::shell::value::Value;

/// What conditions are held against beside the effect: where things are.
#[derive(Debug)]
pub(super) struct Site<'p> {
    pub(super) places: &'p Places,
    pub(super) grounds: Grounds,
}

impl Site<'_> {
    fn areas<'s>(&'s self, names: &'s [String]) -> impl Iterator<Item = &'s Area> {
        names.iter().filter_map(|name| self.places.area(name))
    }

    /// Whether a path is in one of these places.
    pub(super) fn is_within(&self, target: &Target, deep: bool, names: &[String]) -> Certainty {
        Certainty::any(self.areas(names).map(|area| {
            let touched = area.touches(target, &self.grounds);
            // Whoever reads or sends a home with all below it reads what lies there.
            if deep { touched.or(area.covered_at_home(target, &self.grounds)) } else { touched }
        }))
    }

    /// Whether a path is in none of these places.
    pub(super) fn is_outside(&self, target: &Target, names: &[String]) -> Certainty {
        Certainty::any(self.areas(names).map(|area| area.confines(target, &self.grounds))).contrary()
    }

    fn holds(&self, target: &Target, names: &[String]) -> Certainty {
        Certainty::any(self.areas(names).map(|area| area.covered(target, &self.grounds)))
    }
}

impl Condition {
    /// How sure it is that this is such an effect.
    pub(super) fn is_met(&self, effect: &Effect, site: &Site<'_>) -> Certainty {
        if !self.kind.contains(&Kind::of(&effect.act)) {
            return Certainty::No;
        }
        let about = About::of(&effect.act);
        let flags = [
            (self.deep, about.deep),
            (self.filtered, about.filtered),
            (self.loses, about.loses),
            (self.destroys, about.destroys),
            (self.global, about.global),
            (self.foreign, about.foreign),
            (self.own, about.own),
        ];
        let is_flagged = flags.iter().all(|(wanted, is)| wanted.is_none() || wanted == is);
        if !is_flagged
            || !is_among(&self.change, about.change(&effect.act))
            || !is_among(&self.traffic, about.traffic(&effect.act))
            || !is_among(&self.code, about.code(&effect.act))
            || !is_worded(&self.by, &effect.by)
            || !about
                .operation
                .as_deref()
                .map_or(self.operation.is_empty(), |said| is_worded(&self.operation, said))
            || !about.target.as_deref().map_or(self.target.is_empty(), |said| is_worded(&self.target, said))
        {
            return Certainty::No;
        }
        let texts = [(&self.mode, about.mode), (&self.host, about.host)];
        let said = texts.into_iter().map(|(wanted, value)| is_valued(wanted, value));
        let parts = said.chain([
            self.is_path_met(about.path, matches!(effect.act, Act::Read { deep: true, .. }), site),
            self.is_data_met(&effect.act, site),
            self.is_package_met(&effect.act),
        ]);
        parts.fold(Certainty::Certain, Certainty::and)
    }

    fn is_path_met(&self, path: Option<&Value>, deep: bool, site: &Site<'_>) -> Certainty {
        let wants = [&self.within, &self.outside, &self.covers, &self.path];
        if wants.iter().all(|wanted| wanted.is_empty()) {
            return Certainty::Certain;
        }
        let Some(path) = path else { return Certainty::No };
        let target = Target::of(path);
        let unless = |wanted: &[String], found: &dyn Fn() -> Certainty| {
            if wanted.is_empty() { Certainty::Certain } else { found() }
        };
        let area = || {
            let is_all = self.path.iter().all(|path| path.starts_with('!'));
            let any = is_all.then_some("//").into_iter();
            Area::parse(any.chain(self.path.iter().map(String::as_str))).touches(&target, &site.grounds)
        };
        unless(&self.within, &|| site.is_within(&target, deep, &self.within))
            .and(unless(&self.outside, &|| site.is_outside(&target, &self.outside)))
            .and(unless(&self.covers, &|| site.holds(&target, &self.covers)))
            .and(unless(&self.path, &area))
    }

    fn is_data_met(&self, act: &Act, site: &Site<'_>) -> Certainty {
        let Act::Network { data, to, .. } = act else { return Certainty::when(self.data.is_empty()) };
        if self.data.is_empty() {
            return Certainty::Certain;
        }
        let pairs = data.iter().flat_map(|datum| self.data.iter().map(move |word| (datum, *word)));
        // What stands in an address behind its `?` is sent with it.
        let asked = to.prefix().splitn(2, |byte| *byte == b'?').nth(1);
        let betrays = self.data.contains(&DataWord::Secret) && asked.is_some_and(redact::betrays);
        Certainty::when(betrays).or(Certainty::any(pairs.map(|(datum, word)| is_datum(datum, word, site))))
    }

    fn is_package_met(&self, act: &Act) -> Certainty {
        let Act::Package { names, .. } = act else { return Certainty::when(self.package.is_empty()) };
        Certainty::when(self.package.is_empty() || names.iter().any(|name| is_worded(&self.package, name)))
    }
}

/// What an act says to each part of a condition.
#[derive(Default)]
struct About<'a> {
    path: Option<&'a Value>,
    deep: Option<bool>,
    filtered: Option<bool>,
    mode: Option<&'a Value>,
    host: Option<&'a Value>,
    operation: Option<String>,
    target: Option<String>,
    loses: Option<bool>,
    destroys: Option<bool>,
    global: Option<bool>,
    foreign: Option<bool>,
    own: Option<bool>,
}

impl<'a> About<'a> {
    fn of(act: &'a Act) -> Self {
        let said = |operation: &str| Self { operation: Some(operation.to_owned()), ..Self::default() };
        match act {
            Act::Read { path, deep } => Self { path: Some(path), deep: Some(*deep), ..Self::default() },
            Act::Look { path } | Act::Write { path, .. } | Act::Disk { device: path } => {
                Self { path: Some(path), ..Self::default() }
            }
            Act::Delete { path, deep, filtered } => {
                Self { path: Some(path), deep: Some(*deep), filtered: Some(*filtered), ..Self::default() }
            }
            Act::Permit { path, deep, to } => {
                Self { path: Some(path), deep: Some(*deep), mode: Some(to), ..Self::default() }
            }
            Act::Signal { target, own } => Self { own: Some(*own), ..said(&shown(target)) },
            Act::Power(power) => said(&power_words(power)),
            Act::Privilege { how } | Act::Persist { how } | Act::Tamper { how } => said(how),
            Act::Reveal { what } => said(what),
            Act::Network { to, .. } => Self { host: Some(to), ..Self::default() },
            Act::Run { code, with } => {
                let path = if let Code::File(path) = code { Some(path) } else { None };
                let operation = match code {
                    Code::Package(name) | Code::Program(name) => name,
                    Code::File(_) | Code::Download(_) | Code::Project => with,
                };
                Self { path, ..said(operation) }
            }
            Act::Git { operation, loses, target } => {
                Self { loses: Some(*loses), target: target.clone(), ..said(operation) }
            }
            Act::Infrastructure { operation, destroys } => {
                Self { destroys: Some(*destroys), ..said(operation) }
            }
            Act::Database { statement, destroys } => Self { destroys: Some(*destroys), ..said(statement) },
            Act::Package { operation, global, from, manager, .. } => {
                let (global, foreign) = (Some(*global), Some(from.is_some()));
                Self { global, foreign, ..said(&format!("{manager} {operation}")) }
            }
            Act::Spawn { agent } => said(agent),
            Act::Tool { name } => said(name),
            Act::Compute => Self::default(),
            Act::Unknown(why) => said(&why.construct),
        }
    }

    fn change(&self, act: &Act) -> Option<super::words::ChangeWord> {
        if let Act::Write { change, .. } = act { Some((*change).into()) } else { None }
    }

    fn traffic(&self, act: &Act) -> Option<super::words::TrafficWord> {
        if let Act::Network { traffic, .. } = act { Some((*traffic).into()) } else { None }
    }

    fn code(&self, act: &Act) -> Option<super::words::CodeWord> {
        if let Act::Run { code, .. } = act { Some(code.into()) } else { None }
    }
}

/// What happens to the machine, as conditions say it.
pub(super) fn power_words(power: &Power) -> String {
    match power {
        Power::Machine => "machine".to_owned(),
        Power::Service(which) => format!("service {}", shown(which)),
        Power::Kernel(what) => format!("kernel {what}"),
        Power::Exhaust => "exhaust".to_owned(),
        Power::Accounts(what) => format!("accounts {what}"),
    }
}

/// A value as it is written, with `…` for what is not known.
pub(super) fn shown(value: &Value) -> String {
    use crate::shell::value::Piece;
    let piece = |piece: &Piece| match piece {
        Piece::Known(bytes) | Piece::Glob(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        Piece::Unknown(_) => "…".to_owned(),
    };
    value.pieces.iter().map(piece).collect()
}

fn is_among<T: PartialEq>(wanted: &[T], is: Option<T>) -> bool {
    wanted.is_empty() || is.is_some_and(|is| wanted.contains(&is))
}

/// Words with stars, of which any fits and none that `!` takes out; upper and lower case are one.
pub(super) fn is_worded(wanted: &[String], said: &str) -> bool {
    if wanted.is_empty() {
        return true;
    }
    let said = said.to_lowercase();
    let like = |pattern: &str| is_wild(&pattern.to_lowercase(), &said);
    let mut positive = wanted.iter().filter(|pattern| !pattern.starts_with('!')).peekable();
    let is_wanted = positive.peek().is_none() || positive.any(|pattern| like(pattern));
    is_wanted && !wanted.iter().filter_map(|pattern| pattern.strip_prefix('!')).any(like)
}

/// The same of a value that may not be known.
fn is_valued(wanted: &[String], value: Option<&Value>) -> Certainty {
    match value {
        _ if wanted.is_empty() => Certainty::Certain,
        None => Certainty::No,
        Some(value) if value.why().is_some() && value.prefix().is_empty() => Certainty::Possible,
        Some(value) => {
            let (whole, is_scheme) = (shown(value), |wanted: &String| wanted.contains("://"));
            let (schemes, hosts): (Vec<String>, Vec<String>) = wanted.iter().cloned().partition(is_scheme);
            let is_scheme = !schemes.is_empty() && is_worded(&schemes, &whole);
            Certainty::when(is_scheme || (!hosts.is_empty() && is_worded(&hosts, &host(&whole))))
        }
    }
}

/// The host of a URL or of `user@host:path`; anything else is as it is.
pub(super) fn host(text: &str) -> String {
    let rest = text.split_once("://").map_or(text, |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#', '\\']).next().unwrap_or(rest);
    let host = authority.rsplit('@').next().unwrap_or(authority);
    if host.starts_with('[') {
        return host.split(']').next().unwrap_or(host).trim_start_matches('[').to_owned();
    }
    host.split(':').next().unwrap_or(host).trim_end_matches('.').to_owned()
}

fn is_datum(datum: &Datum, word: DataWord, site: &Site<'_>) -> Certainty {
    let within = |path: &Value, place: &str| site.is_within(&Target::of(path), true, &[place.to_owned()]);
    match (word, datum) {
        (DataWord::Secret, Datum::File(path)) => within(path, "secret"),
        (DataWord::Secret, Datum::Environment(Some(name))) => Certainty::when(is_telling(name)),
        (DataWord::Outside, Datum::File(path)) => {
            site.is_outside(&Target::of(path), &["workspace".to_owned(), "temp".to_owned()])
        }
        (DataWord::Workspace, Datum::File(path)) => site.holds(&Target::of(path), &["workspace".to_owned()]),
        (DataWord::Secret | DataWord::Environment, Datum::Environment(None))
        | (DataWord::Secret, Datum::Secret(_))
        | (DataWord::File, Datum::File(_))
        | (DataWord::Environment, Datum::Environment(_))
        | (DataWord::Download, Datum::Download(_))
        | (DataWord::Unknown, Datum::Unknown(_)) => Certainty::Certain,
        (DataWord::Secret, Datum::Text(text)) => Certainty::when(redact::betrays(text.prefix())),
        (DataWord::Secret, Datum::Unknown(_)) => Certainty::Possible,
        _ => Certainty::No,
    }
}
