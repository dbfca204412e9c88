//! Files that programs write which nobody else here knows: compilers, converters, formatters.
//!
//! Owns: the options that name an output in nearly all of them, and who changes the files it is given. Refuses: outputs in the workspace and
//! among temporary files; those are what such programs are for.

use super::call::Call;
use super::options::split;
use crate::effects::act::{Act, Change};
use crate::shell::value::Value;

/// Options that are followed by what is written.
const OUTPUTS: [&str; 26] = [
    "-o",
    "--output",
    "--out",
    "--outfile",
    "--out-file",
    "--output-file",
    "--outputFile",
    "--outdir",
    "--out-dir",
    "--outDir",
    "--output-dir",
    "--output-directory",
    "--output-path",
    "--outputDirectory",
    "-outdir",
    "--dest",
    "--destination",
    "--dist-dir",
    "--save-to",
    "--log-file",
    "--logfile",
    "--report-file",
    "--junitxml",
    "--target-dir",
    "--destdir",
    "--install-root",
];

/// What is written outside of where such programs usually write.
pub(super) fn written(call: &Call<'_>) -> Vec<Act> {
    let mut acts = Vec::new();
    let mut args = call.args.iter();
    while let Some(arg) = args.next() {
        let Some(text) = arg.text() else { continue };
        if text == "--" {
            break;
        }
        let value = match split(arg, b'=') {
            // `--go_out=/usr`, `--python_out=…` of protoc.
            Some((name, value)) if OUTPUTS.contains(&name.as_str()) || name.ends_with("_out") => value,
            None if OUTPUTS.contains(&text) => match args.next() {
                Some(value) => value.clone(),
                None => break,
            },
            _ => continue,
        };
        acts.extend(outside(call, &value).then(|| call.writes(&value, Change::Replace)));
    }
    let last = || call.args.iter().rev().find(|arg| !arg.prefix().starts_with(b"-"));
    if is_converter(call) {
        let target = last().filter(|_| call.args.len() > 1).filter(|path| outside(call, path));
        acts.extend(target.map(|path| call.writes(path, Change::Replace)));
    }
    if is_changing(call) {
        let paths = call.args.iter().filter(|arg| !arg.prefix().starts_with(b"-") && is_path(arg));
        acts.extend(paths.filter(|path| outside(call, path)).map(|path| call.writes(path, Change::Edit)));
    }
    acts
}

/// Whether the last word is what is made.
fn is_converter(call: &Call<'_>) -> bool {
    match call.name {
        "ffmpeg" | "convert" | "magick" | "sox" | "cwebp" | "rsvg-convert" | "wkhtmltopdf" | "weasyprint" => {
            !call.says(&["-version", "-formats", "-codecs"])
        }
        "objcopy" | "qpdf" | "pdftk" => call.args.len() > 1,
        "qemu-img" => call.says(&["convert", "create"]),
        _ => false,
    }
}

/// Whether the files it is given are changed.
fn is_changing(call: &Call<'_>) -> bool {
    match call.name {
        "rename" | "prename" | "file-rename" | "perl-rename" | "mmv" | "vidir" | "sd" | "mogrify"
        | "strip" | "patchelf" | "chrpath" | "install_name_tool" | "jpegoptim" | "optipng" | "upx"
        | "setfattr" | "qmv" | "imv" => {
            !call.says(&["-n", "--nono", "--no-act", "--dry-run", "-p", "--preview", "--help", "-l", "-V"])
                && !call.words().any(|word| word.starts_with("--print"))
        }
        "yq" | "dasel" | "clang-format" | "autopep8" | "shfmt" | "gofmt" | "goimports" | "prettier"
        | "eslint" | "stylelint" | "biome" => {
            call.says(&["-i", "--inplace", "--in-place", "-w", "--write", "--fix", "put", "delete"])
        }
        "black" | "isort" | "ruff" | "rustfmt" | "yapf" => {
            !call.says(&["--check", "--diff", "check", "-c", "--check-only"]) || call.says(&["--fix"])
        }
        "crudini" => call.says(&["--set", "--del", "--merge"]),
        "augtool" => call.says(&["set", "rm", "-s", "--autosave"]),
        _ => false,
    }
}

fn is_path(arg: &Value) -> bool {
    arg.prefix().contains(&b'/')
}

/// Whether a path leads out of the workspace and is no temporary file.
fn outside(call: &Call<'_>, path: &Value) -> bool {
    let found = call.path(path);
    let prefix = found.prefix();
    let is_below = |place: &[u8]| {
        !place.is_empty()
            && prefix.strip_prefix(place).is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/"))
    };
    prefix.starts_with(b"/")
        && !is_below(&call.context.workspace)
        && ![
            b"/tmp".as_slice(),
            b"/var/tmp",
            b"/dev/null",
            b"/dev/stdout",
            b"/dev/stderr",
            b"/dev/fd",
            b"/dev/shm",
        ]
        .iter()
        .any(|place| is_below(place))
}

#[cfg(test)]
mod tests {
    use super::super::testing::check;

    #[test]
    fn outputs_elsewhere_are_writes() {
        check(&[
            ("gcc x.c -o x", "program gcc; read /home/dev/project/x.c"),
            (
                "gcc x.c -o /usr/bin/x",
                "program gcc; write:Replace /usr/bin/x; read /home/dev/project/x.c; read /usr/bin/x",
            ),
            ("go build -o /usr/local/bin/x .", "project go; write:Replace /usr/local/bin/x"),
            ("strip /usr/bin/x", "program strip; write:Edit /usr/bin/x; read /usr/bin/x"),
            ("prettier --write src", "program prettier"),
        ]);
    }
}
