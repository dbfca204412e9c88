//! Writes a tree down in one line, for tests to compare: quoted text in `'…'`, everything else by name.

use crate::shell::ast::{
    Assigned, Assignment, Command, Descriptor, Kind, Link, Operation, Part, Redirect, Script, Target, Test,
    Word,
};

pub(super) fn script(script: &Script) -> String {
    let mut pieces: Vec<String> = script.commands.iter().map(command).collect();
    pieces.extend(script.unknown.iter().map(|unknown| format!("?{:?}", unknown.reason)));
    pieces.join(" ;; ")
}

fn command(command: &Command) -> String {
    let mut text = kind(&command.kind);
    for redirect in &command.redirects {
        if !text.is_empty() {
            text.push(' ');
        }
        text.push_str(&self::redirect(redirect));
    }
    text
}

fn kind(kind: &Kind) -> String {
    match kind {
        Kind::Simple { assignments, words } => {
            let pieces: Vec<String> =
                assignments.iter().map(assignment).chain(words.iter().map(word)).collect();
            pieces.join(" ")
        }
        Kind::Pipeline { negated, stages } => {
            let stages: Vec<String> = stages.iter().map(command).collect();
            format!("{}pipe({})", if *negated { "!" } else { "" }, stages.join(" | "))
        }
        Kind::List(items) => {
            let mut text = String::from("list(");
            for (item, link) in items {
                text.push_str(&command(item));
                text.push_str(match link {
                    Link::And => " && ",
                    Link::Or => " || ",
                    Link::Then => "; ",
                    Link::Background => " & ",
                });
            }
            format!("{})", text.trim_end())
        }
        Kind::Group(body) => format!("group({})", script(body)),
        Kind::Subshell(body) => format!("sub({})", script(body)),
        Kind::If { arms, otherwise } => {
            let arms: Vec<String> = arms
                .iter()
                .map(|(condition, body)| format!("{} then {}", script(condition), script(body)))
                .collect();
            let otherwise =
                otherwise.as_ref().map(|body| format!(" else {}", script(body))).unwrap_or_default();
            format!("if({}{otherwise})", arms.join(" elif "))
        }
        Kind::While { until, condition, body } => {
            format!("{}({} do {})", if *until { "until" } else { "while" }, script(condition), script(body))
        }
        Kind::For { select, name, words, body } => {
            let words = words.as_ref().map(|words| words.iter().map(word).collect::<Vec<_>>().join(" "));
            let name = String::from_utf8_lossy(name);
            format!("{}({name} in {words:?} do {})", if *select { "select" } else { "for" }, script(body))
        }
        Kind::ForArithmetic { parts, body } => {
            let parts: Vec<String> = parts.iter().map(word).collect();
            format!("for(({}) do {})", parts.join(";"), script(body))
        }
        Kind::Case { subject, arms } => {
            let arms: Vec<String> = arms
                .iter()
                .map(|arm| {
                    let patterns: Vec<String> = arm.patterns.iter().map(word).collect();
                    format!("{}) {} {:?}", patterns.join("|"), script(&arm.body), arm.end)
                })
                .collect();
            format!("case({} {})", word(subject), arms.join(" "))
        }
        Kind::Condition(test) => format!("[[{}]]", self::test(test)),
        Kind::Arithmetic(expression) => format!("(({}))", word(expression)),
        Kind::Function { name, body } => format!("def({} {})", String::from_utf8_lossy(name), command(body)),
        Kind::Coprocess { name, body } => {
            format!("coproc({} {})", name.as_ref().map(word).unwrap_or_default(), command(body))
        }
    }
}

fn test(test: &Test) -> String {
    match test {
        Test::And(left, right) => format!("({} && {})", self::test(left), self::test(right)),
        Test::Or(left, right) => format!("({} || {})", self::test(left), self::test(right)),
        Test::Not(inner) => format!("!{}", self::test(inner)),
        Test::Unary(operator, operand) => format!("{} {}", String::from_utf8_lossy(operator), word(operand)),
        Test::Binary(left, operator, right) => {
            format!("{} {} {}", word(left), String::from_utf8_lossy(operator), word(right))
        }
        Test::Word(inner) => word(inner),
    }
}

fn assignment(assignment: &Assignment) -> String {
    let index = assignment.index.as_ref().map(|index| format!("[{}]", word(index))).unwrap_or_default();
    let value = match &assignment.value {
        Assigned::Scalar(value) => word(value),
        Assigned::Array(elements) => self::elements(elements),
    };
    let operator = if assignment.append { "+=" } else { "=" };
    format!("{}{index}{operator}{value}", String::from_utf8_lossy(&assignment.name))
}

fn elements(elements: &[(Option<Word>, Word)]) -> String {
    let elements: Vec<String> = elements
        .iter()
        .map(|(index, value)| match index {
            Some(index) => format!("[{}]={}", word(index), word(value)),
            None => word(value),
        })
        .collect();
    format!("({})", elements.join(" "))
}

pub(super) fn word(word: &Word) -> String {
    word.parts.iter().map(part).collect()
}

fn part(part: &Part) -> String {
    let quotes = |quoted: bool| if quoted { "\"" } else { "" };
    match part {
        Part::Literal { text, quoted: false } => String::from_utf8_lossy(text).escape_debug().to_string(),
        Part::Literal { text, quoted: true } => format!("'{}'", text.escape_ascii()),
        Part::Parameter { name, index, operation, quoted, .. } => {
            let index = index.as_ref().map(|index| format!("[{}]", word(index))).unwrap_or_default();
            let name = String::from_utf8_lossy(name);
            format!("{q}${{{name}{index}{}}}{q}", self::operation(operation), q = quotes(*quoted))
        }
        Part::Command { script: inner, quoted, .. } => {
            format!("{q}$({}){q}", script(inner), q = quotes(*quoted))
        }
        Part::Arithmetic { expression, quoted, .. } => {
            format!("{q}$(({})){q}", word(expression), q = quotes(*quoted))
        }
        Part::Process { output, script: inner, .. } => {
            format!("{}({})", if *output { ">" } else { "<" }, script(inner))
        }
        Part::Tilde(name) => format!("tilde<{}>", String::from_utf8_lossy(name)),
        Part::Glob(glob) => format!("glob<{}>", String::from_utf8_lossy(glob)),
        Part::ExtGlob { operator, alternatives } => {
            let alternatives: Vec<String> = alternatives.iter().map(word).collect();
            format!("ext<{}{}>", char::from(*operator), alternatives.join("|"))
        }
        Part::Braces(words) => format!("{{{}}}", words.iter().map(word).collect::<Vec<_>>().join(",")),
        Part::Sequence(text) => format!("seq<{}>", String::from_utf8_lossy(text)),
        Part::Array(elements) => self::elements(elements),
        Part::Unknown(unknown) => format!("?{:?}", unknown.reason),
    }
}

fn operation(operation: &Operation) -> String {
    let colon = |colon: &bool| if *colon { ":" } else { "" };
    match operation {
        Operation::Plain => String::new(),
        Operation::Length => " length".to_owned(),
        Operation::Indirect(inner) => format!(" indirect{}", self::operation(inner)),
        Operation::Names => " names".to_owned(),
        Operation::Default(value, with) => format!("{}-{}", colon(with), word(value)),
        Operation::Assign(value, with) => format!("{}={}", colon(with), word(value)),
        Operation::Require(value, with) => format!("{}?{}", colon(with), word(value)),
        Operation::Alternative(value, with) => format!("{}+{}", colon(with), word(value)),
        Operation::WithoutPrefix(pattern, longest) => {
            format!("{}{}", if *longest { "##" } else { "#" }, word(pattern))
        }
        Operation::WithoutSuffix(pattern, longest) => {
            format!("{}{}", if *longest { "%%" } else { "%" }, word(pattern))
        }
        Operation::Replace(pattern, with, kind) => {
            let kind = kind.map(|byte| char::from(byte).to_string()).unwrap_or_default();
            let with = with.as_ref().map(|with| format!("/{}", word(with))).unwrap_or_default();
            format!("/{kind}{}{with}", word(pattern))
        }
        Operation::Slice(offset, length) => {
            let length = length.as_ref().map(|length| format!(":{}", word(length))).unwrap_or_default();
            format!(":{}{length}", word(offset))
        }
        Operation::Case(operator, pattern) => {
            let pattern = pattern.as_ref().map(|pattern| word(pattern)).unwrap_or_default();
            format!("{}{pattern}", String::from_utf8_lossy(operator))
        }
        Operation::Transform(letter) => format!("@{}", char::from(*letter)),
    }
}

fn redirect(redirect: &Redirect) -> String {
    let descriptor = match &redirect.descriptor {
        None => String::new(),
        Some(Descriptor::Number(number)) => number.to_string(),
        Some(Descriptor::Variable(name)) => format!("{{{}}}", String::from_utf8_lossy(name)),
    };
    let target = match &redirect.target {
        Target::Read(file) => format!("<{}", word(file)),
        Target::Write(file, clobber) => format!(">{}{}", if *clobber { "|" } else { "" }, word(file)),
        Target::Append(file) => format!(">>{}", word(file)),
        Target::ReadWrite(file) => format!("<>{}", word(file)),
        Target::Both(file, append) => format!("&>{}{}", if *append { ">" } else { "" }, word(file)),
        Target::Duplicate(number, input) => format!("{}&{}", if *input { "<" } else { ">" }, word(number)),
        Target::HereDocument(here) => {
            format!(
                "<<{}{}[{}]",
                if here.strip { "-" } else { "" },
                if here.quoted { "'" } else { "" },
                word(&here.body)
            )
        }
        Target::HereString(text) => format!("<<<{}", word(text)),
    };
    format!("{descriptor}{target}")
}
