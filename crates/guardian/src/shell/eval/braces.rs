//! Brace expansion: `{a,b}` and `{1..9}`, before anything else.
//!
//! Owns: the words one word becomes. Refuses: more than a bounded number of them.

use crate::shell::ast::{Part, Word};

/// Words one word may become.
const LARGEST: usize = 1024;

/// Whether there is anything to expand.
pub(super) fn are_in(word: &Word) -> bool {
    word.parts.iter().any(|part| matches!(part, Part::Braces(_) | Part::Sequence(_)))
}

/// The words a word becomes; none when they are too many.
pub(super) fn expanded(word: &Word) -> Option<Vec<Word>> {
    let words = alternatives(word)?;
    Some(words.into_iter().map(|parts| Word { parts, span: word.span }).collect())
}

fn alternatives(word: &Word) -> Option<Vec<Vec<Part>>> {
    let mut words: Vec<Vec<Part>> = vec![Vec::new()];
    for part in &word.parts {
        let choices: Vec<Vec<Part>> = match part {
            Part::Braces(inner) => {
                let mut all = Vec::new();
                for word in inner {
                    all.extend(alternatives(word)?);
                    if all.len() > LARGEST {
                        return None;
                    }
                }
                all
            }
            Part::Sequence(written) => match sequence(written)? {
                Some(texts) => texts
                    .into_iter()
                    .map(|text| vec![Part::Literal { quoted: text.is_empty(), text }])
                    .collect(),
                None => vec![vec![part.clone()]],
            },
            Part::Literal { .. }
            | Part::Parameter { .. }
            | Part::Command { .. }
            | Part::Arithmetic { .. }
            | Part::Process { .. }
            | Part::Tilde(_)
            | Part::Glob(_)
            | Part::ExtGlob { .. }
            | Part::Array(_)
            | Part::Unknown(_) => vec![vec![part.clone()]],
        };
        if words.len() * choices.len() > LARGEST {
            return None;
        }
        words = words
            .iter()
            .flat_map(|before| {
                choices.iter().map(move |choice| before.iter().chain(choice).cloned().collect())
            })
            .collect();
    }
    Some(words)
}

/// What a sequence stands for: nothing at the outside when it is too long, nothing inside when it is no sequence after all.
#[expect(clippy::option_option, reason = "too long and not a sequence are different answers")]
fn sequence(written: &[u8]) -> Option<Option<Vec<Vec<u8>>>> {
    let Ok(text) = std::str::from_utf8(written) else { return Some(None) };
    let parts: Vec<&str> = text.split("..").collect();
    let (first, last, step) = match parts.as_slice() {
        [first, last] => (*first, *last, "1"),
        [first, last, step] => (*first, *last, *step),
        _ => return Some(None),
    };
    let Ok(step) = step.parse::<i64>() else { return Some(None) };
    let step = if step == 0 { 1 } else { step.saturating_abs() };
    if let (Ok(from), Ok(to)) = (first.parse::<i64>(), last.parse::<i64>()) {
        let padded = [first, last].iter().any(|end| {
            let digits = end.trim_start_matches(['-', '+']);
            digits.len() > 1 && digits.starts_with('0')
        });
        let width = if padded { first.len().max(last.len()) } else { 0 };
        let numbers = between(from, to, step)?;
        return Some(Some(numbers.into_iter().map(|number| padded_number(number, width)).collect()));
    }
    match (first.as_bytes(), last.as_bytes()) {
        ([from], [to]) if from.is_ascii_alphabetic() && to.is_ascii_alphabetic() => {
            let letters = between(i64::from(*from), i64::from(*to), step)?;
            Some(Some(
                letters
                    .into_iter()
                    .filter_map(|letter| u8::try_from(letter).ok())
                    // A backslash among them keeps what stands behind it, and goes.
                    .map(|letter| if letter == b'\\' { Vec::new() } else { vec![letter] })
                    .collect(),
            ))
        }
        _ => Some(None),
    }
}

fn between(from: i64, to: i64, step: i64) -> Option<Vec<i64>> {
    let count = usize::try_from(to.checked_sub(from)?.checked_abs()? / step).ok()?;
    if count >= LARGEST {
        return None;
    }
    let step = if to < from { -step } else { step };
    let mut numbers = Vec::with_capacity(count + 1);
    let mut number = from;
    for _ in 0..=count {
        numbers.push(number);
        number = number.saturating_add(step);
    }
    Some(numbers)
}

fn padded_number(number: i64, width: usize) -> Vec<u8> {
    if number < 0 {
        format!("-{:0>width$}", number.unsigned_abs(), width = width.saturating_sub(1)).into_bytes()
    } else {
        format!("{number:0>width$}").into_bytes()
    }
}
