//! Models by the many names they travel under.
//!
//! Owns: taking off what vendors put around a name: regions, clouds, dates, versions, context sizes.

/// A name as the price list has it: `us.anthropic.claude-opus-4-5-20251101-v1:0` is `claude-opus-4-5`.
pub(super) fn plain(name: &str) -> String {
    let name = name.trim().to_ascii_lowercase().replace('.', "-");
    let from = name.find("claude").or_else(|| Some(name.rfind('/')? + 1)).unwrap_or_default();
    let name = name.get(from..).unwrap_or_default();
    let name = name.split(['[', '@', ':']).next().unwrap_or_default();
    let mut words: Vec<&str> = name.split('-').collect();
    if is_day(&words) {
        words.truncate(words.len() - 3);
    }
    while let Some(last) = words.last() {
        let is_date = last.len() == 8 && last.bytes().all(|byte| byte.is_ascii_digit());
        let is_version = last.len() <= 3
            && last.strip_prefix('v').is_some_and(|rest| rest.bytes().all(|b| b.is_ascii_digit()));
        if !(is_date || is_version || last.is_empty() || *last == "latest" || *last == "0") {
            break;
        }
        words.pop();
    }
    words.join("-")
}

/// Whether the last words are a day: `2025-08-07`.
fn is_day(words: &[&str]) -> bool {
    let is_number =
        |word: &str, length| word.len() == length && word.bytes().all(|byte| byte.is_ascii_digit());
    matches!(words, [.., year, month, day] if is_number(year, 4) && is_number(month, 2) && is_number(day, 2))
}

/// What a model is one of, for want of its own price.
pub(super) fn family(plain: &str) -> Option<&'static str> {
    ["opus", "sonnet", "haiku", "fable", "mythos"].into_iter().find(|family| plain.contains(family))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_every_cloud_come_to_one() {
        for (name, expected) in [
            ("claude-opus-5-5", "claude-opus-5-5"),
            ("claude-opus-4-20250514", "claude-opus-4"),
            ("us.anthropic.claude-opus-4-5-20251101-v1:0", "claude-opus-4-5"),
            ("anthropic/claude-sonnet-4.5", "claude-sonnet-4-5"),
            ("claude-opus-4-1@20250805", "claude-opus-4-1"),
            ("claude-sonnet-4-5[1m]", "claude-sonnet-4-5"),
            ("claude-3-5-haiku-latest", "claude-3-5-haiku"),
            ("claude-opus-4-0", "claude-opus-4"),
            ("openai/gpt-5.1-codex", "gpt-5-1-codex"),
            ("gpt-5-2025-08-07", "gpt-5"),
            ("models/gemini-3.1-pro", "gemini-3-1-pro"),
        ] {
            assert_eq!(plain(name), expected, "{name}");
        }
    }
}
