//! A small reader of SQL: which statements destroy more than the rows they name.
//!
//! Owns: statements told apart, words in strings and comments passed over. Refuses: to be a database.

use crate::effects::act::Act;

/// The statements of a text as acts.
pub(in crate::effects) fn statements(text: &str) -> Vec<Act> {
    split(text)
        .into_iter()
        .map(|words| {
            let destroys = destroys(&words);
            let shown: Vec<&str> = words.iter().map(String::as_str).take(8).collect();
            Act::Database { statement: shown.join(" "), destroys }
        })
        .collect()
}

/// The statements as their words; strings are `''`.
fn split(text: &str) -> Vec<Vec<String>> {
    let mut statements = vec![Vec::new()];
    let mut word = String::new();
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        let ends = !(letter.is_alphanumeric() || matches!(letter, '_' | '.' | '$' | '*'));
        if ends && !word.is_empty() {
            push(&mut statements, std::mem::take(&mut word));
        }
        match letter {
            '\'' => {
                skip(&mut letters, '\'');
                push(&mut statements, "''".to_owned());
            }
            quote @ ('"' | '`') => push(&mut statements, skip(&mut letters, quote)),
            '-' if letters.peek() == Some(&'-') => {
                while letters.next().is_some_and(|letter| letter != '\n') {}
            }
            '#' => while letters.next().is_some_and(|letter| letter != '\n') {},
            '/' if letters.peek() == Some(&'*') => {
                let mut last = ' ';
                letters.next();
                for letter in letters.by_ref() {
                    if last == '*' && letter == '/' {
                        break;
                    }
                    last = letter;
                }
            }
            ';' => statements.push(Vec::new()),
            letter if ends => {
                if matches!(letter, '=' | '(' | ')' | ',' | '<' | '>') {
                    push(&mut statements, letter.to_string());
                }
            }
            letter => word.push(letter),
        }
    }
    if !word.is_empty() {
        push(&mut statements, word);
    }
    statements.retain(|words| !words.is_empty());
    statements
}

fn push(statements: &mut [Vec<String>], word: String) {
    if let Some(last) = statements.last_mut() {
        last.push(word);
    }
}

/// What stands up to a closing quote; a doubled one is part of it.
fn skip(letters: &mut std::iter::Peekable<std::str::Chars<'_>>, quote: char) -> String {
    let mut inner = String::new();
    while let Some(letter) = letters.next() {
        if letter == quote {
            if letters.peek() != Some(&quote) {
                break;
            }
            letters.next();
        }
        inner.push(letter);
    }
    inner
}

fn destroys(words: &[String]) -> bool {
    let upper: Vec<String> = words.iter().map(|word| word.to_ascii_uppercase()).collect();
    let upper: Vec<&str> = upper.iter().map(String::as_str).collect();
    let has = |wanted: &str| upper.contains(&wanted);
    // `EXPLAIN` only says what it would do; with `ANALYZE` it does it.
    let body = match upper.as_slice() {
        ["EXPLAIN", rest @ ..] if !rest.contains(&"ANALYZE") => return false,
        ["WITH" | "EXPLAIN", ..] => upper.as_slice(),
        all => all,
    };
    let limited = || match upper.iter().position(|word| *word == "WHERE") {
        // `WHERE 1=1` and `WHERE true` name every row.
        Some(place) => !matches!(
            upper.get(place + 1..).unwrap_or_default(),
            ["1", "=", "1"] | ["TRUE" | "1"] | ["''", "=", "''"] | ["1", "=", "1", "OR", ..]
        ),
        None => false,
    };
    match body {
        ["DROP" | "TRUNCATE" | "PURGE" | "FLUSHALL" | "FLUSHDB", ..] => true,
        ["ALTER", ..] => has("DROP") || has("TRUNCATE"),
        ["DELETE", ..] => !limited(),
        ["UPDATE", ..] => !limited(),
        ["WITH" | "EXPLAIN", ..] if has("DELETE") || has("UPDATE") => !limited(),
        ["DETACH" | "RENAME" | "SHUTDOWN" | "RESET", ..] => true,
        ["REVOKE", ..] => false,
        ["SELECT", rest @ ..] => {
            rest.iter().any(|word| matches!(*word, "PG_TERMINATE_BACKEND" | "LO_UNLINK" | "DBLINK_EXEC"))
                || rest.windows(2).any(|pair| pair == ["INTO", "OUTFILE"])
        }
        ["COPY", ..] => has("PROGRAM"),
        ["VACUUM", ..] => false,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_destroys_is_told_from_what_mentions_it() {
        for (sql, destroys) in [
            ("DROP TABLE users", true),
            ("drop database if exists x;", true),
            ("TRUNCATE users", true),
            ("DELETE FROM users", true),
            ("delete from users where 1=1", true),
            ("DELETE FROM users WHERE id = 3", false),
            ("UPDATE users SET a = 1", true),
            ("UPDATE users SET a = 1 WHERE id = 2", false),
            ("ALTER TABLE x DROP COLUMN y", true),
            ("ALTER TABLE x ADD COLUMN y int", false),
            ("SELECT 'DROP TABLE users'", false),
            ("SELECT 1 -- DROP TABLE users", false),
            ("/* DROP TABLE x */ SELECT 1", false),
            ("SELECT dropped FROM t", false),
            ("INSERT INTO t VALUES ('a; DROP TABLE x')", false),
            ("CREATE TABLE t (id int)", false),
            ("WITH gone AS (DELETE FROM t RETURNING *) SELECT 1", true),
            ("EXPLAIN DELETE FROM t", false),
        ] {
            let found = statements(sql);
            let any = found.iter().any(|act| matches!(act, Act::Database { destroys: true, .. }));
            assert_eq!(any, destroys, "{sql} {found:?}");
        }
        assert_eq!(statements("SELECT 1; DROP TABLE x").len(), 2);
        assert!(statements("-- nothing").is_empty());
    }
}
