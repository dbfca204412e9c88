//! Secrets of every kind, made here so that none is written down: what tests plant and then look for.

pub(crate) const UPPER: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
pub(crate) const HEX: &str = "0123456789abcdef";
pub(crate) const ALNUM: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

/// Letters that look drawn at random and are the same in every run. No secret stands in this file.
pub(crate) fn body(seed: usize, alphabet: &str, length: usize) -> String {
    let letters: Vec<char> = alphabet.chars().collect();
    let mut state = seed.wrapping_mul(0x9E37_79B9).wrapping_add(12345);
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        letters[(state >> 33) % letters.len()]
    };
    (0..length).map(|_| next()).collect()
}

/// Secrets that betray themselves.
pub(crate) fn tokens() -> Vec<(&'static str, String)> {
    let prefixed = [
        ("aws", "AKIA", UPPER, 16),
        ("aws session", "ASIA", UPPER, 16),
        ("gcp", "AIza", ALNUM, 35),
        ("gcp oauth", "ya29.", ALNUM, 60),
        ("gcp client", "GOCSPX-", ALNUM, 28),
        ("github", "ghp_", ALNUM, 36),
        ("github app", "ghs_", ALNUM, 36),
        ("github fine", "github_pat_", ALNUM, 82),
        ("gitlab", "glpat-", ALNUM, 20),
        ("slack bot", "xoxb-", ALNUM, 40),
        ("slack app", "xapp-", ALNUM, 40),
        ("slack hook", "https://hooks.slack.com/services/T", ALNUM, 40),
        ("discord hook", "https://discord.com/api/webhooks/1234/", ALNUM, 60),
        ("stripe", "sk_live_", ALNUM, 24),
        ("stripe restricted", "rk_test_", ALNUM, 24),
        ("openai", "sk-proj-", ALNUM, 80),
        ("openai old", "sk-", ALNUM, 48),
        ("anthropic", "sk-ant-api03-", ALNUM, 90),
        ("openrouter", "sk-or-v1-", HEX, 64),
        ("npm", "npm_", ALNUM, 36),
        ("pypi", "pypi-AgEIcHlwaS5vcmc", ALNUM, 80),
        ("docker", "dckr_pat_", ALNUM, 27),
        ("twilio", "SK", HEX, 32),
        ("digitalocean", "dop_v1_", HEX, 64),
        ("heroku", "HRKU-", ALNUM, 58),
        ("vault", "hvs.", ALNUM, 90),
        ("databricks", "dapi", HEX, 32),
        ("new relic", "NRAK-", UPPER, 27),
        ("shopify", "shpat_", HEX, 32),
        ("mailgun", "key-", HEX, 32),
        ("linear", "lin_api_", ALNUM, 40),
        ("grafana", "glsa_", ALNUM, 41),
        ("sentry", "sntrys_", ALNUM, 60),
        ("hugging face", "hf_", ALNUM, 34),
        ("groq", "gsk_", ALNUM, 52),
        ("atlassian", "ATATT3", ALNUM, 180),
        ("tailscale", "tskey-auth-", ALNUM, 30),
        ("age", "AGE-SECRET-KEY-1", UPPER, 58),
        ("e2b", "e2b_", HEX, 40),
        ("belljar", "bj_", ALNUM, 43),
    ];
    let mut all: Vec<(&str, String)> = prefixed
        .iter()
        .enumerate()
        .map(|(seed, (name, prefix, alphabet, length))| {
            (*name, format!("{prefix}{}", body(seed, alphabet, *length)))
        })
        .collect();
    let part = |seed, length| body(seed, ALNUM, length);
    all.push(("jwt", format!("eyJhbGciOiJIUzI1NiJ9.eyJ{}.{}", part(90, 40), part(91, 43))));
    all.push(("sendgrid", format!("SG.{}.{}", part(92, 22), part(93, 43))));
    all.push(("telegram", format!("123456789:AA{}", part(94, 33))));
    all.push(("azure app", format!("abc8Q~{}", part(95, 34))));
    all.push(("terraform", format!("{}.atlasv1.{}", part(96, 14), part(97, 60))));
    all
}

/// Values that only their names betray.
pub(crate) fn named() -> Vec<(&'static str, String)> {
    vec![
        ("AWS_SECRET_ACCESS_KEY", format!("{}/{}", body(1, ALNUM, 20), body(2, ALNUM, 19))),
        ("DD_API_KEY", body(3, HEX, 32)),
        ("DD_APP_KEY", body(4, HEX, 40)),
        ("HEROKU_API_KEY", "0b9c7a52-1f6e-4d3c-8a7b-5e2f9d1c4b6a".to_owned()),
        ("TWILIO_AUTH_TOKEN", body(5, HEX, 32)),
        ("AccountKey", format!("{}==", body(6, ALNUM, 86))),
        ("SharedAccessKey", format!("{}=", body(7, ALNUM, 43))),
        ("CLOUDFLARE_API_TOKEN", body(8, ALNUM, 40)),
        ("DB_PASSWORD", "hunter2-and-more".to_owned()),
        ("pgpassword", "Tr0ub4dor".to_owned()),
        ("smtp_pass", "S3nd!Mail".to_owned()),
        ("clientSecret", body(9, ALNUM, 32)),
        ("SECRET_KEY_BASE", body(10, HEX, 128)),
        ("x-api-key", body(11, ALNUM, 32)),
        ("refresh_token", body(12, ALNUM, 48)),
        ("_authToken", body(13, ALNUM, 36)),
        ("encryption_key", body(14, HEX, 64)),
        ("webhook_secret", body(15, ALNUM, 24)),
    ]
}
