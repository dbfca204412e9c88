//! Numbers: how they are written, and what operators make of two of them.
//!
//! Owns: literals and binary operators. Refuses: names; the reader looks them up.

/// An expression bash refuses.
#[derive(Debug)]
pub(super) struct Wrong;

/// What an operator makes of two numbers that may not be known.
pub(super) fn binary(operator: &[u8], left: Option<i64>, right: Option<i64>) -> Result<Option<i64>, Wrong> {
    let (left, right) = match (operator, left, right) {
        (b"&&", Some(0), _) | (b"&&", _, Some(0)) => return Ok(Some(0)),
        (b"||", Some(value), _) | (b"||", _, Some(value)) if value != 0 => return Ok(Some(1)),
        (_, Some(left), Some(right)) => (left, right),
        _ => return Ok(None),
    };
    Ok(Some(match operator {
        b"||" => i64::from(left != 0 || right != 0),
        b"&&" => i64::from(left != 0 && right != 0),
        b"|" => left | right,
        b"^" => left ^ right,
        b"&" => left & right,
        b"==" => i64::from(left == right),
        b"!=" => i64::from(left != right),
        b"<=" => i64::from(left <= right),
        b">=" => i64::from(left >= right),
        b"<" => i64::from(left < right),
        b">" => i64::from(left > right),
        b"<<" => left.wrapping_shl(u32::try_from(right.rem_euclid(64)).unwrap_or(0)),
        b">>" => left.wrapping_shr(u32::try_from(right.rem_euclid(64)).unwrap_or(0)),
        b"+" => left.wrapping_add(right),
        b"-" => left.wrapping_sub(right),
        b"*" => left.wrapping_mul(right),
        // An error where it is evaluated, nothing where it is not: either way no number comes of it.
        b"/" | b"%" if right == 0 => return Ok(None),
        b"/" => left.wrapping_div(right),
        b"%" => left.wrapping_rem(right),
        _ => return Err(Wrong),
    }))
}

/// `12`, `0x1f`, `017`, `36#zz`.
pub(super) fn based(text: &str) -> Option<i64> {
    if let Some((base, digits)) = text.split_once('#') {
        let base: u32 = base.parse().ok().filter(|base| (2..=64).contains(base))?;
        return digits.bytes().try_fold(0_i64, |sum, digit| {
            let value = match digit {
                b'0'..=b'9' => digit - b'0',
                b'a'..=b'z' => digit - b'a' + 10,
                b'A'..=b'Z' if base <= 36 => digit - b'A' + 10,
                b'A'..=b'Z' => digit - b'A' + 36,
                b'@' => 62,
                b'_' => 63,
                _ => return None,
            };
            (u32::from(value) < base)
                .then(|| sum.wrapping_mul(i64::from(base)).wrapping_add(i64::from(value)))
        });
    }
    if let Some(digits) = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        return digits.chars().try_fold(0_i64, |sum, digit| {
            Some(sum.wrapping_mul(16).wrapping_add(i64::from(digit.to_digit(16)?)))
        });
    }
    let base = if text.len() > 1 && text.starts_with('0') { 8 } else { 10 };
    text.chars().try_fold(0_i64, |sum, digit| {
        Some(sum.wrapping_mul(i64::from(base)).wrapping_add(i64::from(digit.to_digit(base)?)))
    })
}
