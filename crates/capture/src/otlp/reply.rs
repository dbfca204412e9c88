//! What an exporter is answered, in the encoding it speaks.
//!
//! Owns: the replies of OTLP: taken, or not (a `google.rpc.Status`). An export is taken whole or not at all.

use serde_json::json;

use super::Encoding;

impl Encoding {
    /// The encoding of a media type, if it is one of the two.
    #[must_use]
    pub fn of(media_type: &str) -> Option<Self> {
        match media_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase().as_str() {
            "application/x-protobuf" => Some(Self::Protobuf),
            "application/json" => Some(Self::Json),
            _ => None,
        }
    }

    /// Its media type.
    #[must_use]
    pub const fn media_type(self) -> &'static str {
        match self {
            Self::Protobuf => "application/x-protobuf",
            Self::Json => "application/json",
        }
    }

    /// Everything was taken.
    #[must_use]
    pub const fn taken(self) -> &'static [u8] {
        match self {
            Self::Protobuf => b"",
            Self::Json => b"{}",
        }
    }

    /// Nothing was taken: a status with one of gRPC's codes.
    #[must_use]
    pub fn refused(self, code: u8, why: &str) -> Vec<u8> {
        match self {
            Self::Protobuf => [varint_field(1, code.into()), field(2, why.as_bytes())].concat(),
            Self::Json => json!({ "code": code, "message": why }).to_string().into_bytes(),
        }
    }
}

fn field(number: u8, bytes: &[u8]) -> Vec<u8> {
    let mut out = vec![number << 3 | 2];
    varint(bytes.len() as u64, &mut out);
    out.extend_from_slice(bytes);
    out
}

fn varint_field(number: u8, value: u64) -> Vec<u8> {
    let mut out = vec![number << 3];
    varint(value, &mut out);
    out
}

fn varint(mut value: u64, out: &mut Vec<u8>) {
    loop {
        let [low, ..] = (value & 0x7f).to_le_bytes();
        value >>= 7;
        if value == 0 {
            return out.push(low);
        }
        out.push(low | 0x80);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replies_are_what_exporters_expect() {
        assert_eq!(Encoding::Json.taken(), b"{}");
        assert!(Encoding::Protobuf.taken().is_empty());
        assert_eq!(Encoding::Protobuf.refused(3, "x"), [0x08, 3, 0x12, 1, b'x']);
        assert_eq!(Encoding::Json.refused(3, "x"), br#"{"code":3,"message":"x"}"#);
    }

    #[test]
    fn encodings_are_told_by_media_type() {
        assert_eq!(Encoding::of("application/json; charset=utf-8"), Some(Encoding::Json));
        assert_eq!(Encoding::of("Application/X-Protobuf"), Some(Encoding::Protobuf));
        assert_eq!(Encoding::of("text/plain"), None);
    }
}
