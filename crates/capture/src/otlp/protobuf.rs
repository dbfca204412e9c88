//! Protobuf, spelled out in the shape of OTLP's JSON by a table of fields.
//!
//! Owns: varints, tags and lengths, each checked against what is left. Unknown fields are skipped.
//! Refuses: groups, messages nested deeper or repeated more often than bounds allow.

use serde_json::{Map, Value};

use super::{
    error::OtlpError,
    schema::{ANY, Field, Kind, Message},
};

const DEPTH_LIMIT: usize = 32;
/// Elements of one repeated field.
const REPEAT_LIMIT: usize = 65_536;

/// A message as JSON.
pub(super) fn spelled(body: &[u8], message: Message) -> Result<Value, OtlpError> {
    Reader { rest: body }.message(message, "", 0)
}

struct Reader<'b> {
    rest: &'b [u8],
}

/// What stands after a tag.
enum Wire<'b> {
    Varint(u64),
    Fixed64([u8; 8]),
    Bytes(&'b [u8]),
    Fixed32,
}

impl<'b> Reader<'b> {
    fn message(mut self, message: Message, path: &str, depth: usize) -> Result<Value, OtlpError> {
        if depth > DEPTH_LIMIT {
            return Err(OtlpError::TooMany { path: path.to_owned(), limit: DEPTH_LIMIT, what: "levels" });
        }
        let mut fields = Map::new();
        while !self.rest.is_empty() {
            let (number, wire) = self.field().ok_or_else(|| broken(path, "cut off or malformed"))?;
            let Some(field) = message.iter().find(|field| field.number == number) else { continue };
            let path = if path.is_empty() { field.name.to_owned() } else { format!("{path}.{}", field.name) };
            put(&mut fields, field, &wire, &path, depth)?;
        }
        Ok(Value::Object(fields))
    }

    fn field(&mut self) -> Option<(u64, Wire<'b>)> {
        let tag = self.varint()?;
        let wire = match tag & 7 {
            0 => Wire::Varint(self.varint()?),
            1 => Wire::Fixed64(self.take(8)?.try_into().ok()?),
            2 => {
                let length = usize::try_from(self.varint()?).ok()?;
                Wire::Bytes(self.take(length)?)
            }
            5 => self.take(4).map(|_| Wire::Fixed32)?,
            _ => return None,
        };
        Some((tag >> 3, wire))
    }

    fn varint(&mut self) -> Option<u64> {
        let mut value = 0_u64;
        for shift in (0..64).step_by(7) {
            let (first, rest) = self.rest.split_first()?;
            self.rest = rest;
            value |= u64::from(first & 0x7f) << shift;
            if first & 0x80 == 0 {
                return Some(value);
            }
        }
        None
    }

    fn take(&mut self, length: usize) -> Option<&'b [u8]> {
        let (taken, rest) = self.rest.split_at_checked(length)?;
        self.rest = rest;
        Some(taken)
    }
}

fn put(
    fields: &mut Map<String, Value>,
    field: &Field,
    wire: &Wire<'_>,
    path: &str,
    depth: usize,
) -> Result<(), OtlpError> {
    let below = |message, bytes| Reader { rest: bytes }.message(message, path, depth + 1);
    let mut many = |value| {
        let list = fields.entry(field.name).or_insert_with(|| Value::Array(Vec::new()));
        match list {
            Value::Array(items) if items.len() < REPEAT_LIMIT => items.push(value),
            _ => {
                return Err(OtlpError::TooMany {
                    path: path.to_owned(),
                    limit: REPEAT_LIMIT,
                    what: "elements",
                });
            }
        }
        Ok(())
    };
    let value = match (field.kind, wire) {
        (Kind::Text, Wire::Bytes(bytes)) => {
            Value::from(std::str::from_utf8(bytes).ok().ok_or_else(|| broken(path, "not UTF-8"))?)
        }
        (Kind::Hex, Wire::Bytes(bytes)) => {
            bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>().into()
        }
        (Kind::Bool, Wire::Varint(number)) => Value::from(*number != 0),
        (Kind::Int, Wire::Varint(number)) => Value::from(number.cast_signed()),
        (Kind::Fixed64, Wire::Fixed64(bytes)) => Value::from(u64::from_le_bytes(*bytes)),
        (Kind::Double, Wire::Fixed64(bytes)) => Value::from(f64::from_le_bytes(*bytes)),
        (Kind::Fixed64s, Wire::Bytes(bytes)) => {
            packed(bytes, path, |each| Value::from(u64::from_le_bytes(each)))?
        }
        (Kind::Doubles, Wire::Bytes(bytes)) => {
            packed(bytes, path, |each| Value::from(f64::from_le_bytes(each)))?
        }
        // Old writers tag each of them.
        (Kind::Fixed64s, Wire::Fixed64(bytes)) => return many(Value::from(u64::from_le_bytes(*bytes))),
        (Kind::Doubles, Wire::Fixed64(bytes)) => return many(Value::from(f64::from_le_bytes(*bytes))),
        (Kind::One(message), Wire::Bytes(bytes)) => below(message, bytes)?,
        (Kind::Value, Wire::Bytes(bytes)) => below(ANY, bytes)?,
        (Kind::Many(message), Wire::Bytes(bytes)) => return many(below(message, bytes)?),
        (Kind::Values, Wire::Bytes(bytes)) => return many(below(ANY, bytes)?),
        _ => return Err(broken(path, "of another wire type")),
    };
    fields.insert(field.name.to_owned(), value);
    Ok(())
}

/// Numbers of eight bytes each, side by side.
fn packed(bytes: &[u8], path: &str, read: impl Fn([u8; 8]) -> Value) -> Result<Value, OtlpError> {
    let (each, rest) = bytes.as_chunks::<8>();
    if !rest.is_empty() {
        return Err(broken(path, "cut off or malformed"));
    }
    if each.len() > REPEAT_LIMIT {
        return Err(OtlpError::TooMany { path: path.to_owned(), limit: REPEAT_LIMIT, what: "elements" });
    }
    Ok(each.iter().map(|each| read(*each)).collect())
}

fn broken(path: &str, what: &'static str) -> OtlpError {
    let path = if path.is_empty() { "the request".to_owned() } else { path.to_owned() };
    OtlpError::Protobuf { path, what }
}
