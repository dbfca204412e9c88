//! `xargs` and `parallel`: words that are read become arguments.

use super::call::{Call, joined};
use super::find::replaced;
use super::options::Options;
use crate::effects::act::Act;
use crate::effects::invocation::{Invocation, Next, Outcome, Stream};
use crate::shell::value::{Piece, Value};

/// The most words that are looked at one by one.
const MOST: usize = 200;

/// `xargs`.
pub(super) fn outcome(call: &Call<'_>) -> Outcome {
    let options = Options::new(
        "a:d:E:I:L:n:P:s:e?i?l?",
        "arg-file= delimiter= eof? replace? max-lines? max-args= max-procs= max-chars= no-run-if-empty null verbose \
         interactive process-slot-var= show-limits exit open-tty",
    )
    .stops();
    let read = call.read(&options);
    let mut argv = read.operands.clone();
    if argv.is_empty() {
        argv.push(Value::known("echo"));
    }
    let mut outcome = Outcome::default();
    if let Some(file) = read.value("a arg-file") {
        outcome.push(call.reads(file));
    }
    let holder = match (read.value("I replace i"), read.has("I i replace")) {
        (Some(holder), _) => holder.bytes().map(<[u8]>::to_vec),
        (None, true) => Some(b"{}".to_vec()),
        (None, false) => None,
    };
    let lines = holder.is_some() || read.has("0 null d delimiter");
    let is_quoted = !read.has("0 null d delimiter");
    let delimiter = read.value("d delimiter").map(|given| given.text().and_then(delimiter));
    let mut items = match delimiter {
        _ if read.has("a arg-file") => None,
        None if read.has("0 null") => items(&call.invocation.input, Some(0), false),
        None => items(&call.invocation.input, lines.then_some(b'\n'), is_quoted),
        Some(Some(end @ (b'\n' | 0))) => items(&call.invocation.input, Some(end), false),
        Some(Some(byte)) => delimited(&call.invocation.input, byte),
        Some(None) => None,
    };
    if let (true, Some(items), true) = (is_quoted, &mut items, holder.is_some()) {
        items.iter_mut().for_each(indented);
    }
    let unread = Stream::default();
    let by_lines =
        read.value("L l max-lines").and_then(Value::text).and_then(|text| text.parse::<usize>().ok());
    if let (Some(most), None, Some(text)) =
        (by_lines, &holder, call.invocation.input.text.as_ref().and_then(Value::bytes))
    {
        outcome.next.extend(line_by_line(call, &argv, text, most));
        return outcome;
    }
    match (items, holder) {
        (Some(items), None) => {
            let most = read.value("n max-args").and_then(Value::text);
            let most = most.and_then(|text| text.parse().ok()).unwrap_or(usize::MAX).max(1);
            // Nothing to read still is one start.
            let rounds = items.len().div_ceil(most).max(1);
            for round in 0..rounds {
                let taken = items.iter().skip(round.saturating_mul(most)).take(most).cloned();
                let argv = argv.iter().cloned().chain(taken).collect();
                outcome.next.push(started(call, argv, None, unread.clone()));
            }
        }
        (Some(items), Some(holder)) => {
            for item in items {
                let argv = argv.iter().map(|word| replaced(word, &holder, &item)).collect();
                outcome.next.push(started(call, argv, None, unread.clone()));
            }
        }
        (None, holder) => {
            let why = call.why("what xargs reads");
            let item = Value::unknown(why.clone());
            let replaces = holder.is_some();
            if let Some(holder) = holder {
                argv = argv.iter().map(|word| replaced(word, &holder, &item)).collect();
            }
            outcome.next.push(started(call, argv, (!replaces).then_some(why), unread));
        }
    }
    outcome
}

/// `-L`: a start for so many lines.
fn line_by_line(call: &Call<'_>, argv: &[Value], text: &[u8], most: usize) -> Vec<Next> {
    let lines: Vec<&[u8]> =
        text.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty()).collect();
    let starts = lines.chunks(most.max(1)).take(MOST).map(|some| {
        let taken = some.iter().flat_map(|line| words(line)).map(Value::known);
        started(call, argv.iter().cloned().chain(taken).collect(), None, Stream::default())
    });
    starts.collect()
}

fn started(call: &Call<'_>, argv: Vec<Value>, more: Option<crate::shell::value::Why>, input: Stream) -> Next {
    let mut invocation = Invocation { argv, input, ..call.invocation.clone() };
    invocation.flows.extend(call.invocation.input.data.iter().cloned());
    invocation.more = invocation.more.or(more);
    Next::Program { invocation, elsewhere: None }
}

/// The words of an input that is known, or what stands before each end, as values.
fn items(input: &Stream, end: Option<u8>, is_quoted: bool) -> Option<Vec<Value>> {
    let text = input.text.as_ref()?;
    if text.why().is_some() {
        return None;
    }
    if let (None, Some(bytes)) = (end, text.bytes()) {
        let found: Vec<Value> = words(bytes).into_iter().map(Value::known).collect();
        return (found.len() <= MOST).then_some(found);
    }
    if let (Some(_), true, Some(bytes)) = (end, is_quoted, text.bytes()) {
        let found = quoted_lines(bytes)?;
        return (found.len() <= MOST).then(|| found.into_iter().map(Value::known).collect());
    }
    let mut found = vec![Value::default()];
    for piece in &text.pieces {
        match piece {
            Piece::Known(bytes) => {
                let ends = |byte: &u8| end.map_or(byte.is_ascii_whitespace(), |end| *byte == end);
                for (place, part) in bytes.split(ends).enumerate() {
                    if place > 0 {
                        found.push(Value::default());
                    }
                    let part = if is_quoted { unquoted(part) } else { part.to_vec() };
                    if let Some(last) = found.last_mut() {
                        last.push(Piece::Known(part));
                    }
                }
            }
            piece => {
                if let Some(last) = found.last_mut() {
                    last.push(piece.clone());
                }
            }
        }
    }
    found.retain(|item| !item.pieces.is_empty());
    (found.len() <= MOST).then_some(found)
}

/// The byte `-d` names.
fn delimiter(given: &str) -> Option<u8> {
    match given.as_bytes() {
        [byte] => Some(*byte),
        [b'\\', b'n'] => Some(b'\n'),
        [b'\\', b't'] => Some(b'\t'),
        [b'\\', b'0'] => Some(0),
        _ => None,
    }
}

/// What stands between the delimiters of `-d`; a newline at the end belongs to the last.
fn delimited(input: &Stream, delimiter: u8) -> Option<Vec<Value>> {
    let text = input.text.as_ref().and_then(Value::bytes)?;
    let text = text.strip_suffix(&[delimiter]).unwrap_or(text);
    let found: Vec<Value> = text.split(|byte| *byte == delimiter).map(Value::known).collect();
    (found.len() <= MOST && !text.is_empty()).then_some(found)
}

/// A line as `-I` puts it in: without the blanks it begins with.
fn indented(line: &mut Value) {
    if let Some(Piece::Known(bytes)) = line.pieces.first_mut() {
        let blanks = bytes.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
        bytes.drain(..blanks);
    }
}

/// Lines with their quotes taken off; none where a quote stays open, which `xargs` refuses.
fn quoted_lines(text: &[u8]) -> Option<Vec<Vec<u8>>> {
    let (mut lines, mut line, mut quote, mut bytes) = (Vec::new(), Vec::new(), None, text.iter());
    let mut is_begun = false;
    while let Some(byte) = bytes.next() {
        match (quote, byte) {
            (Some(_), b'\n') => return None,
            (Some(open), byte) if open == *byte => quote = None,
            (None, b'\'' | b'"') => quote = Some(*byte),
            // It takes a newline along; at the very end it is nothing.
            (None, b'\\') => line.extend(bytes.next()),
            (None, b'\n' | 0) => {
                lines.push(std::mem::take(&mut line));
                is_begun = false;
                continue;
            }
            (None, b' ' | b'\t') if !is_begun => continue,
            (_, byte) => line.push(*byte),
        }
        is_begun = true;
    }
    lines.push(line);
    lines.retain(|line| !line.is_empty());
    quote.is_none().then_some(lines)
}

/// Text with its quotes taken off, as `xargs` reads it.
fn unquoted(text: &[u8]) -> Vec<u8> {
    let (mut out, mut quote, mut bytes) = (Vec::with_capacity(text.len()), None, text.iter());
    while let Some(byte) = bytes.next() {
        match (quote, byte) {
            (Some(open), byte) if open == *byte => quote = None,
            (None, b'\'' | b'"') => quote = Some(*byte),
            // At the end of a line it takes the newline along.
            (None, b'\\') => out.push(*bytes.next().unwrap_or(&b'\n')),
            (_, byte) => out.push(*byte),
        }
    }
    out
}

/// The words of a line, quotes taken off.
pub(super) fn words(line: &[u8]) -> Vec<Vec<u8>> {
    let (mut words, mut word, mut quote, mut bytes) = (Vec::new(), None::<Vec<u8>>, None, line.iter());
    while let Some(byte) = bytes.next() {
        match (quote, byte) {
            (Some(open), byte) if open == *byte => quote = None,
            (None, b'\'' | b'"') => {
                quote = Some(*byte);
                word.get_or_insert_default();
            }
            (None | Some(b'"'), b'\\') => {
                if let Some(next) = bytes.next() {
                    word.get_or_insert_default().push(*next);
                }
            }
            (None, byte) if byte.is_ascii_whitespace() => words.extend(word.take()),
            // Whatever stands behind it in its word is not seen.
            (_, 0) => {
                word.get_or_insert_default();
                while bytes.clone().next().is_some_and(|byte| !byte.is_ascii_whitespace()) {
                    bytes.next();
                }
            }
            (_, byte) => word.get_or_insert_default().push(*byte),
        }
    }
    words.extend(word);
    words
}

/// `parallel`: a line for a shell per word.
pub(super) fn parallel(call: &Call<'_>) -> Outcome {
    let options = Options::new(
        "j:a:I:n:N:L:S:d:C:P:s:E:",
        "jobs= arg-file= max-args= sshlogin= delimiter= colsep= joblog= results= retries= delay= timeout= tmpdir= \
         workdir= wd= load= memfree= halt= progress bar eta dry-run pipe keep-order tag will-cite",
    )
    .stops();
    let read = call.read(&options);
    let marks = |arg: &Value| matches!(arg.text(), Some(":::" | ":::+" | "::::" | "::::+"));
    let at = read.operands.iter().position(marks).unwrap_or(read.operands.len());
    let (command, rest) = read.operands.split_at_checked(at).unwrap_or_default();
    let mut outcome = Outcome::default();
    let mut given: Option<Vec<Value>> = None;
    if rest.first().and_then(Value::text).is_some_and(|mark| mark.starts_with("::::")) {
        for file in rest.iter().skip(1) {
            outcome.push(call.reads(file));
        }
    } else if !rest.is_empty() {
        given = Some(rest.iter().filter(|arg| !marks(arg)).cloned().collect());
    } else if !read.has("a arg-file") {
        given = items(&call.invocation.input, Some(b'\n'), false);
    }
    if read.has("pipe") {
        return outcome.then(call.shell(joined(command)));
    }
    let items = given.unwrap_or_else(|| vec![Value::unknown(call.why("what parallel reads"))]);
    for item in items.iter().take(MOST) {
        let line = joined(command);
        let mut whole = ["{}", "{.}", "{1}", "{/}"]
            .iter()
            .fold(line.clone(), |line, holder| replaced(&line, holder.as_bytes(), item));
        if whole == line {
            if !command.is_empty() {
                whole.push(Piece::Known(b" ".to_vec()));
            }
            for piece in &item.pieces {
                whole.push(piece.clone());
            }
        }
        outcome.next.push(call.shell(whole));
    }
    if outcome.acts.is_empty() && outcome.next.is_empty() {
        outcome.push(Act::Compute);
    }
    outcome.rehearsed_if(read.has("dry-run"))
}

#[cfg(test)]
mod tests {
    use super::super::testing::{check, given, shown};
    use super::*;

    #[test]
    fn what_is_read_becomes_arguments() {
        for (line, input, expected) in [
            ("xargs rm -rf", "/ '/etc'\n", "> rm -rf / /etc"),
            ("xargs -I{} rm -rf {}/x", "/a b\n/c", "> rm -rf /a b/x; > rm -rf /c/x"),
            ("xargs -0 -n 1 rm", "a", "> rm a"),
            ("xargs", "a", "> echo a"),
            ("xargs -n1 rm -rf", "a 'b c'", "> rm -rf a; > rm -rf b c"),
            ("parallel rm -rf", "/a\n/b", "$ rm -rf /a; $ rm -rf /b"),
            ("parallel", "rm -rf /", "$ rm -rf /"),
        ] {
            assert_eq!(shown(&given(line, Stream::text(Value::known(input)))), expected, "{line}");
        }
        check(&[
            ("xargs -a list rm", "read /home/dev/project/list; > rm …"),
            ("xargs rm -f", "> rm -f …"),
            ("parallel rm -rf {} ::: / /etc", "$ rm -rf /; $ rm -rf /etc"),
            ("parallel ::: 'rm -rf /'", "$ rm -rf /"),
        ]);
        assert_eq!(words(b"a 'b c' \"d\\\"\" e\\ f"), [&b"a"[..], b"b c", b"d\"", b"e f"]);
    }
}
