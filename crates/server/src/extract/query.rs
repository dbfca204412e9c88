//! What stands after the `?`, and the texts in it that mean something.

use std::{fmt::Display, str::FromStr};

use axum::{extract::FromRequestParts, http::request::Parts};
use belljar_domain::Timestamp;
use serde::{Deserialize, de::DeserializeOwned};

use crate::problem::{Answer, Failure};

const DEFAULT_LIMIT: u16 = 100;
const MOST: u16 = 1000;

/// The parameters of a request.
#[derive(Debug)]
pub(crate) struct Query<T>(pub(crate) T);

impl<T: DeserializeOwned, S: Sync> FromRequestParts<S> for Query<T> {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Failure> {
        read(parts.uri.query().unwrap_or_default()).map(Self)
    }
}

fn read<'de, T: Deserialize<'de>>(text: &'de str) -> Answer<T> {
    let pairs = serde_urlencoded::Deserializer::new(form(text));
    serde_path_to_error::deserialize(pairs).map_err(|error| {
        let path = error.path().to_string();
        let message = error.inner().to_string();
        if matches!(path.as_str(), "." | "?") {
            Failure::invalid(message)
        } else {
            Failure::field(path, message)
        }
    })
}

fn form(text: &str) -> form_urlencoded::Parse<'_> {
    form_urlencoded::parse(text.as_bytes())
}

/// How many items are wanted.
pub(crate) fn limit(asked: Option<u16>) -> Answer<usize> {
    let limit = asked.unwrap_or(DEFAULT_LIMIT);
    if (1..=MOST).contains(&limit) {
        Ok(usize::from(limit))
    } else {
        Err(Failure::field("limit", format!("must be from 1 to {MOST}")))
    }
}

/// Where a page begins.
pub(crate) fn cursor<T: FromStr>(text: Option<&str>) -> Answer<Option<T>> {
    let parse = |text: &str| {
        let wrong = || Failure::field("cursor", "is not the `next_cursor` of a page before");
        text.parse().map_err(|_wrong: T::Err| wrong())
    };
    text.map(parse).transpose()
}

/// A moment.
pub(crate) fn moment(field: &str, text: Option<&str>) -> Answer<Option<Timestamp>> {
    parsed(field, text)
}

/// A text that means something, or what is wrong with it.
pub(crate) fn parsed<T: FromStr>(field: &str, text: Option<&str>) -> Answer<Option<T>>
where
    T::Err: Display,
{
    text.map(|text| text.parse().map_err(|error: T::Err| Failure::field(field, error.to_string())))
        .transpose()
}
