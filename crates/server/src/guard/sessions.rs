//! Browsers: a link that works once becomes a cookie scripts cannot read and other sites cannot send.

use std::{
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use axum::http::{HeaderMap, header};
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;

const COOKIE: &str = "belljar_session";
/// How long a browser stays logged in.
const LIFE: Duration = Duration::from_secs(12 * 3600);
/// The most browsers at one time; the oldest makes room.
const MOST: usize = 256;

type Hash = [u8; 32];

/// Who is logged in, in memory alone: a restart logs everybody out.
#[derive(Debug, Default)]
pub(crate) struct Sessions(Mutex<Known>);

#[derive(Debug, Default)]
struct Known {
    links: Vec<(Hash, Instant)>,
    browsers: Vec<(Hash, Instant)>,
}

impl Sessions {
    /// Makes a key good for one login.
    pub(crate) fn invite(&self, key: &str) {
        keep(&mut self.known().links, key);
    }

    /// Takes a key back, if it is good; the session then is known by `session`.
    pub(crate) fn login(&self, key: &str, session: &str) -> bool {
        let mut known = self.known();
        let wanted = hash(key);
        let found = known.links.iter().position(|(link, until)| is(link, &wanted) && *until > Instant::now());
        let Some(place) = found else { return false };
        known.links.swap_remove(place);
        keep(&mut known.browsers, session);
        true
    }

    /// Says whether a request carries the cookie of a session.
    pub(crate) fn knows(&self, headers: &HeaderMap) -> bool {
        let Some(session) = shown(headers) else { return false };
        let wanted = hash(session);
        self.known().browsers.iter().any(|(known, until)| is(known, &wanted) && *until > Instant::now())
    }

    /// Ends the session a request carries.
    pub(crate) fn logout(&self, headers: &HeaderMap) {
        if let Some(session) = shown(headers) {
            let wanted = hash(session);
            self.known().browsers.retain(|(known, _)| !is(known, &wanted));
        }
    }

    fn known(&self) -> std::sync::MutexGuard<'_, Known> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn keep(list: &mut Vec<(Hash, Instant)>, key: &str) {
    let now = Instant::now();
    list.retain(|(_, until)| *until > now);
    if list.len() >= MOST {
        list.remove(0);
    }
    list.push((hash(key), now + LIFE));
}

fn hash(text: &str) -> Hash {
    Sha256::digest(text).into()
}

fn is(a: &Hash, b: &Hash) -> bool {
    a.ct_eq(b).into()
}

fn shown(headers: &HeaderMap) -> Option<&str> {
    let cookies = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    let mut pairs = cookies.flat_map(|line| line.split(';')).filter_map(|pair| pair.trim().split_once('='));
    pairs.find(|(name, _)| *name == COOKIE).map(|(_, value)| value)
}

/// The cookie of a session. It has no domain, so the previews of sandboxes never see it.
pub(crate) fn cookie(session: &str) -> String {
    format!("{COOKIE}={session}; HttpOnly; SameSite=Strict; Path=/; Max-Age={}", LIFE.as_secs())
}

/// What makes a browser forget it.
pub(crate) fn clear_cookie() -> String {
    format!("{COOKIE}=; HttpOnly; SameSite=Strict; Path=/; Max-Age=0")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with_cookie(value: &str) -> HeaderMap {
        [(header::COOKIE, format!("other=1; {COOKIE}={value}").parse().unwrap())].into_iter().collect()
    }

    #[test]
    fn a_link_works_once_and_its_session_until_logout() {
        let sessions = Sessions::default();
        sessions.invite("link");
        assert!(!sessions.login("other", "s0"));
        assert!(sessions.login("link", "s1"));
        assert!(!sessions.login("link", "s2"));
        assert!(sessions.knows(&with_cookie("s1")) && !sessions.knows(&with_cookie("s2")));
        sessions.logout(&with_cookie("s1"));
        assert!(!sessions.knows(&with_cookie("s1")));
    }

    #[test]
    fn sessions_are_bounded() {
        let mut list = Vec::new();
        (0..MOST * 2).for_each(|number| keep(&mut list, &number.to_string()));
        assert_eq!(list.len(), MOST);
    }
}
