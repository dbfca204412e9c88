//! Paths and words with stars: `*` is anything but a slash, `**` anything at all.

/// Says whether a text is as a pattern wants it, from beginning to end. A single star stops at this character.
pub(crate) fn is_like(pattern: &str, text: &str, stops_at: Option<char>) -> bool {
    if !pattern.contains('*') {
        return pattern == text;
    }
    let (pattern, text): (Vec<char>, Vec<char>) = (pattern.chars().collect(), text.chars().collect());
    // Where to go on when what follows a star does not fit: only the last star of each kind is ever tried again.
    let (mut p, mut t) = (0, 0);
    let mut single: Option<(usize, usize)> = None;
    let mut double: Option<Anywhere> = None;
    loop {
        let star = pattern.get(p) == Some(&'*');
        if star && pattern.get(p + 1) == Some(&'*') {
            // `**/` stands for any directories, and for none.
            let is_whole = pattern.get(p + 2) == Some(&'/') && is_begin(&text, t);
            p += if is_whole { 3 } else { 2 };
            (single, double) = (None, Some(Anywhere { after: p, from: t, is_whole }));
        } else if star {
            p += 1;
            single = Some((p, t));
        } else if p == pattern.len() && t == text.len() {
            return true;
        } else if pattern.get(p).is_some_and(|c| text.get(t) == Some(c)) {
            p += 1;
            t += 1;
        } else if let Some((after, from)) = single.filter(|(_, from)| may_skip(&text, *from, stops_at)) {
            single = Some((after, from + 1));
            (p, t) = (after, from + 1);
        } else if let Some(next) = double.and_then(|star| star.next(&text)) {
            (p, t) = (next.after, next.from);
            (single, double) = (None, Some(next));
        } else {
            return false;
        }
    }
}

/// A double star: what follows it in the pattern, and where that was last looked for.
#[derive(Clone, Copy)]
struct Anywhere {
    after: usize,
    from: usize,
    /// What follows begins a name.
    is_whole: bool,
}

impl Anywhere {
    /// The next place to look.
    fn next(self, text: &[char]) -> Option<Self> {
        let from = (self.from + 1..=text.len()).find(|at| !self.is_whole || is_begin(text, *at))?;
        Some(Self { from, ..self })
    }
}

fn is_begin(text: &[char], at: usize) -> bool {
    at == 0 || text.get(at - 1) == Some(&'/')
}

fn may_skip(text: &[char], at: usize, stops_at: Option<char>) -> bool {
    text.get(at).is_some_and(|c| Some(*c) != stops_at)
}

/// A path as it would be found from a directory, with `.` and `..` worked out; links are not looked at.
pub(crate) fn resolved(path: &str, cwd: Option<&str>, home: Option<&str>) -> String {
    let whole = match (path.strip_prefix("~/"), home) {
        (Some(rest), Some(home)) => format!("{home}/{rest}"),
        _ if path.starts_with('/') => path.to_owned(),
        _ => format!("{}/{path}", cwd.unwrap_or_default()),
    };
    let mut parts: Vec<&str> = Vec::new();
    for part in whole.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    format!("/{}", parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_stand_for_what_they_may() {
        for (pattern, text, like) in [
            ("/a/*.rs", "/a/b.rs", true),
            ("/a/*.rs", "/a/b/c.rs", false),
            ("/a/**", "/a/b/c.rs", true),
            ("/a/**/c.rs", "/a/c.rs", true),
            ("/a/**/c.rs", "/a/x/y/c.rs", true),
            ("/a/**/c.rs", "/a/x/y/cc.rs", false),
            ("**/.env", "/w/.env", true),
            ("**/.env", "/w/.environment", false),
            ("/a/*/c*", "/a/b/cd", true),
            ("/a", "/a/", false),
            ("*", "", true),
        ] {
            assert_eq!(is_like(pattern, text, Some('/')), like, "{pattern} {text}");
        }
        assert!(is_like("npm run *", "npm run test/unit", None));
    }

    #[test]
    fn a_hostile_pattern_takes_no_time() {
        let text = "a".repeat(5_000);
        assert!(!is_like(&"*a".repeat(500), &format!("{text}b"), Some('/')));
        assert!(!is_like(&"**a".repeat(500), &format!("{text}b"), Some('/')));
    }

    #[test]
    fn paths_are_worked_out() {
        assert_eq!(resolved("../b/./c", Some("/w/a"), None), "/w/b/c");
        assert_eq!(resolved("~/x", Some("/w"), Some("/home/u")), "/home/u/x");
        assert_eq!(resolved("/a/../../etc", None, None), "/etc");
    }
}
