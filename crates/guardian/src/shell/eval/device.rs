//! Paths that are no files: descriptors, nothing at all, the network.

use super::channel::Channel;
use super::state::State;
use crate::shell::value::{Piece, Value};

/// `/dev/tcp/host/port` as `host:port`.
pub(super) fn network(target: &Value) -> Option<Value> {
    let prefix = target.prefix();
    let rest = prefix.strip_prefix(b"/dev/tcp/").or_else(|| prefix.strip_prefix(b"/dev/udp/"))?;
    let mut to = Value::known(rest);
    target.pieces.iter().skip(1).for_each(|piece| to.push(piece.clone()));
    for piece in &mut to.pieces {
        if let Piece::Known(bytes) = piece
            && let Some(slash) = bytes.iter().rposition(|byte| *byte == b'/')
            && let Some(byte) = bytes.get_mut(slash)
        {
            *byte = b':';
        }
    }
    Some(to)
}

/// Paths that stand for descriptors or for nothing.
pub(super) fn device(path: &Value, state: &State) -> Option<Channel> {
    let bytes = path.bytes()?;
    let number = match bytes {
        b"/dev/null" | b"/dev/zero" | b"/dev/full" | b"/dev/random" | b"/dev/urandom" => {
            return Some(Channel::Null);
        }
        b"/dev/tty" => return Some(Channel::Given),
        b"/dev/stdin" => 0,
        b"/dev/stdout" => 1,
        b"/dev/stderr" => 2,
        _ => {
            let digits = bytes.strip_prefix(b"/dev/fd/").or_else(|| bytes.strip_prefix(b"/proc/self/fd/"))?;
            std::str::from_utf8(digits).ok()?.parse().ok()?
        }
    };
    Some(state.descriptors.get(&number).cloned().unwrap_or(Channel::Given))
}
