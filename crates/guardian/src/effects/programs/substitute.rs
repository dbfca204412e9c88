//! `s/a/b/` on text that is known: what a disguise is put together with.
//!
//! Owns: substitutions with plain letters, dots, sets, stars and anchors. Refuses: groups, alternatives and every other command of sed;
//! then what comes out is not known.

/// The longest text that is followed.
const LARGEST: usize = 8192;
/// Steps of matching before it is too much.
const STEPS: u32 = 100_000;

/// What one place of a pattern fits.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Atom {
    Any,
    Letter(char),
    Set { letters: Vec<(char, char)>, is_not: bool },
}

/// A pattern: its places, which of them may stand many times, and whether it is held to an end of the line.
#[derive(Debug, Clone, Default)]
struct Pattern {
    places: Vec<(Atom, bool)>,
    begins: bool,
    ends: bool,
}

/// A part of what is put in.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    Letter(char),
    Found,
}

/// Text with every substitution of a script made; none where the script is more than that.
pub(super) fn substituted(text: &str, script: &str) -> Option<String> {
    if text.len() > LARGEST {
        return None;
    }
    let mut text = text.to_owned();
    let mut rest = script.trim();
    let mut steps = STEPS;
    while !rest.is_empty() {
        let (pattern, with, flags, behind) = command(rest)?;
        text = lines(&text, &pattern, &with, flags.contains('g'), &mut steps)?;
        rest = behind.trim_start_matches([';', '\n', ' ']);
    }
    Some(text)
}

/// `s`, what it looks for, what it puts there, its flags, and what is behind it.
fn command(script: &str) -> Option<(Pattern, Vec<Part>, &str, &str)> {
    let rest = script.strip_prefix('s')?;
    let mark = rest.chars().next().filter(|mark| !mark.is_alphanumeric() && *mark != '\\')?;
    let rest = rest.get(mark.len_utf8()..)?;
    let (from, rest) = part(rest, mark)?;
    let (to, rest) = part(rest, mark)?;
    let end = rest.find(|letter: char| !letter.is_ascii_alphanumeric()).unwrap_or(rest.len());
    let (flags, behind) = rest.split_at_checked(end)?;
    let is_plain = matches!(flags, "" | "g");
    (is_plain && !from.is_empty()).then_some(())?;
    Some((pattern(&from, mark)?, with(&to, mark)?, flags, behind))
}

/// Text up to a mark that no backslash stands before, and what is behind that mark.
fn part(text: &str, mark: char) -> Option<(String, &str)> {
    let mut is_kept = false;
    for (place, letter) in text.char_indices() {
        match letter {
            _ if is_kept => is_kept = false,
            '\\' => is_kept = true,
            letter if letter == mark => {
                return Some((text.get(..place)?.to_owned(), text.get(place + mark.len_utf8()..)?));
            }
            _ => {}
        }
    }
    None
}

fn pattern(text: &str, mark: char) -> Option<Pattern> {
    let mut found = Pattern::default();
    let mut letters = text.chars().peekable();
    if letters.peek() == Some(&'^') {
        letters.next();
        found.begins = true;
    }
    while let Some(letter) = letters.next() {
        let atom = match letter {
            '$' if letters.peek().is_none() => {
                found.ends = true;
                break;
            }
            '.' => Atom::Any,
            '[' => set(&mut letters)?,
            '\\' => match letters.next()? {
                's' => Atom::Set { letters: vec![(' ', ' '), ('\t', '\t')], is_not: false },
                'n' => Atom::Letter('\n'),
                't' => Atom::Letter('\t'),
                next if next == mark || next.is_ascii_punctuation() && !"(){}|+?<>".contains(next) => {
                    Atom::Letter(next)
                }
                _ => return None,
            },
            '*' if found.places.is_empty() => Atom::Letter('*'),
            '*' | '(' | ')' | '{' | '}' | '|' | '+' | '?' => return None,
            letter => Atom::Letter(letter),
        };
        let is_many = letters.peek() == Some(&'*');
        if is_many {
            letters.next();
        }
        found.places.push((atom, is_many));
    }
    Some(found)
}

fn set(letters: &mut std::iter::Peekable<std::str::Chars<'_>>) -> Option<Atom> {
    let is_not = letters.next_if_eq(&'^').is_some();
    let mut found = Vec::new();
    loop {
        match letters.next()? {
            ']' if !found.is_empty() => return Some(Atom::Set { letters: found, is_not }),
            '[' if letters.peek() == Some(&':') => return None,
            first if letters.peek() == Some(&'-') => {
                letters.next();
                match letters.next()? {
                    ']' => {
                        found.extend([(first, first), ('-', '-')]);
                        return Some(Atom::Set { letters: found, is_not });
                    }
                    last => found.push((first, last)),
                }
            }
            letter => found.push((letter, letter)),
        }
    }
}

fn with(text: &str, mark: char) -> Option<Vec<Part>> {
    let mut parts = Vec::new();
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        parts.push(match letter {
            '&' => Part::Found,
            '\\' => match letters.next()? {
                'n' => Part::Letter('\n'),
                't' => Part::Letter('\t'),
                next if next == mark || next.is_ascii_punctuation() || next == '\n' => Part::Letter(next),
                _ => return None,
            },
            letter => Part::Letter(letter),
        });
    }
    Some(parts)
}

fn lines(text: &str, pattern: &Pattern, with: &[Part], all: bool, steps: &mut u32) -> Option<String> {
    let mut out = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let (line, end) = line.strip_suffix('\n').map_or((line, ""), |line| (line, "\n"));
        changed(line, pattern, with, all, steps, &mut out)?;
        out.push_str(end);
        if out.len() > LARGEST {
            return None;
        }
    }
    Some(out)
}

fn changed(
    line: &str,
    pattern: &Pattern,
    with: &[Part],
    all: bool,
    steps: &mut u32,
    out: &mut String,
) -> Option<()> {
    let letters: Vec<char> = line.chars().collect();
    let mut place = 0;
    let mut is_done = false;
    // Where something was found, nothing is not found once more.
    let mut behind = None;
    while place <= letters.len() {
        let rest = letters.get(place..).unwrap_or_default();
        let length = if is_done || pattern.begins && place > 0 {
            None
        } else {
            fits(&pattern.places, rest, pattern.ends, steps)?
        };
        let Some(length) = length.filter(|length| *length > 0 || behind != Some(place)) else {
            out.extend(rest.first());
            place += 1;
            continue;
        };
        for part in with {
            match part {
                Part::Letter(letter) => out.push(*letter),
                Part::Found => out.extend(rest.iter().take(length)),
            }
        }
        is_done = !all;
        place += length;
        behind = Some(place);
        if length == 0 {
            out.extend(rest.first());
            place += 1;
        }
    }
    Some(())
}

/// How many letters a pattern takes, the most it can; `None` outside when that is too much work.
#[expect(clippy::option_option, reason = "too much work is not the same as no match")]
fn fits(places: &[(Atom, bool)], text: &[char], ends: bool, steps: &mut u32) -> Option<Option<usize>> {
    *steps = steps.checked_sub(1)?;
    let Some(((atom, is_many), rest)) = places.split_first() else {
        return Some((!ends || text.is_empty()).then_some(0));
    };
    if !is_many {
        return match text.split_first() {
            Some((letter, behind)) if is_in(atom, *letter) => {
                Some(fits(rest, behind, ends, steps)?.map(|length| length + 1))
            }
            _ => Some(None),
        };
    }
    let most = text.iter().take_while(|letter| is_in(atom, **letter)).count();
    for taken in (0..=most).rev() {
        if let Some(length) = fits(rest, text.get(taken..).unwrap_or_default(), ends, steps)? {
            return Some(Some(length + taken));
        }
    }
    Some(None)
}

fn is_in(atom: &Atom, letter: char) -> bool {
    match atom {
        Atom::Any => true,
        Atom::Letter(wanted) => *wanted == letter,
        Atom::Set { letters, is_not } => {
            letters.iter().any(|(low, high)| (low..=high).contains(&&letter)) != *is_not
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn substitutions_are_followed_where_they_are_plain() {
        for (text, script, made) in [
            ("rm -rf _opt", "s/_/\\//", Some("rm -rf /opt")),
            ("x", "s/.*/rm -rf \\/opt/", Some("rm -rf /opt")),
            ("bin\netc\n", "s|^|/|", Some("/bin\n/etc\n")),
            ("a.b.c", "s/\\./ /g", Some("a b c")),
            ("aXbX", "s/X//g;s/$/!/", Some("ab!")),
            ("12 rm", "s/^[0-9]* //", Some("rm")),
            ("/etc", "s/.*/rm -rf &/", Some("rm -rf /etc")),
            ("aaa", "s/a/b/", Some("baa")),
            ("abc", "s/a*/Q/g", Some("QbQcQ")),
            ("a", "s/\\(a\\)/\\1/", None),
            ("a", "1d", None),
        ] {
            assert_eq!(substituted(text, script).as_deref(), made, "{script}");
        }
        let many = "a".repeat(2000);
        assert_eq!(substituted(&many, "s/a*a*a*a*b//"), None);
    }
}
