//! Secrets that betray themselves by how they are written.
//!
//! Owns: the table of providers' prefixes, the few tokens known by what stands in their middle, and JSON web
//! tokens. A new provider is a new row. Refuses: judging by randomness; that needs a telling name.

use super::{
    bytes::{before, from, is_token, is_word, run, run_back},
    scan::Found,
    value::JUDGED,
};

/// What a token's body is written in.
#[derive(Debug, Clone, Copy)]
pub(super) enum Class {
    Alnum,
    Upper,
    Hex,
    /// Letters, digits, `_` and `-`.
    Word,
    /// The same with dots.
    Dotted,
    /// Everything base64 and paths need.
    Any,
}

impl Class {
    fn has(self, byte: u8) -> bool {
        match self {
            Self::Alnum => byte.is_ascii_alphanumeric(),
            Self::Upper => byte.is_ascii_uppercase() || byte.is_ascii_digit(),
            Self::Hex => byte.is_ascii_hexdigit(),
            Self::Word => is_word(byte) || byte == b'-',
            Self::Dotted => is_word(byte) || byte == b'-' || byte == b'.',
            Self::Any => is_token(byte),
        }
    }
}

/// A provider's token: a prefix and at least `least` bytes of a class after it.
#[derive(Debug)]
pub(super) struct Token {
    kind: &'static str,
    pub(super) prefix: &'static str,
    class: Class,
    least: usize,
    /// No longer than this, where a longer run means something else. Zero: no bound.
    most: usize,
}

const fn token(kind: &'static str, prefix: &'static str, class: Class, least: usize) -> Token {
    Token { kind, prefix, class, least, most: 0 }
}

const fn exact(kind: &'static str, prefix: &'static str, class: Class, length: usize) -> Token {
    Token { kind, prefix, class, least: length, most: length }
}

/// Whether a text holds a provider's token or a private key. What stands far behind is not looked at.
pub(super) fn are_in(text: &[u8]) -> bool {
    let begins = |start: &usize| before(text, *start).is_none_or(|byte| !is_word(byte));
    (0..text.len().min(LOOKED_AT)).filter(begins).any(|start| {
        let rest = from(text, start);
        rest.starts_with(b"-----BEGIN ") && super::pem::at(text, start).is_some()
            || TOKENS
                .iter()
                .any(|row| rest.starts_with(row.prefix.as_bytes()) && at(row, text, start).is_some())
    })
}

/// How much of a text is looked at.
const LOOKED_AT: usize = 64 * 1024;

/// Known prefixes, by provider.
pub(super) const TOKENS: [Token; 104] = [
    exact("aws-key", "AKIA", Class::Upper, 16),
    exact("aws-key", "ASIA", Class::Upper, 16),
    exact("aws-key", "ABIA", Class::Upper, 16),
    exact("aws-key", "ACCA", Class::Upper, 16),
    token("aws-bedrock-key", "ABSK", Class::Any, 60),
    token("gcp-key", "AIza", Class::Word, 35),
    token("gcp-token", "ya29.", Class::Dotted, 20),
    token("gcp-secret", "GOCSPX-", Class::Word, 24),
    token("gcp-refresh", "1//0", Class::Word, 30),
    token("github-token", "ghp_", Class::Alnum, 30),
    token("github-token", "gho_", Class::Alnum, 30),
    token("github-token", "ghu_", Class::Alnum, 30),
    token("github-token", "ghs_", Class::Alnum, 30),
    token("github-token", "ghr_", Class::Alnum, 30),
    token("github-token", "github_pat_", Class::Word, 22),
    token("gitlab-token", "glpat-", Class::Dotted, 18),
    token("gitlab-token", "gldt-", Class::Word, 18),
    token("gitlab-token", "glrt-", Class::Dotted, 18),
    token("gitlab-token", "glcbt-", Class::Word, 18),
    token("gitlab-token", "glptt-", Class::Word, 18),
    token("gitlab-token", "glft-", Class::Word, 18),
    token("gitlab-token", "glsoat-", Class::Word, 18),
    token("gitlab-token", "glimt-", Class::Word, 18),
    token("gitlab-token", "glagent-", Class::Word, 18),
    token("gitlab-token", "gloas-", Class::Word, 18),
    token("slack-token", "xoxb-", Class::Word, 12),
    token("slack-token", "xoxp-", Class::Word, 12),
    token("slack-token", "xoxa-", Class::Word, 12),
    token("slack-token", "xoxr-", Class::Word, 12),
    token("slack-token", "xoxs-", Class::Word, 12),
    token("slack-token", "xoxe-", Class::Word, 12),
    token("slack-token", "xoxe.xox", Class::Dotted, 12),
    token("slack-token", "xoxc-", Class::Word, 12),
    token("slack-token", "xoxd-", Class::Any, 12),
    token("slack-token", "xapp-", Class::Word, 12),
    token("slack-webhook", "hooks.slack.com/services/", Class::Any, 16),
    token("slack-webhook", "hooks.slack.com/workflows/", Class::Any, 16),
    token("discord-webhook", "discord.com/api/webhooks/", Class::Any, 24),
    token("discord-webhook", "discordapp.com/api/webhooks/", Class::Any, 24),
    token("stripe-key", "sk_live_", Class::Alnum, 16),
    token("stripe-key", "sk_test_", Class::Alnum, 16),
    token("stripe-key", "rk_live_", Class::Alnum, 16),
    token("stripe-key", "rk_test_", Class::Alnum, 16),
    token("stripe-webhook", "whsec_", Class::Any, 20),
    token("anthropic-key", "sk-ant-", Class::Word, 16),
    token("openai-key", "sk-proj-", Class::Word, 20),
    token("openai-key", "sk-svcacct-", Class::Word, 20),
    token("openai-key", "sk-admin-", Class::Word, 20),
    token("openrouter-key", "sk-or-v1-", Class::Hex, 32),
    token("openai-key", "sk-", Class::Alnum, 32),
    exact("twilio-key", "SK", Class::Hex, 32),
    token("npm-token", "npm_", Class::Alnum, 30),
    token("pypi-token", "pypi-AgE", Class::Word, 30),
    token("docker-token", "dckr_pat_", Class::Word, 20),
    token("docker-token", "dckr_oat_", Class::Word, 20),
    token("sendgrid-key", "SG.", Class::Dotted, 50),
    token("digitalocean-token", "dop_v1_", Class::Hex, 32),
    token("digitalocean-token", "doo_v1_", Class::Hex, 32),
    token("digitalocean-token", "dor_v1_", Class::Hex, 32),
    token("heroku-key", "HRKU-", Class::Word, 24),
    token("vault-token", "hvs.", Class::Dotted, 20),
    token("vault-token", "hvb.", Class::Dotted, 20),
    token("vault-token", "hvr.", Class::Dotted, 20),
    token("databricks-token", "dapi", Class::Hex, 32),
    token("newrelic-key", "NRAK-", Class::Alnum, 20),
    token("newrelic-key", "NRII-", Class::Word, 20),
    token("shopify-token", "shpat_", Class::Hex, 32),
    token("shopify-token", "shpca_", Class::Hex, 32),
    token("shopify-token", "shppa_", Class::Hex, 32),
    token("shopify-token", "shpss_", Class::Hex, 32),
    token("square-token", "sq0atp-", Class::Word, 20),
    token("square-token", "sq0csp-", Class::Word, 30),
    exact("mailgun-key", "key-", Class::Hex, 32),
    token("linear-key", "lin_api_", Class::Alnum, 30),
    token("notion-token", "ntn_", Class::Alnum, 30),
    token("notion-token", "secret_", Class::Alnum, 40),
    token("figma-token", "figd_", Class::Word, 20),
    token("postman-key", "PMAK-", Class::Word, 30),
    token("grafana-token", "glsa_", Class::Word, 30),
    token("grafana-token", "glc_", Class::Any, 30),
    token("sentry-token", "sntrys_", Class::Any, 30),
    token("sentry-token", "sntryu_", Class::Hex, 32),
    token("huggingface-token", "hf_", Class::Alnum, 30),
    token("replicate-token", "r8_", Class::Alnum, 30),
    token("groq-key", "gsk_", Class::Alnum, 30),
    token("perplexity-key", "pplx-", Class::Alnum, 30),
    token("xai-key", "xai-", Class::Alnum, 40),
    token("fly-token", "fm2_", Class::Any, 40),
    token("supabase-token", "sbp_", Class::Hex, 32),
    token("planetscale-token", "pscale_tkn_", Class::Dotted, 24),
    token("planetscale-token", "pscale_pw_", Class::Dotted, 24),
    token("doppler-token", "dp.pt.", Class::Alnum, 30),
    token("pulumi-token", "pul-", Class::Hex, 40),
    token("rubygems-key", "rubygems_", Class::Hex, 40),
    token("circleci-token", "CCIPAT_", Class::Word, 30),
    token("buildkite-token", "bkua_", Class::Hex, 32),
    token("atlassian-token", "ATATT3", Class::Any, 60),
    token("dropbox-token", "sl.u.", Class::Word, 60),
    token("age-key", "AGE-SECRET-KEY-1", Class::Upper, 40),
    token("onepassword-token", "ops_eyJ", Class::Any, 40),
    token("e2b-key", "e2b_", Class::Hex, 32),
    token("tailscale-key", "tskey-", Class::Word, 20),
    token("langsmith-key", "lsv2_", Class::Word, 30),
    token("belljar-key", "bj_", Class::Word, 40),
];

/// A token known by what stands in its middle.
#[derive(Debug)]
pub(super) struct Embedded {
    kind: &'static str,
    pub(super) middle: &'static str,
    /// Before the middle: class, at least, at most.
    left: (Class, usize, usize),
    /// After it: class, at least.
    right: (Class, usize),
}

/// Telegram bots, Azure applications, Terraform, Mailchimp.
pub(super) const EMBEDDED: [Embedded; 4] = [
    Embedded { kind: "telegram-token", middle: ":AA", left: (Class::Hex, 8, 12), right: (Class::Word, 30) },
    Embedded { kind: "azure-secret", middle: "Q~", left: (Class::Dotted, 4, 4), right: (Class::Any, 28) },
    Embedded {
        kind: "terraform-token",
        middle: ".atlasv1.",
        left: (Class::Alnum, 10, 20),
        right: (Class::Any, 40),
    },
    Embedded { kind: "mailchimp-key", middle: "-us", left: (Class::Hex, 32, 32), right: (Class::Hex, 1) },
];

/// The token of this row, if one begins here.
pub(super) fn at(row: &'static Token, text: &[u8], start: usize) -> Option<Found> {
    if is_inner(row, text, start) {
        return None;
    }
    let body = from(text, start).strip_prefix(row.prefix.as_bytes())?;
    // Judged by its beginning; only what is accepted is read to its end.
    let length = run(body.get(..JUDGED).unwrap_or(body), |byte| row.class.has(byte));
    let fits = length >= row.least && (row.most == 0 || length == row.most);
    let ends = row.most == 0 || body.get(length).is_none_or(|byte| !is_word(*byte));
    let is_random = body.iter().take(length).any(|byte| byte.is_ascii_digit() || byte.is_ascii_uppercase());
    if !(fits && ends && is_random) {
        return None;
    }
    let whole = run(body, |byte| row.class.has(byte));
    Some(Found::plain(row.kind, start, start + row.prefix.len() + trimmed(body.get(..whole)?)))
}

/// Within a longer word the prefix is an accident: `task-…` is not `sk-…`.
fn is_inner(row: &Token, text: &[u8], start: usize) -> bool {
    before(text, start).is_some_and(|byte| is_word(byte) || (byte == b'-' && row.prefix.len() < 4))
}

/// Whether a token of this row may begin here and reaches the end of the text.
pub(super) fn is_growing(row: &Token, text: &[u8], start: usize) -> bool {
    let body = from(text, start).strip_prefix(row.prefix.as_bytes());
    !is_inner(row, text, start)
        && body.is_some_and(|body| run(body, |byte| row.class.has(byte)) == body.len())
}

/// Where the token around a middle begins, if it may be one and reaches the end of the text.
pub(super) fn growing_around(row: &Embedded, text: &[u8], start: usize) -> Option<usize> {
    let rest = from(text, start).strip_prefix(row.middle.as_bytes())?;
    let (class, least, most) = row.left;
    let left = run_back(text.get(..start)?, most + 1, |byte| class.has(byte));
    let fits = (least..=most).contains(&left) && run(rest, |byte| row.right.0.has(byte)) == rest.len();
    fits.then(|| start - left)
}

/// Whether a JSON web token may begin here and reaches the end of the text.
pub(super) fn is_growing_jwt(text: &[u8], start: usize) -> bool {
    let rest = from(text, start);
    let in_part = |byte: u8| is_word(byte) || byte == b'-';
    !before(text, start).is_some_and(in_part)
        && rest.starts_with(b"eyJ")
        && run(rest, |byte| in_part(byte) || byte == b'.') == rest.len()
}

/// Dots and equal signs at the end may belong to the sentence; dots do.
fn trimmed(body: &[u8]) -> usize {
    body.len() - run_back(body, JUDGED, |byte| byte == b'.')
}

/// The token around a middle, if it is one.
pub(super) fn around(row: &'static Embedded, text: &[u8], start: usize) -> Option<Found> {
    let rest = from(text, start).strip_prefix(row.middle.as_bytes())?;
    let (class, least, most) = row.left;
    let left = run_back(text.get(..start)?, most + 1, |byte| class.has(byte));
    if !(least..=most).contains(&left) {
        return None;
    }
    let (right_class, right_least) = row.right;
    let right = |rest: &[u8]| run(rest, |byte| right_class.has(byte));
    let fits = right(rest.get(..JUDGED).unwrap_or(rest)) >= right_least;
    fits.then(|| Found::plain(row.kind, start - left, start + row.middle.len() + right(rest)))
}

/// A JSON web token: three runs of base64url between dots, the first an object.
pub(super) fn jwt(text: &[u8], start: usize) -> Option<Found> {
    let in_part = |byte: u8| is_word(byte) || byte == b'-';
    if before(text, start).is_some_and(in_part) || !from(text, start).starts_with(b"eyJ") {
        return None;
    }
    let part = |at: usize| run(from(text, at), in_part);
    let header = part(start);
    let claims = start + header + 1;
    let signature = claims + part(claims) + 1;
    let is_dot = |at: usize| text.get(at) == Some(&b'.');
    let fits = header >= 10 && is_dot(claims - 1) && signature - claims > 4 && is_dot(signature - 1);
    fits.then(|| Found::plain("jwt", start, signature + part(signature)))
}
