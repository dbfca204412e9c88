//! Small helps between SQLite's types and ours: bound values, rows that must parse, filters put together.

use std::{error::Error as StdError, fmt::Display, str::FromStr};

use belljar_domain::{Digest, Timestamp};
use belljar_ports::StoreError;
use rusqlite::{
    Error, ErrorCode, Row,
    types::{ToSqlOutput, Type, Value, ValueRef},
};

use crate::ledger::columns::Column;

/// Says what was being done when SQLite failed.
pub(crate) trait Doing<T> {
    fn doing(self, what: &'static str) -> Result<T, StoreError>;
}

impl<T> Doing<T> for rusqlite::Result<T> {
    fn doing(self, what: &'static str) -> Result<T, StoreError> {
        self.map_err(|e| StoreError::backend(what, e))
    }
}

/// Tells a failure that lies in what is kept from one of the database or the disk.
pub(crate) fn told_apart(error: StoreError) -> StoreError {
    match error {
        StoreError::Backend { doing, source }
            if source.downcast_ref::<Error>().is_some_and(is_about_values) =>
        {
            StoreError::Unfit { doing, source }
        }
        other => other,
    }
}

fn is_about_values(error: &Error) -> bool {
    match error {
        Error::FromSqlConversionFailure(..)
        | Error::IntegralValueOutOfRange(..)
        | Error::ToSqlConversionFailure(_)
        | Error::InvalidColumnType(..)
        | Error::Utf8Error(..) => true,
        Error::SqliteFailure(failure, _) => {
            matches!(
                failure.code,
                ErrorCode::ConstraintViolation | ErrorCode::TypeMismatch | ErrorCode::TooBig
            )
        }
        _ => false,
    }
}

/// SQLite has signed integers only; what does not fit is far beyond any real amount.
pub(crate) fn signed(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

/// The way back; a negative amount was never written.
pub(crate) fn unsigned(value: i64) -> u64 {
    u64::try_from(value).unwrap_or(0)
}

pub(crate) fn text(value: impl Display) -> Value {
    Value::Text(value.to_string())
}

pub(crate) fn maybe_text(value: Option<impl Display>) -> Value {
    value.map_or(Value::Null, text)
}

pub(crate) fn maybe_int(value: Option<u64>) -> Value {
    value.map_or(Value::Null, |value| Value::Integer(signed(value)))
}

pub(crate) fn time(value: Timestamp) -> Value {
    Value::Integer(value.as_micros())
}

pub(crate) fn maybe_time(value: Option<Timestamp>) -> Value {
    value.map_or(Value::Null, time)
}

/// Reads a column that must parse.
pub(crate) fn parsed<T>(row: &Row<'_>, at: usize) -> rusqlite::Result<T>
where
    T: FromStr<Err: StdError + Send + Sync + 'static>,
{
    let text = row.get_ref(at)?.as_str().map_err(|e| unreadable(at, e))?;
    text.parse().map_err(|e| unreadable(at, e))
}

/// Reads a column that must parse unless it is empty.
pub(crate) fn maybe_parsed<T>(row: &Row<'_>, at: usize) -> rusqlite::Result<Option<T>>
where
    T: FromStr<Err: StdError + Send + Sync + 'static>,
{
    if row.get_ref(at)? == ValueRef::Null { Ok(None) } else { parsed(row, at).map(Some) }
}

pub(crate) fn unreadable(at: usize, why: impl StdError + Send + Sync + 'static) -> Error {
    Error::FromSqlConversionFailure(at, Type::Text, Box::new(why))
}

pub(crate) fn json(row: &Row<'_>, at: usize) -> rusqlite::Result<serde_json::Value> {
    match row.get_ref(at)? {
        ValueRef::Null => Ok(serde_json::Value::Null),
        other => {
            let text = other.as_str().map_err(|e| unreadable(at, e))?;
            serde_json::from_str(text).map_err(|e| unreadable(at, e))
        }
    }
}

pub(crate) fn moment(row: &Row<'_>, at: usize) -> rusqlite::Result<Timestamp> {
    row.get(at).map(Timestamp::from_micros)
}

pub(crate) fn maybe_moment(row: &Row<'_>, at: usize) -> rusqlite::Result<Option<Timestamp>> {
    Ok(row.get::<_, Option<i64>>(at)?.map(Timestamp::from_micros))
}

pub(crate) fn amount(row: &Row<'_>, at: usize) -> rusqlite::Result<u64> {
    row.get(at).map(unsigned)
}

pub(crate) fn maybe_amount(row: &Row<'_>, at: usize) -> rusqlite::Result<Option<u64>> {
    Ok(row.get::<_, Option<i64>>(at)?.map(unsigned))
}

pub(crate) fn hash(row: &Row<'_>, at: usize) -> rusqlite::Result<Digest> {
    row.get(at).map(Digest)
}

impl rusqlite::ToSql for Column<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match *self {
            Column::Null => ValueRef::Null,
            Column::Int(value) => ValueRef::Integer(value),
            Column::Text(bytes) => ValueRef::Text(bytes),
            Column::Blob(bytes) => ValueRef::Blob(bytes),
            Column::Real(value) => ValueRef::Real(value),
        }))
    }
}

/// A `WHERE` put together from the conditions that were given, with what they compare to.
#[derive(Debug, Default)]
pub(crate) struct Filter {
    conditions: Vec<String>,
    pub(crate) values: Vec<Value>,
}

impl Filter {
    /// Adds a condition; each `?` in it takes one value.
    pub(crate) fn and(&mut self, condition: impl Into<String>, values: impl IntoIterator<Item = Value>) {
        self.conditions.push(condition.into());
        self.values.extend(values);
    }

    /// Adds a condition if there is something to compare to.
    pub(crate) fn and_if(&mut self, condition: &str, value: Option<impl Display>) {
        if let Some(value) = value {
            self.and(condition, [text(value)]);
        }
    }

    /// The clause, which begins with a space unless it is empty.
    pub(crate) fn clause(&self) -> String {
        if self.conditions.is_empty() {
            String::new()
        } else {
            format!(" WHERE {}", self.conditions.join(" AND "))
        }
    }
}
