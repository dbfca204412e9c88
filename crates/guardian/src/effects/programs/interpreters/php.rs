//! PHP: which of its names do what, and how `php` is given code.

use super::super::call::Call;
use super::super::options::Options;
use super::given::{self, Given};
use super::grammar;
use super::language::Language;
use super::verb::Verb;
use crate::effects::act::Change;
use crate::effects::invocation::{Outcome, Stream};
use crate::shell::value::Value;

/// The language.
pub(super) static PHP: Language =
    Language { name: "php", grammar: grammar::PHP, function, method, telling: |_| None, canonical };

/// An entry of a directory is its own path.
fn method(name: &str) -> Option<Verb> {
    matches!(name, "getPathname" | "getRealPath" | "__toString").then_some(Verb::Same)
}

fn canonical(name: &str) -> Option<&str> {
    match name {
        "argv" => Some("argv"),
        "STDIN" => Some("stdin"),
        "_ENV" | "_SERVER" => Some("ENV"),
        _ => name.strip_prefix('\\'),
    }
}

fn function(name: &str) -> Option<Verb> {
    Some(match name {
        "unlink" | "rmdir" => Verb::Delete,
        "rename" => Verb::Move,
        "copy" => Verb::Copy,
        "symlink" | "link" => Verb::Link,
        "mkdir" | "touch" => Verb::Make,
        "chmod" | "chown" | "chgrp" => Verb::Permit,
        "file_put_contents" => Verb::Write(Change::Replace),
        "ftruncate" => Verb::Harmless,
        "file_get_contents" | "readfile" | "file" | "show_source" | "highlight_file" | "parse_ini_file" => {
            Verb::Read
        }
        "fopen" | "SplFileObject" => Verb::Open,
        "glob" => Verb::Glob,
        "scandir" => Verb::List,
        "DirectoryIterator"
        | "RecursiveDirectoryIterator"
        | "FilesystemIterator"
        | "File.files"
        | "File.allFiles" => Verb::Entries,
        "RecursiveIteratorIterator" | "iterator_to_array" | "CallbackFilterIterator" | "RegexIterator" => {
            Verb::Same
        }
        "File.delete" | "Storage.delete" => Verb::Delete,
        "File.deleteDirectory" | "File.cleanDirectory" => Verb::DeleteTree,
        "File.put" => Verb::Write(Change::Replace),
        "Process.run" | "Process.fromShellCommandline" => Verb::Shell,
        "chdir" => Verb::Chdir,
        "getcwd" => Verb::Cwd,
        "system" | "exec" | "shell_exec" | "passthru" | "popen" | "`" => Verb::Shell,
        "proc_open" => Verb::Shell,
        "pcntl_exec" => Verb::Program,
        "eval" | "assert" | "create_function" => Verb::Eval,
        "include" | "include_once" | "require" | "require_once" => Verb::Load,
        "call_user_func"
        | "call_user_func_array"
        | "array_map"
        | "array_walk"
        | "array_filter"
        | "register_shutdown_function"
        | "usort" => Verb::Apply,
        "posix_kill" => Verb::Kill,
        "pcntl_fork" => Verb::Fork,
        "posix_setuid" | "posix_setgid" | "posix_seteuid" => Verb::Privilege,
        "fsockopen" | "pfsockopen" | "stream_socket_client" | "socket_connect" => Verb::Connect,
        "fwrite" | "fputs" | "socket_write" | "socket_send" => Verb::Transmit,
        "curl_init" => Verb::Fetch,
        "getenv" => Verb::Variable,
        "ENV" => Verb::Environment,
        "sys_get_temp_dir" | "tempnam" | "tmpfile" => Verb::Temporary,
        "echo" | "print" | "printf" | "var_dump" | "print_r" => Verb::Print,
        "base64_decode" => Verb::Base64,
        "hex2bin" => Verb::Hex,
        "str_rot13" => Verb::Rot13,
        "chr" => Verb::Letter,
        "urlencode" | "rawurlencode" | "trim" | "realpath" | "strval" | "escapeshellarg" | "json_encode"
        | "base64_encode" => Verb::Same,
        "dirname" => Verb::Parent,
        "dl" | "FFI.cdef" | "unserialize" => Verb::Unknown,
        _ => return None,
    })
}

const OPTIONS: Options = Options::new(
    "r:f:c:d:S:t:z:B:R:E:F:",
    "run= file= define= server= docroot= process-begin= process-code= process-end= php-ini= version help ini",
)
.stops();

/// `php`.
pub(super) fn outcome(call: &Call<'_>) -> Outcome {
    let read = call.read(&OPTIONS);
    if let (Some(root), true) = (read.value("t docroot"), read.has("S server")) {
        return call.serves(Some(root));
    }
    if read.has("v version i info m help h ini S server") && !read.has("r run") {
        return Outcome::harmless();
    }
    let codes: Vec<&Value> = read.values("r run B R E process-begin process-code process-end").collect();
    if !codes.is_empty() {
        let given = Given::all(codes.into_iter(), &read.operands).counting(Value::known("-"));
        return given::run(call, &PHP, given);
    }
    match read.value("f file").or_else(|| read.operands.first()) {
        Some(script) if script.text() != Some("-") => {
            if read.has("l") {
                Outcome::of([call.reads(script)])
            } else {
                given::file(call, script)
            }
        }
        _ => {
            // Outside of `<?php` text is only said.
            let input = &call.invocation.input;
            let code = input.text.as_ref().and_then(Value::text).map(|text| {
                let parts: Vec<&str> = text
                    .split("<?")
                    .skip(1)
                    .map(|part| part.split("?>").next().unwrap_or_default())
                    .collect();
                parts
                    .iter()
                    .map(|part| part.strip_prefix("php").or_else(|| part.strip_prefix('=')).unwrap_or(part))
                    .collect::<Vec<_>>()
                    .join(";")
            });
            match code {
                Some(code) => given::run(call, &PHP, Given::new(&Value::known(code), &[])),
                None if input == &Stream::default() => Outcome::harmless(),
                None => given::input(call, &PHP, &[]),
            }
        }
    }
}
