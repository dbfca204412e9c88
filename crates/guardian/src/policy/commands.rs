//! The simple commands of a command line, as far as a rule about words needs them: split where a shell would begin a new
//! one, quotes removed, assignments and harmless wrappers in front dropped.
//!
//! Refuses: to be a shell. What it cannot see through (an `eval`, a variable) it does not see; a rule about words is a
//! courtesy to whoever cooperates.

/// Words in front of a command that only change how it runs.
const WRAPPERS: [&str; 12] = [
    "sudo", "doas", "env", "nice", "nohup", "time", "timeout", "command", "exec", "builtin", "xargs",
    "stdbuf",
];

/// Every simple command of a line, as its words.
pub(super) fn simple(line: &str) -> Vec<Vec<String>> {
    let mut commands = vec![Vec::new()];
    let mut word: Option<String> = None;
    let mut chars = line.chars().peekable();
    let mut quote = None;
    while let Some(c) = chars.next() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (Some('"') | None, '\\') => {
                if let Some(next) = chars.next().filter(|next| *next != '\n') {
                    word.get_or_insert_default().push(next);
                }
            }
            // Inside double quotes a substitution still runs.
            (Some('"'), '$') if chars.peek() == Some(&'(') => {
                chars.next();
                end(&mut commands, &mut word);
                commands.push(Vec::new());
                quote = None;
            }
            (Some(_), c) => word.get_or_insert_default().push(c),
            (None, '\'' | '"') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None, '$') if chars.peek() == Some(&'(') => {
                chars.next();
                end(&mut commands, &mut word);
                commands.push(Vec::new());
            }
            (None, ';' | '&' | '|' | '\n' | '(' | ')' | '`' | '{' | '}') => {
                end(&mut commands, &mut word);
                commands.push(Vec::new());
            }
            (None, c) if c.is_whitespace() => end(&mut commands, &mut word),
            (None, c) => word.get_or_insert_default().push(c),
        }
    }
    end(&mut commands, &mut word);
    commands.into_iter().map(bare).filter(|words| !words.is_empty()).collect()
}

fn end(commands: &mut [Vec<String>], word: &mut Option<String>) {
    // An empty word says nothing a rule could be about.
    if let (Some(words), Some(word)) = (commands.last_mut(), word.take().filter(|word| !word.is_empty())) {
        words.push(word);
    }
}

/// The command without what only surrounds it, its program named without a path.
fn bare(words: Vec<String>) -> Vec<String> {
    let mut words = words.into_iter().peekable();
    while let Some(word) = words.peek() {
        let is_assignment = word.split_once('=').is_some_and(|(name, _)| {
            !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        });
        let is_wrapper = WRAPPERS.contains(&file_name(word));
        if !is_assignment && !is_wrapper {
            break;
        }
        let takes_time = file_name(word) == "timeout";
        words.next();
        while is_wrapper && words.peek().is_some_and(|flag| flag.starts_with('-')) {
            words.next();
        }
        if takes_time {
            words.next();
        }
    }
    let mut rest: Vec<String> = words.collect();
    if let Some(program) = rest.first_mut() {
        *program = file_name(program).to_owned();
    }
    rest
}

fn file_name(word: &str) -> &str {
    word.rsplit('/').next().unwrap_or(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_fall_apart_where_a_shell_begins_anew() {
        for (line, commands) in [
            ("git status", vec!["git status"]),
            ("cd x && git push; ls | wc", vec!["cd x", "git push", "ls", "wc"]),
            ("echo 'a; b' \"c && d\"", vec!["echo a; b c && d"]),
            ("echo \"$(git push)\"", vec!["echo", "git push"]),
            ("A=1 sudo -n timeout 5 /usr/bin/git push", vec!["git push"]),
            ("( git\\ push )", vec!["git push"]),
            ("", vec![]),
            ("echo 'open", vec!["echo open"]),
        ] {
            let found: Vec<String> = simple(line).iter().map(|words| words.join(" ")).collect();
            assert_eq!(found, commands, "{line}");
        }
    }
}
