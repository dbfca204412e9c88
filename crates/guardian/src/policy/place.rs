//! Places: parts of a machine rules know by name, each a list of path patterns.
//!
//! Owns: the patterns (the syntax of Claude Code's rules: `//etc`, `~/.ssh`, `/src` below the workspace, a bare name
//! anywhere, `!` takes out again) and whether a path is in a place, surely or perhaps. Refuses: to look at a disk.

use std::collections::BTreeMap;

use super::{
    certainty::Certainty,
    glob::is_like,
    target::{FILLED, HOLE, Name, Target, is_expansion},
};
use crate::effects::Context;

/// A pattern for paths: what it names, and all below it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PathPattern {
    anchor: Anchor,
    parts: Vec<String>,
    /// Takes out again.
    is_exception: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Anchor {
    Root,
    Home,
    Workspace,
    Anywhere,
}

/// The directories patterns hang on, as names.
#[derive(Debug, Clone, Default)]
pub(super) struct Grounds {
    home: Vec<String>,
    /// None when the work is about no directory of its own: a home, or what holds one, is nobody's to take apart.
    workspace: Option<Vec<String>>,
}

impl Grounds {
    pub(super) fn of(context: &Context) -> Self {
        let names = |path: &[u8]| -> Vec<String> {
            let target = Target::known(&String::from_utf8_lossy(path));
            target.names.into_iter().map(|name| name.text).collect()
        };
        let (home, workspace) = (names(&context.home), names(&context.workspace));
        let is_own = !workspace.is_empty() && !home.starts_with(&workspace);
        Self { home, workspace: is_own.then_some(workspace) }
    }

    /// A path in somebody else's home as it would be in this one: whoever works as root, or for another, meets those.
    fn brought_home(&self, target: &Target) -> Option<Target> {
        let is_below = |ground: &[String]| {
            target.names.len() >= ground.len()
                && target.names.iter().zip(ground).all(|(name, ground)| name.text == *ground)
        };
        let above = match target.names.first()?.text.as_str() {
            "home" | "Users" => 2,
            "root" => 1,
            _ => return None,
        };
        let is_mine = is_below(&self.home) || self.workspace.as_deref().is_some_and(is_below);
        let rest = target.names.get(above..).filter(|_| target.is_absolute && !is_mine)?;
        let home = self.home.iter().map(|text| Name { text: text.clone(), is_glob: false });
        Some(Target { names: home.chain(rest.iter().cloned()).collect(), ..target.clone() })
    }
}

impl PathPattern {
    pub(super) fn parse(text: &str) -> Self {
        let (is_exception, text) = text.strip_prefix('!').map_or((false, text), |rest| (true, rest));
        let (anchor, rest) = if let Some(rest) = text.strip_prefix("//") {
            (Anchor::Root, rest)
        } else if let Some(rest) =
            text.strip_prefix('~').filter(|rest| rest.is_empty() || rest.starts_with('/'))
        {
            (Anchor::Home, rest)
        } else if let Some(rest) = text.strip_prefix("**/") {
            (Anchor::Anywhere, rest)
        } else if text.contains('/') || text == "." {
            (Anchor::Workspace, text)
        } else {
            (Anchor::Anywhere, text)
        };
        let parts = rest.split('/').filter(|part| !matches!(*part, "" | ".")).map(str::to_owned).collect();
        Self { anchor, parts, is_exception }
    }

    /// The names below what it hangs on; none if the path is elsewhere.
    fn below<'t>(&self, names: &'t [Name], grounds: &Grounds) -> Option<&'t [Name]> {
        let ground: &[String] = match self.anchor {
            // `//root` is a part of the system, unless root is who works here.
            Anchor::Root if !self.parts.is_empty() && self.parts == grounds.home => return None,
            Anchor::Root | Anchor::Anywhere => &[],
            Anchor::Home => &grounds.home,
            Anchor::Workspace => grounds.workspace.as_deref()?,
        };
        let (front, rest) = names.split_at_checked(ground.len())?;
        front.iter().zip(ground).all(|(name, ground)| name.text == *ground).then_some(rest)
    }

    /// Says whether the names, taken as they are written, are its own.
    fn is_literal(&self, names: &[Name], grounds: &Grounds) -> bool {
        self.is_found(names, grounds, &|part, name| is_name(part, &name.text))
    }

    fn is_found(&self, names: &[Name], grounds: &Grounds, same: &dyn Fn(&str, &Name) -> bool) -> bool {
        match (self.anchor, self.below(names, grounds)) {
            (_, None) => false,
            (Anchor::Anywhere, Some(names)) => {
                (0..names.len()).any(|from| fits(&self.parts, names.get(from..).unwrap_or_default(), same))
            }
            (_, Some(names)) => fits(&self.parts, names, same),
        }
    }

    /// Says whether a glob stands for it. What is found anywhere must be meant: at least two letters of it are written.
    fn is_expanded(&self, target: &Target, grounds: &Grounds) -> bool {
        let is_anywhere = self.anchor == Anchor::Anywhere;
        let same = |part: &str, name: &Name| {
            // Letters that stand there, before a star or beside single wild ones: `.e*`, `.[e]nv`.
            let written = name.text.chars().take_while(|c| *c != '*').filter(|c| !"?[]".contains(*c)).count();
            let begun = name.text.chars().take_while(|c| !"*?[".contains(*c)).count();
            // `.*` stands for every hidden file, `.env` among them.
            let hidden = name.is_hidden() && part == ".env";
            let meant = hidden || begun >= 2 || !name.text.contains('*') && written >= 2;
            let expands = name.is_glob
                && !part.contains('*')
                && (meant || !is_anywhere)
                && is_expansion(&name.text, part);
            expands || is_name(part, &name.text)
        };
        target.names.iter().any(|name| name.is_glob) && self.is_found(&target.names, grounds, &same)
    }

    /// Says whether what is not known could make a path one of its own.
    fn is_possible(&self, target: &Target, grounds: &Grounds) -> bool {
        if !target.is_open || target.is_meant() {
            return false;
        }
        if self.anchor == Anchor::Anywhere {
            let last = target.names.last().filter(|name| name.is_open());
            let wanted = self.parts.iter().rev().find(|part| *part != "**");
            return last.zip(wanted).is_some_and(|(name, part)| {
                part.contains('*') || is_like(&name.text.replace([HOLE, FILLED], "*"), part, None)
            });
        }
        let Some(whole) = self.whole(grounds) else { return false };
        let front = target.front();
        front.len() <= whole.len() && front.iter().zip(&whole).all(|(name, whole)| name.text == *whole)
    }

    /// The names from the root to where it begins to be a pattern; none where there is nothing to hang it on.
    fn whole(&self, grounds: &Grounds) -> Option<Vec<String>> {
        let ground = match self.anchor {
            Anchor::Root | Anchor::Anywhere => Vec::new(),
            Anchor::Home => grounds.home.clone(),
            Anchor::Workspace => grounds.workspace.clone()?,
        };
        let literal = self.parts.iter().take_while(|part| !part.contains('*')).cloned();
        Some(ground.into_iter().chain(literal).collect())
    }

    /// Says whether whoever takes a directory takes this along.
    fn is_covered(&self, names: &[Name], grounds: &Grounds) -> bool {
        if self.is_exception || self.anchor == Anchor::Anywhere {
            return false;
        }
        let Some(whole) = self.whole(grounds) else { return false };
        let same = |name: &Name, whole: &String| {
            name.text == *whole || (name.is_glob && is_expansion(&name.text, whole))
        };
        names.len() <= whole.len() && names.iter().zip(&whole).all(|(name, whole)| same(name, whole))
    }
}

/// Says whether a name is as a part of a pattern wants it.
fn is_name(part: &str, name: &str) -> bool {
    if part.contains('*') { is_like(part, name, None) } else { part == name }
}

/// Says whether names begin with those a pattern wants.
fn fits(parts: &[String], names: &[Name], same: &dyn Fn(&str, &Name) -> bool) -> bool {
    match parts.split_first() {
        None => true,
        Some((part, rest)) if part == "**" => {
            rest.is_empty()
                || (0..names.len()).any(|from| fits(rest, names.get(from..).unwrap_or_default(), same))
        }
        Some((part, rest)) => {
            names.split_first().is_some_and(|(name, names)| same(part, name) && fits(rest, names, same))
        }
    }
}

/// A list of patterns, which is what a place is.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Area(Vec<PathPattern>);

impl Area {
    pub(super) fn parse<'p>(patterns: impl IntoIterator<Item = &'p str>) -> Self {
        Self(patterns.into_iter().map(PathPattern::parse).collect())
    }

    /// Whether an act on a path touches it. Of a path with a glob, one that it stands for is enough; what is kept in a
    /// home is kept in every home.
    pub(super) fn touches(&self, target: &Target, grounds: &Grounds) -> Certainty {
        let elsewhere = grounds.brought_home(target);
        let one = |pattern: &PathPattern| {
            let is_it = |target: &Target| {
                pattern.is_literal(&target.names, grounds) || pattern.is_expanded(target, grounds)
            };
            let is_kept = pattern.anchor == Anchor::Home && !pattern.parts.is_empty();
            if is_it(target) || is_kept && elsewhere.as_ref().is_some_and(is_it) {
                Certainty::Certain
            } else {
                Certainty::perhaps(pattern.is_possible(target, grounds))
            }
        };
        self.with_exceptions(target, grounds, Certainty::any(self.patterns().map(one)))
    }

    /// Whether an act on a path stays within it. Of a path with a glob, all that it stands for must.
    pub(super) fn confines(&self, target: &Target, grounds: &Grounds) -> Certainty {
        if target.is_meant() {
            return Certainty::Certain;
        }
        let one = |pattern: &PathPattern| {
            if pattern.is_literal(&target.names, grounds) {
                Certainty::when(target.is_absolute || pattern.anchor == Anchor::Anywhere)
            } else {
                Certainty::perhaps(pattern.is_possible(target, grounds))
            }
        };
        self.with_exceptions(target, grounds, Certainty::any(self.patterns().map(one)))
    }

    /// Whether whoever takes a directory with all below it takes some of it along. What an unset variable would leave
    /// counts as what is meant, unless that is still in the workspace.
    pub(super) fn covered(&self, target: &Target, grounds: &Grounds) -> Certainty {
        let by = |target: &Target| self.patterns().any(|p| p.is_covered(target.emptied(), grounds));
        if !target.is_open {
            return Certainty::when(target.is_absolute && by(target));
        }
        if target.is_meant() {
            return Certainty::No;
        }
        let workspace = PathPattern { anchor: Anchor::Workspace, parts: Vec::new(), is_exception: false };
        match target.unset() {
            Some(left) if workspace.is_literal(&left.names, grounds) => Certainty::No,
            // What has a beginning of its own was at least not written for the root.
            Some(left) if !target.front().is_empty() => Certainty::perhaps(by(&left)),
            Some(left) => Certainty::when(by(&left)),
            None => Certainty::Possible,
        }
    }

    /// As [`Self::covered`], of those in the home alone.
    pub(super) fn covered_at_home(&self, target: &Target, grounds: &Grounds) -> Certainty {
        let at_home = self.patterns().filter(|pattern| pattern.anchor == Anchor::Home);
        Self(at_home.cloned().collect()).covered(target, grounds)
    }

    fn patterns(&self) -> impl Iterator<Item = &PathPattern> {
        self.0.iter().filter(|pattern| !pattern.is_exception)
    }

    fn with_exceptions(&self, target: &Target, grounds: &Grounds, found: Certainty) -> Certainty {
        let is_excepted = found != Certainty::No
            && self
                .0
                .iter()
                .any(|pattern| pattern.is_exception && pattern.is_literal(&target.names, grounds));
        if is_excepted { Certainty::No } else { found }
    }
}

/// Every place, by name.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Places(BTreeMap<String, Area>);

impl Places {
    /// Puts patterns to a place, or begins one.
    pub(super) fn extend<'p>(&mut self, name: &str, patterns: impl IntoIterator<Item = &'p str>) {
        self.0.entry(name.to_owned()).or_default().0.extend(Area::parse(patterns).0);
    }

    pub(super) fn area(&self, name: &str) -> Option<&Area> {
        self.0.get(name)
    }

    /// The names there are.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }
}
