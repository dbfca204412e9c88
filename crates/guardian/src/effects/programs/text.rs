//! What reads text and says some of it: `cat`, `grep`, `head` and the many like them.
//!
//! Owns: which operands are files, what flows from them to the output, and transformations of text that is known. Refuses: editing
//! in place, and programs with a language of their own.

use super::call::Call;
use super::decode;
use super::options::{Options, Read};
use crate::effects::act::{Act, Change, Datum};
use crate::effects::invocation::{Outcome, Stream};
use crate::shell::value::{Piece, Value};

/// How a program of this family reads.
struct Reader {
    options: Options,
    /// Operands before the files: a pattern, a filter.
    skip: usize,
    /// Options that stand for those operands.
    instead: &'static str,
    /// Options whose values are files that are read.
    files: &'static str,
    /// Options that go into directories.
    deep: &'static str,
}

const fn plain(short: &'static str, long: &'static str) -> Reader {
    Reader { options: Options::new(short, long), skip: 0, instead: "", files: "", deep: "" }
}

const fn pattern(
    short: &'static str,
    long: &'static str,
    instead: &'static str,
    deep: &'static str,
) -> Reader {
    Reader { options: Options::new(short, long), skip: 1, instead, files: "f file", deep }
}

const GREP: Reader = pattern(
    "e:f:m:A:B:C:d:D:",
    "regexp= file= max-count= after-context= before-context= context= include= exclude= exclude-dir= exclude-from= \
     color? colour? directories= devices= label= binary-files= recursive dereference-recursive ignore-case \
     files-with-matches line-number count quiet invert-match only-matching",
    "e f regexp file",
    "r R recursive dereference-recursive",
);
const RG: Reader = pattern(
    "e:f:m:A:B:C:g:G:t:T:j:M:r:d:E:",
    "regexp= file= max-count= after-context= before-context= context= glob= iglob= type= type-not= type-add= \
     threads= max-columns= replace= max-depth= maxdepth= encoding= pre= pre-glob= hostname-bin= sort= sortr= color= colors= engine= \
     ignore-file= max-filesize= path-separator= files",
    "e f regexp file files",
    "",
);
const JQ: Reader = Reader {
    options: Options::new("f:L:", "from-file= indent= raw-output compact-output slurp null-input tab"),
    skip: 1,
    instead: "f from-file",
    files: "f from-file",
    deep: "",
};

fn reader(name: &str) -> Option<Reader> {
    Some(match name {
        "grep" | "egrep" | "fgrep" | "zgrep" | "rgrep" | "zegrep" | "bzgrep" | "xzgrep" | "pcregrep"
        | "pcre2grep" | "ugrep" => GREP,
        "rg" | "ag" | "ack" | "ripgrep" => RG,
        "jq" | "gojq" | "jaq" | "fx" | "dasel" | "htmlq" | "pup" | "tomlq" | "xq" => JQ,
        "cat" | "tac" | "rev" | "nl" | "zcat" | "bzcat" | "xzcat" | "zstdcat" | "gzcat" | "lzcat"
        | "lz4cat" => plain("b:d:f:h:i:l:n:s:v:w:", "number squeeze-blank show-all"),
        "head" | "tail" => plain(
            "n:c:s:",
            "lines= bytes= pid= sleep-interval= max-unchanged-stats= follow? retry quiet verbose zero-terminated",
        ),
        "less" | "more" | "most" | "zless" | "zmore" | "pg" | "lesspipe" => {
            plain("p:P:t:T:x:b:h:j:k:o:O:y:z:", "")
        }
        "bat" | "batcat" | "ccat" | "glow" | "mdcat" | "pygmentize" | "highlight" => plain(
            "l:r:H:m:O:f:s:w:",
            "language= line-range= highlight-line= style= theme= paging= color= wrap= tabs= pager= map-syntax= \
             terminal-width= file-name=",
        ),
        "cut" => plain("b:c:d:f:", "bytes= characters= delimiter= fields= output-delimiter= complement"),
        "sort" => plain(
            "k:t:T:S:o:",
            "key= field-separator= temporary-directory= buffer-size= output= sort= parallel= \
             batch-size= compress-program= files0-from= random-source=",
        ),
        "uniq" => plain("f:s:w:", "skip-fields= skip-chars= check-chars= group? all-repeated?"),
        "wc" => plain("", "files0-from= total="),
        "md5sum" | "sha1sum" | "sha224sum" | "sha256sum" | "sha384sum" | "sha512sum" | "b2sum" | "b3sum"
        | "sum" | "shasum" | "md5" | "crc32" | "cksum" => plain("a:l:", "algorithm= length="),
        "od" | "strings" => plain(
            "A:j:N:t:S:w?e:n:",
            "address-radix= skip-bytes= read-bytes= format= strings? width? bytes= radix= encoding= target=",
        ),
        "hexdump" | "hd" | "xxd" | "hexyl" | "hexer" => plain(
            "j:N:e:f:n:s:l:c:g:o:",
            "address-radix= skip-bytes= read-bytes= format= strings? width? length= bytes= radix= encoding= target=",
        ),
        "diff" | "colordiff" | "sdiff" | "diff3" | "cmp" | "comm" | "vimdiff" | "icdiff" | "delta"
        | "difft" => Reader {
            deep: "r recursive",
            ..plain(
                "U:C:x:X:I:F:W:S:n:i:",
                "unified? context? exclude= exclude-from= label= ignore-matching-lines= color? width= brief recursive",
            )
        },
        "column" => plain(
            "s:c:N:o:O:",
            "separator= output-separator= output-width= table-columns= fillrows table json",
        ),
        "paste" => plain("d:", "delimiters= serial zero-terminated"),
        "pr" => {
            plain("D:e?h:i?l:n?N:o:s?S?w:W:", "pages= columns= date-format= header= length= indent= width=")
        }
        "join" => plain("1:2:a:e:j:o:t:v:", "header zero-terminated"),
        "fold" | "fmt" | "expand" | "unexpand" | "tsort" | "look" | "ptx" => {
            plain("w:p:g:t:", "width= prefix= goal= tabs=")
        }
        "iconv" => plain("f:t:o:", "from-code= to-code= output="),
        "pv" | "ts" | "vipe" | "ul" | "col" | "colrm" | "ansi2txt" | "dos2unix-c" | "uudecode-c" => {
            plain("L:B:N:s:", "")
        }
        "xmllint" | "xmlstarlet" | "xsltproc" | "tidy" | "csvcut" | "csvgrep" | "csvlook" | "csvstat"
        | "mlr" | "xsv" | "qsv" | "q" | "nm" | "objdump" | "readelf" | "otool" | "c++filt" | "addr2line"
        | "exiftool" | "identify" | "mediainfo" | "ffprobe" | "pdftotext" | "pdfinfo" | "catdoc"
        | "antiword" | "docx2txt" | "zipinfo" | "unrar-l" | "spell" | "aspell" | "hunspell" | "mdls"
        | "plutil-p" | "jo" | "gron" => plain("o:", "xpath= output="),
        _ => return None,
    })
}

/// Whether a program is of this family.
pub(super) fn knows(name: &str) -> bool {
    reader(name).is_some() || matches!(name, "base64" | "base32" | "basenc" | "tr" | "gbase64")
}

/// `cat` and the like.
pub(super) fn outcome(call: &Call<'_>) -> Outcome {
    if matches!(call.name, "base64" | "base32" | "basenc" | "gbase64" | "tr") {
        return decode::outcome(call);
    }
    let Some(reader) = reader(call.name) else { return Outcome::harmless() };
    let read = call.read(&reader.options);
    let mut outcome = Outcome::default();
    if read.has("help version") {
        return Outcome::harmless();
    }
    for file in read.values(reader.files).filter(|_| !reader.files.is_empty()) {
        outcome.push(call.reads(file));
    }
    let skip = if read.has(reader.instead) { 0 } else { reader.skip };
    let files: Vec<Value> = call.targets(&read).into_iter().skip(skip).collect();
    let deep = !reader.deep.is_empty() && read.has(reader.deep);
    sources(call, &read, &files, deep, &mut outcome);
    if let Some(output) = read.value("o output").filter(|_| matches!(call.name, "sort" | "iconv" | "xmllint"))
    {
        outcome.push(call.writes(output, Change::Replace));
    }
    extras(call, &read, &mut outcome);
    if outcome.acts.is_empty() {
        outcome.push(Act::Compute);
    }
    outcome
}

/// What is read, and what of it is said.
fn sources(call: &Call<'_>, read: &Read, files: &[Value], deep: bool, outcome: &mut Outcome) {
    let input = &call.invocation.input;
    let searches = matches!(call.name, "rg" | "ag" | "ack" | "ripgrep" | "rgrep");
    if files.is_empty() && (deep || searches && input.text.is_none() && input.data.is_empty()) {
        let here = call.path(&Value::known("."));
        outcome.push(Act::Read { path: here.clone(), deep: true });
        outcome.output.data.push(Datum::File(here));
    } else if files.is_empty() || files.iter().all(|file| file.text() == Some("-")) {
        outcome.output = match searched_names(call, read) {
            Some(names) => Stream { text: Some(names), data: input.data.clone() },
            None => decode::filtered(call, input),
        };
        chosen(call, read, &mut outcome.output);
    } else {
        for file in files.iter().filter(|file| file.text() != Some("-")) {
            let path = call.path(file);
            let deep = deep || searches && call.is_directory(file);
            outcome.push(Act::Read { path: path.clone(), deep });
            outcome.output.data.push(Datum::File(path));
        }
        // A part of a script is another script.
        if call.name != "cat" {
            let why = call.why(format!("what {} makes of a file", call.name));
            outcome.output.data.push(Datum::Unknown(why));
        }
    }
    let chosen = chosen_files(call, read);
    if deep || searches {
        let under: &[Value] = if files.is_empty() { &[Value::default()] } else { files };
        for path in under.iter().flat_map(|under| chosen.iter().map(move |name| below(under, name))) {
            outcome.push(Act::Read { path: call.path(&path), deep: false });
        }
    }
    // Only names are said: what comes next may take them for paths.
    if read.has("l L files-with-matches files-without-match files") {
        let all = [Value { pieces: vec![Piece::Glob(b"*".to_vec())] }];
        let names = if chosen.is_empty() { all.as_slice() } else { &chosen };
        let here = [Value::default()];
        let found: Vec<Value> = if deep || searches {
            let under = if files.is_empty() { here.as_slice() } else { files };
            under.iter().flat_map(|under| names.iter().map(move |name| below(under, name))).collect()
        } else if files.is_empty() {
            return;
        } else {
            files.to_vec()
        };
        let end = if read.has("Z null 0") { b"\0" } else { b"\n" };
        let mut said = Value::default();
        for (place, name) in found.into_iter().enumerate() {
            if place > 0 {
                said.push(Piece::Known(end.to_vec()));
            }
            said.append(name);
        }
        outcome.output = Stream::text(said);
    }
}

/// A name somewhere below a directory.
fn below(directory: &Value, name: &Value) -> Value {
    let mut path = directory.clone();
    if !path.pieces.is_empty() {
        path.push(Piece::Known(b"/".to_vec()));
    }
    path.append(name.clone());
    path
}

/// The names a search is held to: `--include='*.ts'`, `-g '.env*'`, `ag -G '\.env$'`.
fn chosen_files(call: &Call<'_>, read: &Read) -> Vec<Value> {
    let letters = match call.name {
        "rg" | "ripgrep" => "g glob iglob",
        "ag" => "G file-search-regex",
        _ => "include",
    };
    let names = read.values(letters).filter_map(Value::text).filter(|name| !name.starts_with('!'));
    let names = names.map(|name| {
        let name = name.rsplit('/').next().unwrap_or(name).to_lowercase();
        let plain = if call.name == "ag" { name.replace(['\\', '$'], "") } else { name };
        if plain.contains(['*', '?', '[', '{']) {
            Value { pieces: vec![Piece::Glob(plain.into_bytes())] }
        } else {
            Value::known(plain)
        }
    });
    names.collect()
}

/// What a search lets through of names nobody has seen: `ls -a | grep env`.
fn searched_names(call: &Call<'_>, read: &Read) -> Option<Value> {
    let input = call.invocation.input.text.as_ref()?;
    let globbed = input.pieces.iter().any(|piece| matches!(piece, Piece::Glob(_)));
    if !globbed || !call.name.ends_with("grep") || read.has("v invert-match c count q quiet n") {
        return None;
    }
    let pattern = read.value("e regexp").or(read.operands.first())?.text()?.replace('\\', "");
    let (begins, pattern) = pattern.strip_prefix('^').map_or((false, pattern.as_str()), |rest| (true, rest));
    let (ends, pattern) = pattern.strip_suffix('$').map_or((false, pattern), |rest| (true, rest));
    if pattern.is_empty() || pattern.contains(['*', '[', ']', '|', '(', '+', '?', '^', '$', '{']) {
        return None;
    }
    let mut names = Value::default();
    for piece in &input.pieces {
        let Piece::Glob(glob) = piece else {
            names.push(piece.clone());
            continue;
        };
        // Of hidden names the dot is known, and may be what the pattern begins with.
        let hidden = glob.starts_with(b".");
        let rest = if hidden { pattern.strip_prefix('.').unwrap_or(pattern) } else { pattern };
        let before = match (hidden, begins) {
            (true, true) => ".",
            // `.env` rather than anything hidden with it somewhere.
            (true, false) => ".",
            (false, true) => "",
            (false, false) => "*",
        };
        if begins && hidden != pattern.starts_with('.') {
            continue;
        }
        let after = if ends { "" } else { "*" };
        let is_exact = begins && ends;
        let name = format!("{before}{rest}{after}").into_bytes();
        names.push(if is_exact { Piece::Known(name) } else { Piece::Glob(name) });
    }
    Some(names)
}

/// What a search lets through: variables that tell, processes of a name.
fn chosen(call: &Call<'_>, read: &Read, output: &mut Stream) {
    let searches = call.name.ends_with("grep") || matches!(call.name, "rg" | "ag" | "ack");
    if !searches || read.has("v invert-match c count q quiet") {
        return;
    }
    let pattern =
        read.value("e regexp").cloned().unwrap_or_else(|| read.operands.first().cloned().unwrap_or_default());
    let text = pattern.text().unwrap_or_default();
    for datum in &mut output.data {
        match datum {
            Datum::Environment(None) => {
                let words = text.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
                let telling = words.into_iter().find(|word| is_secret_word(word));
                let name = match telling {
                    Some(word) if crate::redact::is_telling(word) => word,
                    Some(_) => "SECRET",
                    None => "some",
                };
                *datum = Datum::Environment(Some(name.to_owned()));
            }
            Datum::Unknown(why) if why.construct.starts_with("every process") => {
                why.construct = format!("the processes named {text}");
            }
            _ => {}
        }
    }
    if output.data.iter().any(|datum| matches!(datum, Datum::Unknown(_))) {
        output.text = None;
    }
}

/// Whether a word is part of the names of variables that hold credentials.
pub(super) fn is_secret_word(word: &str) -> bool {
    let lower = word.to_ascii_lowercase();
    crate::redact::is_telling(word)
        || ["secret", "token", "key", "api", "pass", "pwd", "cred", "auth", "aws", "private"]
            .contains(&lower.as_str())
        || ["secret", "token", "passw", "cred", "private"].iter().any(|stem| lower.starts_with(stem))
}

fn extras(call: &Call<'_>, read: &Read, outcome: &mut Outcome) {
    // Programs that are run for every file, or to see it.
    if read.has("pre hostname-bin") {
        outcome.push(call.unknown("a program that is started for every file"));
    }
    for option in ["pre", "pager", "compress-program", "hostname-bin"] {
        if let Some(program) = read.value(option).filter(|program| program.text() != Some("never")) {
            outcome.next.push(call.shell(program.clone()));
        }
    }
    if matches!(call.name, "less" | "more" | "most")
        && let Some(command) = call.args.iter().find(|arg| arg.prefix().starts_with(b"+!"))
    {
        outcome.next.push(call.shell(super::options::after(command, 2)));
    }
    let shows_environment = |filter: &str| {
        filter.contains("$ENV")
            || filter.split(|letter: char| !letter.is_alphanumeric()).any(|word| word == "env")
    };
    if matches!(call.name, "jq" | "gojq" | "jaq") && shows_environment(read.verb()) {
        let behind = ["env.", "ENV."].iter().find_map(|word| Some(read.verb().split_once(word)?.1));
        let name = behind.map(|rest| {
            rest.chars().take_while(|letter| letter.is_ascii_alphanumeric() || *letter == '_').collect()
        });
        outcome.output.data.push(Datum::Environment(name));
    }
    for place in ["slurpfile", "rawfile"] {
        if read.has(place)
            && let Some(path) = read.operands.get(1)
        {
            outcome.push(call.reads(path));
        }
    }
    // `uniq in out` writes its second file.
    if call.name == "uniq"
        && let Some(output) = read.operands.get(1)
    {
        outcome.push(call.writes(output, Change::Replace));
    }
    if call.name == "xxd"
        && let Some(output) = read.operands.get(1)
    {
        outcome.push(call.writes(output, Change::Replace));
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::check;

    #[test]
    fn files_are_told_from_patterns() {
        check(&[
            ("cat .env", "read /home/dev/project/.env"),
            ("cat", "compute"),
            ("grep -rn 'rm -rf /' src", "read/ /home/dev/project/src"),
            ("grep -r x", "read/ /home/dev/project"),
            ("grep -e x -f pats a", "read /home/dev/project/pats; read /home/dev/project/a"),
            ("grep -A 3 KEY .env", "read /home/dev/project/.env"),
            ("rg 'DROP DATABASE' docs/", "read/ /home/dev/project/docs"),
            (
                "rg --pre 'sh -c x' y",
                "read/ /home/dev/project; unknown a program that is started for every file; $ sh -c x",
            ),
            ("head -n 5 a", "read /home/dev/project/a"),
            ("tail -f -n5 /var/log/syslog", "read /var/log/syslog"),
            ("jq .a package.json", "read /home/dev/project/package.json"),
            ("sort -o out in", "read /home/dev/project/in; write:Replace /home/dev/project/out"),
            ("diff -u a b", "read /home/dev/project/a; read /home/dev/project/b"),
            ("less '+!id' a", "read /home/dev/project/+!id; read /home/dev/project/a; $ id"),
            ("cut -d: -f1 /etc/passwd", "read /etc/passwd"),
            ("sha256sum a", "read /home/dev/project/a"),
        ]);
    }
}
