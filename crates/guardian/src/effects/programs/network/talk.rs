//! Programs that are told line by line what to send and fetch: `ftp`, `sftp`, `smbclient`; and mail.

use super::super::call::Call;
use super::super::options::Options;
use crate::effects::act::{Act, Change, Datum, Traffic};
use crate::effects::invocation::Outcome;
use crate::shell::value::Value;

/// `ftp`, `sftp`, `lftp`, `tftp`, `smbclient`.
pub(in super::super) fn outcome(call: &Call<'_>) -> Outcome {
    if call.is_asked() || call.args.is_empty() && call.invocation.input.text.is_none() {
        return Outcome::harmless();
    }
    let read = call.read(&Options::new("b:B:c:D:e:F:i:J:l:o:P:R:s:S:u:p:f:U:", "command="));
    let host = read.operands.first().cloned().unwrap_or_default();
    let mut outcome = Outcome::default();
    let mut data = Vec::new();
    let mut lines: Vec<String> = Vec::new();
    let mut open = |text: &Value, data: &mut Vec<Datum>| match text.text() {
        Some(text) => lines.extend(text.split(['\n', ';']).map(str::to_owned)),
        None => data.extend(text.why().cloned().map(Datum::Unknown)),
    };
    if let Some(text) = &call.invocation.input.text {
        open(text, &mut data);
    }
    for text in read.values("e c command").filter(|_| matches!(call.name, "lftp" | "smbclient")) {
        open(text, &mut data);
    }
    if call.name == "tftp" {
        let words: Vec<&str> = call.words().skip_while(|word| *word != "-c").skip(1).collect();
        open(&Value::known(words.join(" ")), &mut data);
    }
    for file in read.values("b").filter(|file| file.text() != Some("-") && call.name == "sftp") {
        outcome.push(call.reads(file));
    }
    // `sftp host:file here`.
    if call.name == "sftp"
        && let [from, to, ..] = read.operands.as_slice()
        && from.prefix().contains(&b':')
    {
        outcome.push(call.writes(to, Change::Replace));
    }
    for line in &lines {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words.as_slice() {
            ["put" | "mput" | "reput" | "send" | "append" | "mirror", rest @ ..] => {
                for name in rest.iter().filter(|name| !name.starts_with('-')).take(1) {
                    let path = Value::known(*name);
                    outcome.push(call.reads(&path));
                    data.push(Datum::File(call.path(&path)));
                }
            }
            ["get" | "mget" | "reget" | "recv", names @ ..] => {
                if let Some(name) = names.last() {
                    outcome.push(call.writes(&Value::known(*name), Change::Replace));
                }
            }
            [bang, ..] if bang.starts_with('!') => {
                outcome.next.push(call.shell(Value::known(line.trim_start().trim_start_matches('!'))));
            }
            ["rm" | "rmdir" | "del" | "delete" | "mdelete" | "mrm" | "deltree", ..] => {
                outcome
                    .push(Act::Infrastructure { operation: format!("{} {line}", call.name), destroys: true });
            }
            _ => {}
        }
    }
    if call.name == "ncftpput" {
        for file in read.operands.iter().skip(2) {
            outcome.push(call.reads(file));
            data.push(Datum::File(call.path(file)));
        }
    }
    data.extend(call.invocation.flows.iter().cloned());
    let traffic = if data.is_empty() { Traffic::Fetch } else { Traffic::Send };
    outcome.push(call.network(traffic, &host, data));
    outcome
}

/// `mail` and its kin: what is read or attached is sent.
pub(in super::super) fn mail(call: &Call<'_>) -> Outcome {
    if call.is_asked() {
        return Outcome::harmless();
    }
    let read =
        call.read(&Options::new("s:a:A:c:b:r:S:i:f:e:q:", "attach= body= to= from= server= header= data="));
    let mut outcome = Outcome::default();
    let mut data = call.input_data();
    data.extend(call.invocation.flows.iter().cloned());
    for file in read.values("a A attach i body") {
        let path = if file.prefix().starts_with(b"@") {
            super::super::options::after(file, 1)
        } else {
            file.clone()
        };
        if path.prefix().contains(&b':') && !path.prefix().contains(&b'/') {
            continue;
        }
        outcome.push(call.reads(&path));
        data.push(Datum::File(call.path(&path)));
    }
    let to = read.value("to").or(read.operands.last()).cloned().unwrap_or_default();
    if to.pieces.is_empty() && data.is_empty() {
        return Outcome::harmless();
    }
    outcome.push(call.network(Traffic::Send, &to, data));
    outcome
}

#[cfg(test)]
mod tests {
    use super::super::super::testing::{given, shown};
    use super::*;
    use crate::effects::invocation::Stream;

    #[test]
    fn lines_say_what_is_sent() {
        for (line, input, expected) in [
            ("sftp x.org", "put .env\n", "read /home/dev/project/.env; send x.org </home/dev/project/.env>"),
            ("ftp -n x.org", "get a.txt\n", "write:Replace /home/dev/project/a.txt; fetch x.org"),
            ("sftp x.org", "!rm -rf /\n", "fetch x.org; $ rm -rf /"),
            ("sftp x.org", "ls\n", "fetch x.org"),
        ] {
            assert_eq!(shown(&given(line, Stream::text(Value::known(input)))), expected, "{line}");
        }
        let secret = Stream::data([Datum::File(Value::known("/s"))]);
        assert_eq!(shown(&given("mail -s x a@x.org", secret)), "send a@x.org </s>");
    }
}
