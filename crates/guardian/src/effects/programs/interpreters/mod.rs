//! Interpreters: code that stands in a command, in any of the usual languages.
//!
//! Owns: what such code does, as the same acts a program would have. One reader serves all languages: text → words → tree → a
//! walk that knows what it can of every value; each language says how it is written and which of its names do what.
//! Refuses: running anything, certainty about what is computed, and endless work. What cannot be followed is unknown, by name.

mod applying;
mod awk;
mod binding;
mod calls;
mod code;
mod consoles;
mod definitions;
mod expression;
mod files;
mod fold;
mod foreign;
mod given;
mod grammar;
mod inside;
mod javascript;
mod language;
mod lexer;
mod lisp;
mod lua;
mod methods;
mod names;
mod network;
mod operand;
mod parser;
mod perform;
mod perl;
mod php;
mod python;
mod quoted;
mod ruby;
pub(super) mod sed;
mod start;
mod tcl;
#[cfg(test)]
mod tests;
mod tree;
mod verb;
mod walk;
mod worth;

pub(super) use self::consoles::typed;
pub(super) use self::lisp::outcome as lisp_outcome;
use super::Program;

/// The interpreter a program is.
pub(super) fn interpreters(name: &str) -> Option<Program> {
    Some(match name {
        "python" | "python2" | "python3" | "pypy" | "pypy3" | "ipython" | "ipython3" | "pythonw"
        | "micropython" => python::outcome,
        "perl" | "perl5" => perl::outcome,
        "node" | "nodejs" | "tsx" | "ts-node" | "qjs" => javascript::node,
        "bun" | "deno" => javascript::managers,
        "ruby" | "jruby" | "irb" | "truffleruby" => ruby::outcome,
        "elixir" => ruby::elixir_outcome,
        "php" => php::outcome,
        "lua" | "luajit" | "Rscript" | "R" | "littler" | "julia" | "groovy" | "jshell" => lua::outcome,
        "awk" | "gawk" | "mawk" | "nawk" | "original-awk" | "goawk" => awk::outcome,
        "guile" | "sbcl" | "clisp" | "racket" | "chicken" | "csi" => lisp::outcome,
        "tclsh" | "wish" => tcl::outcome,
        "scala" | "scala-cli" | "erl" | "swift" | "kotlin" | "kotlinc" | "ghc" | "runghc" | "ocaml"
        | "crystal" | "nim" | "dart" | "clojure" | "clj" | "bb" | "raku" | "perl6" | "octave" | "gnuplot"
        | "maxima" | "sage" | "java" | "wine" | "mono" | "gjs" | "evcxr" | "rust-script" | "gomacro"
        | "yaegi" | "csharp" | "csharprepl" | "dotnet-script" | "chef-apply" | "v8" | "d8" | "rhino"
        | "nashorn" | "jjs" | "hbase" => foreign::outcome,
        name if versioned(name, "python") || versioned(name, "pypy") => python::outcome,
        name if versioned(name, "perl") => perl::outcome,
        name if versioned(name, "ruby") => ruby::outcome,
        name if versioned(name, "php") => php::outcome,
        name if versioned(name, "lua") => lua::outcome,
        name if versioned(name, "node") => javascript::node,
        name if versioned(name, "tclsh") => tcl::outcome,
        _ => return None,
    })
}

/// Whether a name is another with a version behind it: `python3.12`.
fn versioned(name: &str, base: &str) -> bool {
    name.strip_prefix(base).is_some_and(|rest| {
        rest.starts_with(|letter: char| letter.is_ascii_digit() || letter == '-')
            && rest.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b'-'))
    })
}
