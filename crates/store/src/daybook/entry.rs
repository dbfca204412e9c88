//! One entry: the statements of one transaction with their values, as bytes. The texts of statements are in it, so an
//! entry means the same to the next belljar, which posts it before it changes the schema.

use crate::ledger::columns::Column;

/// A statement with its values.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Statement<'a> {
    pub(crate) sql: &'a str,
    pub(crate) values: Vec<Column<'a>>,
}

/// Puts statements together; each text is written once.
pub(crate) fn encode(statements: &[Statement<'_>]) -> Vec<u8> {
    let mut texts: Vec<&str> = Vec::new();
    let mut body = Vec::new();
    for statement in statements {
        let known = texts.iter().position(|text| *text == statement.sql);
        let place = known.unwrap_or_else(|| {
            texts.push(statement.sql);
            texts.len() - 1
        });
        number(&mut body, place);
        number(&mut body, statement.values.len());
        statement.values.iter().for_each(|value| put(&mut body, *value));
    }
    let mut entry = Vec::with_capacity(body.len() + 1024);
    number(&mut entry, texts.len());
    texts.iter().for_each(|text| bytes(&mut entry, text.as_bytes()));
    entry.extend(body);
    entry
}

fn number(to: &mut Vec<u8>, value: usize) {
    // An entry is far smaller than this can count; one that is not would fail its seal's length first.
    to.extend(u32::try_from(value).unwrap_or(u32::MAX).to_le_bytes());
}

fn bytes(to: &mut Vec<u8>, value: &[u8]) {
    number(to, value.len());
    to.extend(value);
}

fn put(to: &mut Vec<u8>, value: Column<'_>) {
    match value {
        Column::Null => to.push(0),
        Column::Int(value) => {
            to.push(1);
            to.extend(value.to_le_bytes());
        }
        Column::Text(text) => {
            to.push(2);
            bytes(to, text);
        }
        Column::Blob(blob) => {
            to.push(3);
            bytes(to, blob);
        }
        Column::Real(value) => {
            to.push(4);
            to.extend(value.to_le_bytes());
        }
    }
}

/// Takes an entry apart; `None` when it is none.
pub(crate) fn decode(entry: &[u8]) -> Option<Vec<Statement<'_>>> {
    let mut rest = entry;
    let count = take_number(&mut rest)?;
    let texts: Vec<&str> =
        (0..count).map(|_| std::str::from_utf8(take_bytes(&mut rest)?).ok()).collect::<Option<_>>()?;
    let mut statements = Vec::new();
    while !rest.is_empty() {
        let sql = texts.get(take_number(&mut rest)?)?;
        let count = take_number(&mut rest)?;
        let values = (0..count).map(|_| take(&mut rest)).collect::<Option<_>>()?;
        statements.push(Statement { sql, values });
    }
    Some(statements)
}

fn take_number(from: &mut &[u8]) -> Option<usize> {
    usize::try_from(u32::from_le_bytes(take_chunk(from)?)).ok()
}

fn take_chunk<const N: usize>(from: &mut &[u8]) -> Option<[u8; N]> {
    let (chunk, rest) = from.split_first_chunk()?;
    *from = rest;
    Some(*chunk)
}

fn take_bytes<'a>(from: &mut &'a [u8]) -> Option<&'a [u8]> {
    let length = take_number(from)?;
    let (bytes, rest) = from.split_at_checked(length)?;
    *from = rest;
    Some(bytes)
}

fn take<'a>(from: &mut &'a [u8]) -> Option<Column<'a>> {
    let [tag] = take_chunk(from)?;
    Some(match tag {
        0 => Column::Null,
        1 => Column::Int(i64::from_le_bytes(take_chunk(from)?)),
        2 => Column::Text(take_bytes(from)?),
        3 => Column::Blob(take_bytes(from)?),
        4 => Column::Real(f64::from_le_bytes(take_chunk(from)?)),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_goes_in_comes_out() {
        let values = vec![
            Column::Null,
            Column::Int(-7),
            Column::Text("käfer".as_bytes()),
            Column::Blob(&[0, 255]),
            Column::Real(0.5),
        ];
        let statements = vec![
            Statement { sql: "INSERT", values: values.clone() },
            Statement { sql: "UPDATE", values: Vec::new() },
            Statement { sql: "INSERT", values },
        ];
        let entry = encode(&statements);
        assert_eq!(decode(&entry), Some(statements));
        for cut in 1..entry.len() {
            // Cut short it is something else or nothing, and never more than there was.
            let fewer = decode(&entry[..cut]).map_or(0, |found| found.len());
            assert!(fewer < 3, "cut at {cut}");
        }
    }
}
