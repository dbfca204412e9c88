//! Patterns of paths: `*` and `?` within a name, `**` across names; a pattern without `/` is about a name anywhere, and a
//! directory stands for everything in it.

/// Says whether a pattern is about a path, both relative to the workspace.
pub(super) fn matches(pattern: &str, path: &str) -> bool {
    let pattern = pattern.trim_start_matches("./").trim_start_matches('/').trim_end_matches('/');
    let names: Vec<&str> = path.split('/').collect();
    if !pattern.contains('/') && pattern != "**" {
        return names.iter().any(|name| fits(pattern.as_bytes(), name.as_bytes()));
    }
    let parts: Vec<&str> = pattern.split('/').collect();
    (1..=names.len()).any(|end| walk(&parts, names.get(..end).unwrap_or_default()))
}

fn walk(parts: &[&str], names: &[&str]) -> bool {
    match (parts.split_first(), names.split_first()) {
        (None, None) => true,
        (None, Some(_)) => false,
        (Some((&"**", rest)), None) => walk(rest, names),
        (Some((&"**", rest)), Some((_, fewer))) => walk(rest, names) || walk(parts, fewer),
        (Some(_), None) => false,
        (Some((part, rest)), Some((name, fewer))) => {
            fits(part.as_bytes(), name.as_bytes()) && walk(rest, fewer)
        }
    }
}

/// One name; `*` goes back no further than the last one, so that it takes no more than length times length.
fn fits(pattern: &[u8], name: &[u8]) -> bool {
    let (mut at, mut here, mut star) = (0, 0, None);
    while here < name.len() {
        match pattern.get(at) {
            Some(b'*') => {
                star = Some((at, here));
                at += 1;
            }
            Some(byte) if *byte == b'?' || name.get(here) == Some(byte) => {
                at += 1;
                here += 1;
            }
            _ => {
                let Some((mark, from)) = star else { return false };
                star = Some((mark, from + 1));
                (at, here) = (mark + 1, from + 1);
            }
        }
    }
    pattern.get(at..).unwrap_or_default().iter().all(|byte| *byte == b'*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_fit_what_people_mean() {
        for (pattern, path, wanted) in [
            ("*.xml", "target/report.xml", true),
            ("*.xml", "report.xml.bak", false),
            ("target/*.xml", "target/report.xml", true),
            ("target/*.xml", "target/deep/report.xml", false),
            ("target/**/*.xml", "target/deep/report.xml", true),
            ("target/**/*.xml", "target/report.xml", true),
            ("migrations", "db/migrations/1.sql", true),
            ("db/migrations/", "db/migrations/1.sql", true),
            ("./a?c", "abc", true),
            ("**", "any/thing", true),
            (".env*", "config/.env.local", true),
            ("src/*", "src2/a", false),
        ] {
            assert_eq!(matches(pattern, path), wanted, "{pattern} {path}");
        }
        let hard = "*a".repeat(200);
        assert!(!matches(&hard, &"a".repeat(199)));
    }
}
