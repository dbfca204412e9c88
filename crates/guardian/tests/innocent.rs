//! What must come through unchanged, and what hostile input may cost.

#![expect(
    clippy::disallowed_methods,
    reason = "the bound on time is measured; the crate itself has no clock"
)]

use std::{sync::Arc, time::Instant};

use belljar_guardian::redact::Redactor;
use serde_json::json;

fn redactor() -> Redactor {
    Redactor::new(b"a key for tests")
}

#[test]
fn ordinary_text_stays() {
    let redactor = redactor();
    for text in [
        "commit 4d36b00f2a1c9e8b7d6a5f4e3c2b1a0918273645",
        "Merge 71cd796 into 37bc6d5",
        "id: 0192f6a4-7c1e-7b2d-9c3f-1a2b3c4d5e6f",
        "sbx_01a1e188fc7275b78f34f4f88def7f68",
        "\"integrity\": \"sha512-z8sI2cV0xq0ZJw6y0m1T3oQ5bE7gk9uYtq4n1Jr3mLrQyQ3f2v1x0w==\"",
        "checksum = \"9e1c0b7d2e4856f3a1c0b7d2e48563f9a1c0b7d2e48563f9a1c0b7d2e48563f9\"",
        "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk",
        "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "max_tokens: 4096, input_tokens=1200, \"output_tokens\": 42",
        "\"usage\":{\"input_tokens\":1200,\"cache_read_input_tokens\":900}",
        "token: 42",
        "The token is passed to the next function; the secret of success is patience.",
        "Secret: nobody knows.",
        "password: required",
        "password: string;",
        "fn login(password: &str, token: Option<String>) -> Result<()> {",
        "const token = getToken();",
        "let token = self.next_token()?;",
        "token = parser.next()",
        "login(password=password, token=token)",
        "login(user=user, password=config.db_password)",
        "password = os.environ[\"DB_PASSWORD\"]",
        "DB_PASSWORD=$DB_PASSWORD",
        "password: ${{ secrets.DB_PASSWORD }}",
        "token: <your token>",
        "api_key: ****************",
        "PASSWORD=",
        "PWD=/home/dev/project",
        "OLDPWD=/home/dev",
        "if token == other_token { return; }",
        "keyboard: us, monkey=1, author: me",
        "cache key: Linux-cargo-9e1c0b7d2e4856f3a1c0b7d2e48563f9",
        "\"key\": \"9e1c0b7d-2e48-56f3-a1c0-b7d2e48563f9\"",
        "session.id=01670efa-abcf-4208-bb80-c9c95eefe796 tool_use_id=toolu_01AbCdEfGhIjKlMnOpQrStUv",
        "prompt_id: cdb51bf2-521e-4685-9398-c7a53fb09d6a",
        "request_id=req_011CQ2mQguC33S1JpgULARTm",
        "https://example.com/a/b?page=2#top",
        "http://user@example.com/",
        "git@github.com:owner/repo.git",
        "postgres://user:password@localhost/db",
        "docker run -u 1000:1000 image",
        "task-management-and-risk-assessment-for-the-whole-team",
        "disk-usage, sk-learn, ask-me",
        "-----BEGIN CERTIFICATE-----\nMIIBszCCAVmgAwIBAgIU\n-----END CERTIFICATE-----",
        "-----BEGIN PUBLIC KEY-----\nMFkwEwYHKoZIzj0CAQYI\n-----END PUBLIC KEY-----",
        "Cookie policy: we use cookies",
        "Authorization: required for all routes",
        "The bearer of this letter is a friend",
        "use crate::token::Token; mod password;",
        "npm_config_registry=https://registry.npmjs.org/",
        "class TokenStream:",
        "--token-file /run/secrets/token --password-stdin",
        "mkdir -p a/b && docker run -p 8080:80 image",
        "mysql -u root -p database",
        "X-Access-Token: {accessToken}",
        "write!(head, \"Authorization: Bearer {token}\")",
        "send `Authorization: Bearer KEY` or `Authorization: Bearer …`",
        "const SECRET: std::ops::RangeInclusive<usize> = 16..=256;",
        "the password 'required' is a word",
        "Ünïcödé: passwört, 密码, ключ",
    ] {
        assert_eq!(redactor.text(text), text);
    }
}

#[test]
fn ordinary_json_stays() {
    let redactor = redactor();
    let value = json!({
        "session_id": "d9b6d88a-6c5c-4fc1-9d22-5c30b5e9e50f",
        "tool_use_id": "toolu_fake_0001",
        "max_tokens": 4096,
        "usage": {"input_tokens": 1200, "token_count": 3},
        "password": null,
        "token": "",
        "has_secret": true,
        "key": "Enter",
        "tool_input": {"file_path": "/home/dev/token.rs", "old_string": "let key = 1;"}
    });
    let mut clean = value.clone();
    redactor.value(&mut clean);
    assert_eq!(clean, value);
}

#[test]
fn equal_secrets_are_recognised() {
    let redactor = redactor();
    let one = redactor.text("DB_PASSWORD=hunter2x").into_owned();
    let mut other = json!({"password": "hunter2x"});
    redactor.value(&mut other);
    assert_eq!(one.strip_prefix("DB_PASSWORD="), other["password"].as_str());
}

#[test]
fn a_stream_gives_everything_back_and_holds_little() {
    let redactor = Arc::new(redactor());
    let mut text = String::new();
    for line in 0..4000 {
        text.push_str(&format!("line {line}: nothing to see, tokens=3\n"));
    }
    text.push_str(&"no line ends here; ".repeat(20_000));
    for size in [1000, 4096, 200_000] {
        let (mut stream, mut out, mut most) = (redactor.stream(), Vec::new(), 0);
        for piece in text.as_bytes().chunks(size) {
            out.extend(stream.push(piece).clean);
            most = most.max(stream.held());
        }
        out.extend(stream.finish().clean);
        assert_eq!(out, text.as_bytes(), "in pieces of {size}");
        assert!(most <= 128 * 1024, "{most} bytes held");
    }
}

#[test]
fn what_can_be_no_secret_is_shown_at_once() {
    let redactor = Arc::new(redactor());
    for text in [
        "Password: ",
        "user@host:~$ ",
        "user@host:~$ git st",
        "token",
        "50% [=====>    ]\r",
        "Continue? [y/N] ",
        "é",
    ] {
        let mut stream = redactor.stream();
        assert_eq!(stream.push(text.as_bytes()).clean, text.as_bytes(), "{text}");
        assert_eq!(stream.held(), 0);
    }
    let mut stream = redactor.stream();
    let shown: Vec<u8> =
        b"echo fix the token now".iter().flat_map(|key| stream.push(&[*key]).clean).collect();
    assert_eq!(shown, b"echo fix the token ", "the word beside a telling one waits");
    assert_eq!(stream.push(b"\r\n").clean, b"now\r\n");
}

#[test]
fn whoever_goes_on_from_a_state_gives_the_same() {
    let redactor = Arc::new(redactor());
    let pieces = ["PASSWORD=hun", "ter2x\nand more ", "password: |\n", "  hunter2x", "\nnext: 1\ntoken"];
    let mut first = redactor.stream();
    let mut states = vec![first.state().clone()];
    let mut shown = Vec::new();
    for piece in pieces {
        shown.push(first.push(piece.as_bytes()));
        states.push(first.state().clone());
    }
    for (from, state) in states.into_iter().enumerate() {
        let mut second = redactor.resume(state);
        let again: Vec<_> = pieces.iter().skip(from).map(|piece| second.push(piece.as_bytes())).collect();
        assert_eq!(again.as_slice(), shown.get(from..).unwrap_or_default(), "from {from}");
    }
}

#[test]
fn a_secret_longer_than_what_is_held_does_not_leak_its_rest() {
    let redactor = Arc::new(redactor());
    let long = "q7Rk2mZp0WxV9sLt".repeat(20_000);
    for text in [
        format!("a\nTOKEN={long} after\n"),
        format!("a\n-----BEGIN PRIVATE KEY-----\n{}", "q7Rk2mZp0WxV9sLt\n".repeat(20_000)),
    ] {
        let (mut stream, mut out) = (redactor.stream(), Vec::new());
        for piece in text.as_bytes().chunks(5000) {
            out.extend(stream.push(piece).clean);
        }
        out.extend(stream.finish().clean);
        let out = String::from_utf8(out).unwrap();
        assert!(!out.contains("q7Rk2mZp0WxV9sLt"), "{}", &out[..out.len().min(400)]);
    }
}

/// Inputs made to cost: each repeats what wakes a rule without ever satisfying it.
#[test]
fn hostile_input_costs_no_more_than_its_length() {
    let redactor = redactor();
    for seed in [
        "token=",
        "key='key=",
        "password",
        "eyJ",
        "eyJa.",
        "-----BEGIN PRIVATE KEY-----",
        "://",
        "://a:",
        "cookie:",
        "authorization: ",
        "key=a",
        "\"key\":\"",
        "--user",
        " -u ",
        "sk-",
        "-----BEGIN ",
        "secret: |\n",
        "Q~",
        "a:b@",
        "\\\"",
        "bearer ",
        "key: |\n ",
        "password=$",
        "key=%",
    ] {
        let time = |bytes: usize| {
            let text = seed.repeat(bytes / seed.len());
            let begun = Instant::now();
            let _clean = redactor.text(&text);
            begun.elapsed().as_secs_f64()
        };
        // Eight times the length; quadratic would be sixty-four times as long every time. A busy machine is so now and
        // then, so only one that is slow each of several times has grown too fast.
        let grew = || {
            let (short, long) = (time(40_000), time(320_000));
            if long < short * 24.0 + 0.25 { Ok(()) } else { Err(format!("{short:.4}s, then {long:.4}s")) }
        };
        let failed: Vec<String> = (0..5).map_while(|_| grew().err()).collect();
        assert!(failed.len() < 5, "{seed:?}: {failed:?}");
    }
}

#[test]
fn junk_is_redacted_to_a_fixed_point() {
    let redactor = redactor();
    let parts = [
        "password",
        "=",
        ": ",
        "\"",
        "'",
        "\\",
        "token",
        "ghp_",
        "q7Rk2mZp0WxV9sLtq7Rk2mZp0WxV9sLt",
        "://",
        "@",
        ":",
        "\n",
        " ",
        "eyJhbGciOiJI",
        ".",
        "key",
        "$",
        "[redacted:a:00112233]",
        "Bearer ",
        "Authorization",
        "Cookie",
        "|",
        "-----BEGIN PRIVATE KEY-----",
        "-----END",
        "--",
        "é",
        ",",
        ";",
        "<",
        ">",
        "1234567890",
        "AA",
    ];
    let mut state = 7_usize;
    for _ in 0..20_000 {
        let mut text = String::new();
        for _ in 0..12 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            text.push_str(parts[(state >> 33) % parts.len()]);
        }
        let once = redactor.text(&text).into_owned();
        assert_eq!(redactor.text(&once), once, "of {text:?}");
    }
}
