//! Consoles of frameworks: code in the language of the framework, with the application loaded.
//!
//! Owns: which words of a framework's own program are followed by code. Refuses: the languages; they are read like everywhere else.

use super::super::call::Call;
use super::super::options::Options;
use super::given::{self, Given};
use super::{php, python, ruby};
use crate::effects::invocation::{Outcome, Stream};
use crate::shell::value::Value;

/// What is typed into the console of a framework, where there is one: `rails runner '…'`, `manage.py shell -c '…'`.
pub(in super::super) fn typed(call: &Call<'_>, name: &str, args: &[Value]) -> Option<Outcome> {
    let verb = args.first().and_then(Value::text)?;
    let rest = args.get(1..).unwrap_or_default();
    let read = Options::new("c:e:r:", "command= execute= environment= settings=").read(rest);
    let first = || read.operands.first();
    let is_told = call.invocation.input != Stream::default();
    // A file is named where code may stand as well.
    let is_code = |code: &&Value| {
        code.text().is_none_or(|text| {
            text.contains(['(', ' ', '"', '\'', '.', ';'])
                && !text.ends_with(".rb")
                && !text.ends_with(".exs")
                && !text.ends_with(".php")
        })
    };
    match (name, verb) {
        ("rails" | "bin/rails", "runner" | "r") => {
            let code = first().filter(is_code)?;
            Some(given::run(call, &ruby::RUBY, Given::new(code, &[])))
        }
        ("rails" | "bin/rails", "console" | "c") if is_told => Some(given::input(call, &ruby::RUBY, &[])),
        ("manage.py" | "django-admin" | "flask", "shell" | "shell_plus") => {
            let code = read.value("c command");
            (code.is_some() || is_told).then(|| python::console(call, code))
        }
        ("artisan", "tinker") => {
            let code = read.value("execute")?;
            Some(given::run(call, &php::PHP, Given::new(code, &[])))
        }
        ("wp", "eval") | ("drush", "php:eval" | "php-eval" | "ev" | "eval") => {
            Some(given::run(call, &php::PHP, Given::new(first()?, &[])))
        }
        ("mix", "run" | "eval") => {
            let code = read.value("e").or_else(|| first().filter(|_| verb == "eval"))?;
            Some(given::run(call, &ruby::ELIXIR, Given::new(code, &[])))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::testing::check;

    #[test]
    fn what_a_console_is_told_is_code() {
        check(&[
            ("rails runner 'FileUtils.rm_rf(\"/opt\")'", "project rails; delete/ /opt"),
            ("rails runner script/x.rb", "project rails"),
            ("php artisan tinker --execute='unlink(\"/opt/x\");'", "project php; delete /opt/x"),
            ("wp eval 'unlink(\"/opt/x\");'", "program wp; delete /opt/x"),
            ("mix run -e 'File.rm_rf!(\"/opt\")'", "project mix; delete/ /opt"),
            ("flask shell", "project flask"),
        ]);
    }
}
