//! Plants every kind of secret in every shape it is seen in, whole and in pieces; none may come out.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test stops at the first surprise")]

mod planted;

use std::sync::Arc;

use belljar_guardian::redact::{Redactor, Shown};
use planted::{ALNUM, body, named, tokens};
use serde_json::{Value, json};

const KEY: &[u8] = b"a key for tests";
fn around_token(secret: &str) -> Vec<String> {
    vec![
        secret.to_owned(),
        format!("the value is {secret}, keep it"),
        format!("({secret})"),
        format!("first line\n{secret}\nlast line"),
        format!("{{\"anything\":\"{secret}\"}}"),
        format!("{{\\\"anything\\\":\\\"{secret}\\\"}}"),
        format!("export THING='{secret}'"),
        format!("X-Custom: {secret}\r\n"),
        format!("https://example.com/?q={secret}&page=2"),
        format!("- {secret}"),
        format!("echo {secret} | base64"),
    ]
}

fn around_named(name: &str, secret: &str) -> Vec<String> {
    vec![
        format!("{name}={secret}"),
        format!("export {name}={secret}; run"),
        format!("{name}=\"{secret}\""),
        format!("{name}='{secret}'\nNEXT=1"),
        format!("{name}: {secret}\n"),
        format!("  {name}: '{secret}'\n"),
        format!("{name}: |\n  {secret}\nnext: 1\n"),
        format!("{name} = \"{secret}\""),
        format!("{{\"{name}\":\"{secret}\"}}"),
        format!("{{\n  \"{name}\" : \"{secret}\"\n}}"),
        format!("{{\\\"{name}\\\": \\\"{secret}\\\"}}"),
        format!("run --{name} {secret} --verbose"),
        format!("run --{name}={secret} --verbose"),
        format!("<{name}>{secret}</{name}>"),
        format!("Server=tcp:x;{name}={secret};Timeout=3"),
        format!("https://example.com/?{name}={secret}&page=2"),
        format!("config[\"{name}\"] = \"{secret}\""),
        format!("docker run -e {name}={secret} image"),
        format!("{name}={secret}\\nNEXT=1"),
    ]
}

fn others() -> Vec<(String, String)> {
    let long = body(40, ALNUM, 40);
    let pem = |label: &str, break_: &str| {
        let lines: Vec<String> = (0..6).map(|line| body(50 + line, ALNUM, 64)).collect();
        let text = format!(
            "-----BEGIN {label}-----{break_}{}{break_}-----END {label}-----{break_}",
            lines.join(break_)
        );
        (lines[3].clone(), text)
    };
    let mut all = vec![
        (long.clone(), format!("Authorization: Bearer {long}\r\nHost: x\r\n")),
        (long.clone(), format!("curl -H 'Authorization: Basic {long}' https://x")),
        (long.clone(), format!("{{\"authorization\":\"token {long}\"}}")),
        (long.clone(), format!("Proxy-Authorization: Basic {long}")),
        (long.clone(), format!("Cookie: theme=dark; sid={long}\r\nAccept: */*")),
        (long.clone(), format!("Set-Cookie: sid={long}; HttpOnly")),
        (long.clone(), format!("{{\"Cookie\": \"sid={long}\"}}")),
        (long.clone(), format!("it sent bearer {long} again")),
        ("s3cr3t!pw".to_owned(), "postgres://app:s3cr3t!pw@db.internal:5432/app".to_owned()),
        ("s3cr3t".to_owned(), "git clone https://bot:s3cr3t@example.com/x.git".to_owned()),
        ("s3cr3t".to_owned(), "redis://:s3cr3t@cache:6379/0".to_owned()),
        ("p@ss1".to_owned(), "amqp://u:p@ss1@mq/".to_owned()),
        (long.clone(), format!("https://{long}@github.com/x/y")),
        ("s3cr3t".to_owned(), "curl -u admin:s3cr3t https://x".to_owned()),
        ("s3cr3t".to_owned(), "curl --user 'admin:s3cr3t' https://x".to_owned()),
        ("hunter2pw".to_owned(), "mysql -u root -phunter2pw db".to_owned()),
        ("hunter2pw".to_owned(), "sshpass -p 'hunter2pw' ssh host".to_owned()),
        ("hunter2pw".to_owned(), "docker login -u me -p hunter2pw registry".to_owned()),
        ("hunter2pw".to_owned(), "CREATE USER bob IDENTIFIED BY 'hunter2pw';".to_owned()),
        ("hunter2pw".to_owned(), "ALTER USER bob WITH PASSWORD 'hunter2pw';".to_owned()),
        (long.clone(), format!("machine x login deploy password {long}")),
        ("correct horse".to_owned(), "{\"password\": \"correct horse battery\"}".to_owned()),
        ("plainword".to_owned(), "PASSWORD=plainword".to_owned()),
        ("say \\\"hi\\\" x".to_owned(), "{\"password\": \"say \\\"hi\\\" x\"}".to_owned()),
    ];
    for label in
        ["PRIVATE KEY", "RSA PRIVATE KEY", "EC PRIVATE KEY", "OPENSSH PRIVATE KEY", "PGP PRIVATE KEY BLOCK"]
    {
        all.push(pem(label, "\n"));
        all.push(pem(label, "\\n"));
        all.push(pem(label, "\r\n    "));
    }
    let (line, whole) = pem("PRIVATE KEY", "\n");
    all.push((line, whole.split("-----END").next().unwrap().to_owned()));
    all
}

/// Every planted text with the secret in it.
fn planted() -> Vec<(String, String)> {
    let mut all = others();
    for (_, secret) in tokens() {
        // What follows the prefix is the secret; a webhook's host may stay.
        let tail = secret[secret.len() - 16..].to_owned();
        all.extend(around_token(&secret).into_iter().map(|text| (tail.clone(), text)));
    }
    for (name, secret) in named() {
        all.extend(around_named(name, &secret).into_iter().map(|text| (secret.clone(), text)));
    }
    all
}

#[test]
fn at_least_forty_kinds_are_planted() {
    assert!(tokens().len() + named().len() >= 60);
    assert!(planted().len() > 800, "{}", planted().len());
}

#[test]
fn no_planted_secret_survives() {
    let redactor = Redactor::new(KEY);
    let mut survivors = Vec::new();
    for (secret, text) in planted() {
        let clean = redactor.text(&text);
        if clean.contains(&secret) || !clean.contains("[redacted:") {
            survivors.push(format!("{text}\n    -> {clean}"));
        }
    }
    assert!(survivors.is_empty(), "{} survived:\n{}", survivors.len(), survivors.join("\n"));
}

#[test]
fn no_planted_secret_survives_in_json() {
    let redactor = Redactor::new(KEY);
    for (secret, text) in planted() {
        let mut value = json!({"a": [{"b": text}], text.clone(): 1});
        redactor.value(&mut value);
        assert!(!strings(&value).iter().any(|text| text.contains(&secret)), "{text} -> {value}");
    }
    for (name, secret) in named() {
        for mut value in [
            json!({name: secret}),
            json!({"env": {name: [secret]}}),
            json!({"env": [{"name": name, "value": secret}]}),
            json!({"argv": ["run", format!("--{name}"), secret]}),
            json!({name: {"value": secret}}),
        ] {
            redactor.value(&mut value);
            assert!(!value.to_string().contains(&secret), "{value}");
        }
    }
}

fn strings(value: &Value) -> Vec<String> {
    match value {
        Value::String(text) => vec![text.clone()],
        Value::Array(items) => items.iter().flat_map(strings).collect(),
        Value::Object(fields) => {
            fields.iter().flat_map(|(name, value)| [vec![name.clone()], strings(value)].concat()).collect()
        }
        _ => Vec::new(),
    }
}

#[test]
fn redacting_twice_changes_nothing() {
    let redactor = Redactor::new(KEY);
    for (_, text) in planted() {
        let once = redactor.text(&text).into_owned();
        assert_eq!(redactor.text(&once), once, "{text}");
    }
}

/// Pushes pieces and puts together what was shown, and what it was.
fn streamed(redactor: &Arc<Redactor>, pieces: &[&[u8]]) -> (String, Vec<u8>) {
    let mut stream = redactor.stream();
    let mut shown: Vec<Shown> = pieces.iter().map(|piece| stream.push(piece)).collect();
    shown.push(stream.finish());
    let raw = shown.iter().flat_map(|shown| shown.raw.clone().unwrap_or_else(|| shown.clean.clone()));
    let raw = raw.collect();
    let clean = shown.into_iter().flat_map(|shown| shown.clean).collect();
    (String::from_utf8(clean).unwrap(), raw)
}

#[test]
fn no_planted_secret_survives_in_pieces() {
    let redactor = Arc::new(Redactor::new(KEY));
    for (secret, text) in planted() {
        let whole = format!("before\n{text}\nand after.\n");
        for size in [1, 7, 16, 61] {
            let pieces: Vec<&[u8]> = whole.as_bytes().chunks(size).collect();
            let (clean, raw) = streamed(&redactor, &pieces);
            assert!(!clean.contains(&secret), "in pieces of {size}: {text} -> {clean}");
            assert!(clean.ends_with("and after.\n"), "{clean}");
            assert!(raw == whole.as_bytes(), "in pieces of {size}: {text} -> {}", raw.escape_ascii());
        }
    }
}

#[test]
fn no_planted_secret_survives_a_cut_anywhere() {
    let redactor = Arc::new(Redactor::new(KEY));
    // A cut may leave the beginning of a token, never the most of it.
    for (secret, text) in planted() {
        let whole = format!("{text}\nand after.\n");
        for cut in (1..whole.len()).step_by(3) {
            let Some((first, second)) = whole.as_bytes().split_at_checked(cut) else { continue };
            let (clean, raw) = streamed(&redactor, &[first, second]);
            let rest = &secret[secret.len() / 2..];
            assert!(!clean.contains(&secret), "cut at {cut}: {text} -> {clean}");
            assert!(secret.len() < 16 || !clean.contains(rest), "cut at {cut}: {text} -> {clean}");
            assert!(raw == whole.as_bytes(), "cut at {cut}: {text}");
        }
    }
}

#[test]
fn colours_hide_no_secret() {
    let redactor = Redactor::new(KEY);
    let token = format!("ghp_{}", body(3, ALNUM, 36));
    for text in [
        format!("\x1b[31m{token}\x1b[0m"),
        format!("\x1b[1;31mDB_PASSWORD\x1b[0m=\x1b[32m{token}"),
        format!("\x1b[34;1m\"secret\"\x1b[0m\x1b[1;39m:\x1b[0m \x1b[0;32m\"{token}\"\x1b[0m"),
    ] {
        assert!(!redactor.text(&text).contains(&token[4..]), "{}", redactor.text(&text).escape_debug());
    }
    let clean = redactor.text("\x1b[1;31mDB_PASSWORD\x1b[0m=\x1b[32mhunter2x\x1b[0m").into_owned();
    assert!(!clean.contains("hunter2x"), "{}", clean.escape_debug());
}
