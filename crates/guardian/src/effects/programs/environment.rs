//! Variables that put code into whatever is started with them: `LD_PRELOAD`, `BASH_ENV`, `PATH`.
//!
//! Owns: which variables do that, whichever program is started. Refuses: those of one program alone; its own family knows them.

use super::call::Call;
use crate::effects::act::{Act, Datum, Effort};
use crate::effects::invocation::{Invocation, Outcome};
use crate::shell::value::Value;

/// Variables whose value is code, or names it.
const CODE: [&str; 12] = [
    "LD_PRELOAD",
    "LD_AUDIT",
    "DYLD_INSERT_LIBRARIES",
    "BASH_ENV",
    "ENV",
    "PROMPT_COMMAND",
    "PYTHONSTARTUP",
    "PERL5OPT",
    "PERL5DB",
    "RUBYOPT",
    "LESSOPEN",
    "GIT_EXEC_PATH",
];

/// The same outcome with what the variables of a call put in.
pub(super) fn put_in(mut outcome: Outcome, invocation: &Invocation, call: &Call<'_>) -> Outcome {
    chosen(&mut outcome, invocation, call);
    for (name, value) in &invocation.environment {
        let name = String::from_utf8_lossy(name);
        if runs(&name, value, call) {
            let why = call.why(format!("code that {name} puts in"));
            outcome.acts.push((Act::Unknown(why), Effort::Done));
        }
    }
    outcome
}

/// What a filter's script chooses of the whole environment: `env | awk '/KEY/'`, `env | sed -n '/TOKEN/p'`.
fn chosen(outcome: &mut Outcome, invocation: &Invocation, call: &Call<'_>) {
    let is_whole = |datum: &Datum| matches!(datum, Datum::Environment(None));
    let filters = matches!(call.name, "awk" | "gawk" | "mawk" | "nawk" | "sed" | "gsed" | "perl" | "ruby");
    if !filters || !invocation.input.data.iter().any(is_whole) {
        return;
    }
    let words = call
        .words()
        .flat_map(|text| text.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_'));
    if words.into_iter().any(super::text::is_secret_word) {
        for datum in outcome.output.data.iter_mut().filter(|datum| is_whole(datum)) {
            *datum = Datum::Environment(Some("SECRET".to_owned()));
        }
    }
}

fn runs(name: &str, value: &Value, call: &Call<'_>) -> bool {
    let text = String::from_utf8_lossy(value.prefix()).into_owned();
    match name {
        // Only shells read these two.
        "BASH_ENV" | "ENV" | "PROMPT_COMMAND" => {
            !value.pieces.is_empty() && text.contains(['/', ' ', ';']) && call.name.ends_with("sh")
        }
        "LESSOPEN" => text.starts_with('|') && !text.contains("lesspipe") && !text.contains("highlight"),
        // Warnings and encodings are usual, modules are not.
        "RUBYOPT" | "PERL5OPT" => text.contains("-r") || text.contains("-M") || text.contains("-I"),
        "NODE_OPTIONS" => {
            ["--require", "-r ", "--import", "--loader"].iter().any(|option| text.contains(option))
        }
        "PATH" => ["/tmp", "/var/tmp", "/dev/shm"].iter().any(|place| text.starts_with(place)),
        name => CODE.contains(&name) && !value.pieces.is_empty(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{context, shown};
    use super::*;

    #[test]
    fn code_comes_in_by_variables() {
        for (name, value, program, puts) in [
            ("LD_PRELOAD", "/tmp/x.so", "ls", true),
            ("BASH_ENV", "/tmp/x", "bash", true),
            ("BASH_ENV", "/tmp/x", "ls", false),
            ("ENV", "production", "sh", false),
            ("NODE_OPTIONS", "--max-old-space-size=4096", "npm", false),
            ("NODE_OPTIONS", "--require /tmp/x.js", "npm", true),
            ("PATH", "/tmp/x:/usr/bin", "ls", true),
            ("PATH", "/home/dev/bin:/usr/bin", "ls", false),
            ("RUBYOPT", "-W0", "ls", false),
        ] {
            let invocation = Invocation {
                argv: vec![Value::known(program), Value::known("x")],
                environment: vec![(name.as_bytes().to_vec(), Value::known(value))],
                cwd: Value::known("/home/dev/project"),
                ..Invocation::default()
            };
            let said = shown(&super::super::outcome(&invocation, &context()));
            assert_eq!(said.contains("puts in"), puts, "{name}={value} {program}: {said}");
        }
    }
}
