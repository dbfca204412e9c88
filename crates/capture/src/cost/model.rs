//! Models by the many names they travel under.
//!
//! Owns: taking off what vendors put around a name: regions, clouds, dates, versions, context sizes.

/// A name as the price list has it: `us.anthropic.claude-opus-4-5-20251101-v1:0` is `claude-opus-4-5`.
pub(super) fn plain(name: &str) -> String {
    let name = name.trim().to_ascii_lowercase().replace('.', "-");
    let from = name.find("claude").unwrap_or_default();
    let name = name.get(from..).unwrap_or_default();
    let name = name.split(['[', '@', ':']).next().unwrap_or_default();
    let mut words: Vec<&str> = name.split('-').collect();
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
        ] {
            assert_eq!(plain(name), expected, "{name}");
        }
    }
}
