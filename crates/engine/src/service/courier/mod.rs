//! Messages to servers elsewhere: one POST each, bounded in time and size.
//!
//! Owns: TLS, the check of the address, limits. Refuses: redirects, proxies, and addresses of this machine or its
//! networks unless they are allowed. The address that is checked is the one that is connected to: names are resolved
//! once, here, so that a name that means something else a moment later gains nothing.

mod address;

use std::{
    io::{self, Read as _},
    sync::Arc,
    time::Duration,
};

use ureq::{
    Agent, Error,
    config::Config,
    http::Uri,
    tls::{RootCerts, TlsConfig},
    unversioned::{
        resolver::{DefaultResolver, ResolvedSocketAddrs, Resolver},
        transport::{DefaultConnector, NextTimeout},
    },
};

/// The longest address that is accepted.
const LONGEST_URL: usize = 2048;
/// How much of an answer is read, for the log.
const GLIMPSE: u64 = 1024;
const HEADERS: usize = 32 * 1024;

/// Which addresses may be posted to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reach {
    /// Those of the public internet.
    Public,
    /// This machine's and its networks', too.
    Anywhere,
}

/// What a server answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Reply {
    pub(super) code: u16,
    /// The beginning of what it said.
    pub(super) said: String,
}

/// Why nothing was answered.
#[derive(Debug, thiserror::Error)]
pub(super) enum PostError {
    #[error("`{0}` is not an address to post to; write http:// or https://, a host, and no user or password")]
    Address(String),
    #[error("the address is of this machine or of a private network; `webhooks.allow_private` allows that")]
    Private,
    #[error("it did not answer in time")]
    Late,
    #[error("could not post to it")]
    Failed(#[source] Box<Error>),
}

/// Posts.
#[derive(Debug, Clone)]
pub(super) struct Courier {
    agent: Agent,
    reach: Reach,
}

impl Courier {
    pub(super) fn new(reach: Reach, patience: Duration) -> Self {
        let crypto = Arc::new(rustls::crypto::ring::default_provider());
        let tls = TlsConfig::builder()
            .unversioned_rustls_crypto_provider(crypto)
            .root_certs(RootCerts::PlatformVerifier)
            .build();
        let config = Agent::config_builder()
            .tls_config(tls)
            .timeout_global(Some(patience))
            .max_redirects(0)
            .http_status_as_error(false)
            .proxy(None)
            .max_response_header_size(HEADERS)
            .max_idle_connections(0)
            .user_agent(concat!("belljar/", env!("CARGO_PKG_VERSION")))
            .build();
        Self { agent: Agent::with_parts(config, DefaultConnector::default(), Checked(reach)), reach }
    }

    /// Says what can be said without asking anyone: whether it is an address, and none that is never posted to. Names are
    /// looked up when something is posted.
    pub(super) fn foresee(&self, url: &str) -> Result<(), PostError> {
        let uri = checked(url)?;
        let host = uri.host().unwrap_or_default().trim_start_matches('[').trim_end_matches(']');
        match host.parse() {
            Ok(literal) if !address::is_allowed(literal, self.reach) => Err(PostError::Private),
            Ok(_) | Err(_) => Ok(()),
        }
    }

    /// Posts JSON. That the server did not like it is an answer, not an error.
    pub(super) fn post(
        &self,
        url: &str,
        headers: &[(&str, String)],
        body: &[u8],
    ) -> Result<Reply, PostError> {
        let uri = checked(url)?;
        let mut request = self.agent.post(uri).content_type("application/json");
        for (name, value) in headers {
            request = request.header(*name, value);
        }
        let mut response = request.send(body).map_err(sorted)?;
        let mut said = Vec::new();
        // What was answered counts, whether or not its body can be read.
        let _whole = response.body_mut().as_reader().take(GLIMPSE).read_to_end(&mut said);
        Ok(Reply { code: response.status().as_u16(), said: String::from_utf8_lossy(&said).into_owned() })
    }
}

/// An address as far as it can be judged without asking anyone.
pub(super) fn checked(url: &str) -> Result<Uri, PostError> {
    let wrong = || PostError::Address(url.chars().take(200).collect());
    let uri: Uri = url.parse().map_err(|_unreadable| wrong())?;
    let is_web = matches!(uri.scheme_str(), Some("http" | "https"));
    let plain = uri.authority().is_some_and(|authority| !authority.as_str().contains('@'));
    if url.len() > LONGEST_URL || !is_web || !plain || uri.host().is_none_or(str::is_empty) {
        return Err(wrong());
    }
    Ok(uri)
}

fn sorted(error: Error) -> PostError {
    match error {
        Error::Timeout(_) => PostError::Late,
        Error::Io(error) if error.kind() == io::ErrorKind::PermissionDenied => PostError::Private,
        error => PostError::Failed(Box::new(error)),
    }
}

/// Resolves names, and keeps those addresses that may be reached.
#[derive(Debug)]
struct Checked(Reach);

impl Resolver for Checked {
    fn resolve(
        &self,
        uri: &Uri,
        config: &Config,
        timeout: NextTimeout,
    ) -> Result<ResolvedSocketAddrs, Error> {
        let found = DefaultResolver::default().resolve(uri, config, timeout)?;
        let mut allowed = self.empty();
        for address in found.iter().filter(|at| address::is_allowed(at.ip(), self.0)) {
            allowed.push(*address);
        }
        if allowed.is_empty() {
            return Err(Error::Io(io::Error::new(io::ErrorKind::PermissionDenied, "no public address")));
        }
        Ok(allowed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_web_addresses_are_posted_to() {
        for url in ["http://example.com", "https://example.com:8443/a?b=c", "http://[2001:db8::1]/"] {
            assert!(checked(url).is_ok(), "{url}");
        }
        for url in
            ["ftp://example.com", "/path", "http://", "http://u:p@example.com", "file:///etc/passwd", ""]
        {
            assert!(checked(url).is_err(), "{url}");
        }
    }

    #[test]
    fn this_machine_is_refused_by_every_name_it_has() {
        let courier = Courier::new(Reach::Public, Duration::from_secs(5));
        for host in ["127.0.0.1", "localhost", "[::1]", "[::ffff:127.0.0.1]", "0.0.0.0", "169.254.169.254"] {
            let refused = courier.post(&format!("http://{host}:9/"), &[], b"{}").unwrap_err();
            assert!(matches!(refused, PostError::Private), "{host}: {refused:?}");
            let foreseen = courier.foresee(&format!("http://{host}:9/"));
            assert_eq!(foreseen.is_ok(), host == "localhost", "{host}: a name is looked up later");
        }
    }
}
