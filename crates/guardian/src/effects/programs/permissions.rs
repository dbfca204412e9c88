//! What changes permissions, owners, attributes and capabilities.

use super::call::Call;
use super::options::Options;
use crate::effects::act::Act;
use crate::effects::invocation::Outcome;
use crate::shell::value::Value;

const OPTIONS: Options = Options::new(
    "m:M:x:X:u:r:t:l:",
    "recursive reference= from= silent quiet changes verbose preserve-root no-preserve-root dereference \
     no-dereference modify= remove= set= set-file= restore= user= role= type= range= remove-all remove-default \
     help version",
);
const CHANGE: Options = Options::new(
    "",
    "recursive reference= from= silent quiet changes verbose preserve-root no-preserve-root dereference \
     no-dereference help version",
);

/// `chmod`, `chown`, `chgrp`, `chattr`, `setfacl`, `setcap`, `chcon`.
pub(super) fn outcome(call: &Call<'_>) -> Outcome {
    // `-x`, `-w` and `+i` are what becomes, not options.
    let mode = call.args.iter().position(|arg| match call.name {
        "chmod" => is_mode(arg),
        "chattr" => arg.text().is_some_and(is_attributes),
        _ => false,
    });
    let (args, mut to) = match mode.and_then(|place| Some((place, call.args.get(place)?))) {
        Some((place, mode)) => {
            let rest = call.args.iter().enumerate().filter(|(other, _)| *other != place);
            (rest.map(|(_, arg)| arg.clone()).collect(), Some(mode.clone()))
        }
        None => (call.args.to_vec(), None),
    };
    let options = if matches!(call.name, "setfacl" | "chcon") { &OPTIONS } else { &CHANGE };
    let read = options.read(&args);
    if read.has("help version") {
        return Outcome::harmless();
    }
    let mut paths = call.targets(&read);
    if let Some(given) = read.value("m modify reference set x remove t l M set-file restore") {
        to = Some(given.clone());
    }
    if to.is_none() && !paths.is_empty() && !(call.name == "setfacl" && read.has("b k remove-all")) {
        to = Some(paths.remove(0));
    }
    if paths.is_empty() {
        paths.extend(call.invocation.more.clone().map(Value::unknown));
    }
    let to = to.unwrap_or_default();
    let deep = read.has("R recursive");
    Outcome::of(paths.iter().map(|path| Act::Permit { path: call.path(path), deep, to: to.clone() }))
}

fn is_mode(arg: &Value) -> bool {
    let Some(text) = arg.text() else { return false };
    let symbolic = text.contains(['+', '-', '='])
        && text.chars().all(|letter| "ugoarwxXst+-=,".contains(letter))
        && !text.starts_with("--")
        && text != "-";
    symbolic || (!text.is_empty() && text.chars().all(|digit| digit.is_digit(8)))
}

fn is_attributes(text: &str) -> bool {
    let rest = text.strip_prefix(['+', '-', '=']).unwrap_or_default();
    !rest.is_empty()
        && !matches!(text, "-R" | "-V" | "-f" | "-v" | "-p")
        && rest.chars().all(char::is_alphabetic)
}

#[cfg(test)]
mod tests {
    use super::super::testing::check;

    #[test]
    fn permissions_say_what_they_become() {
        check(&[
            ("chmod +x a.sh", "permit /home/dev/project/a.sh +x"),
            ("chmod -x a.sh", "permit /home/dev/project/a.sh -x"),
            ("chmod -R 777 /", "permit/ / 777"),
            ("chmod 777 -R / ", "permit/ / 777"),
            ("chmod --recursive u+s /bin/sh", "permit/ /bin/sh u+s"),
            ("chmod --reference=a b", "permit /home/dev/project/b a"),
            ("chown -R dev:dev .", "permit/ /home/dev/project dev:dev"),
            ("chattr +i /etc/passwd", "permit /etc/passwd +i"),
            ("chattr -R -i /etc", "permit/ /etc -i"),
            ("setfacl -R -m u:x:rwx /srv", "permit/ /srv u:x:rwx"),
            ("setcap cap_setuid+ep /usr/bin/python3", "permit /usr/bin/python3 cap_setuid+ep"),
        ]);
    }
}
