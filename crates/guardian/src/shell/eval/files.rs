//! Files the command itself has written: what is in them and where it came from.
//!
//! Owns: contents and origins by path. Refuses: the order of writes; whatever a file may have held at some time may be what is
//! run later, so nothing is forgotten.

use std::collections::{BTreeMap, BTreeSet};

use crate::effects::{Datum, Stream};
use crate::shell::ast::Span;
use crate::shell::value::{Piece, Value, Why};

/// Contents kept per file.
const CONTENTS: usize = 8;
/// Bytes of one content that are kept.
const LARGEST: usize = 256 * 1024;

#[derive(Debug, Default)]
pub(super) struct Files {
    contents: BTreeMap<Vec<u8>, Vec<Value>>,
    origins: BTreeMap<Vec<u8>, Vec<Datum>>,
    /// Directories something was unpacked into, with a slash behind them, and what.
    trees: Vec<(Vec<u8>, Vec<Datum>)>,
    /// Symlinks, and what they lead to.
    links: Vec<(Value, Value)>,
    /// Files that may hold something else: `set -C` keeps what is there, programs put in what nobody knows.
    doubted: BTreeSet<Vec<u8>>,
    /// Files something was put behind whatever was in them before.
    lengthened: BTreeSet<Vec<u8>>,
}

impl Files {
    /// Every known content of a file, the latest last.
    pub(super) fn contents(&self, path: &Value) -> &[Value] {
        self.contents.get(&key(path)).map_or(&[], Vec::as_slice)
    }

    /// What flowed into a file, or into a directory above it.
    pub(super) fn origins(&self, path: &Value) -> Vec<Datum> {
        let path = key(path);
        let own = self.origins.get(&path).into_iter().flatten();
        let above = self.trees.iter().filter(|(tree, _)| path.starts_with(tree)).flat_map(|(_, data)| data);
        own.chain(above).cloned().collect()
    }

    /// Notes that a path leads to another.
    pub(super) fn link(&mut self, path: &Value, to: &Value) {
        if path != to && !path.has_glob() && !path.pieces.is_empty() && self.links.len() < CONTENTS {
            self.links.push((path.clone(), to.clone()));
        }
    }

    /// A path with the links of the command followed, links to links too. What is deleted is a link itself, unless it is below one.
    pub(super) fn real(&self, path: &Value, is_itself: bool) -> Option<Value> {
        let mut real = self.next(path, is_itself)?;
        for _ in 0..CONTENTS {
            let Some(further) = self.next(&real, is_itself) else { break };
            real = further;
        }
        Some(real)
    }

    /// A path with one link followed.
    fn next(&self, path: &Value, is_itself: bool) -> Option<Value> {
        let (rest, link, to) = self.links.iter().find_map(|(link, to)| {
            let rest = below(path, link)?;
            let is_below = matches!(rest.first(), Some(Piece::Known(bytes)) if bytes.starts_with(b"/"));
            (is_below || rest.is_empty() && is_itself).then_some((rest, link, to))
        })?;
        let mut real = if self.links.iter().any(|(other, elsewhere)| other == link && elsewhere != to) {
            let construct = "a link that was made to lead to one place and to another".to_owned();
            Value::unknown(Why { construct, span: Span::default() })
        } else {
            to.clone()
        };
        if let Some(Piece::Known(bytes)) = real.pieces.last_mut()
            && bytes.ends_with(b"/")
            && !rest.is_empty()
        {
            bytes.pop();
        }
        rest.into_iter().for_each(|piece| real.push(piece));
        Some(real)
    }

    /// A path that goes up from behind a link, as the kernel goes: from where the link leads. None if it does not.
    pub(super) fn climbed(&self, path: &[u8], cwd: &[u8]) -> Option<Value> {
        if self.links.is_empty() || !path.split(|byte| *byte == b'/').any(|name| name == b"..") {
            return None;
        }
        let mut place = if path.starts_with(b"/") { Vec::new() } else { cwd.to_vec() };
        let mut is_led = false;
        for name in path.split(|byte| *byte == b'/').filter(|name| !matches!(*name, b"" | b".")) {
            if name == b".." {
                if let Some(real) = self.real(&Value::known(place.clone()), true) {
                    place = real.bytes()?.to_vec();
                    is_led = true;
                }
                place.truncate(place.iter().rposition(|byte| *byte == b'/').unwrap_or(0));
            } else {
                place = [place.as_slice(), b"/", name].concat();
            }
        }
        is_led.then(|| Value::known(if place.is_empty() { b"/".to_vec() } else { place }))
    }

    /// What reading the file gives.
    pub(super) fn stream(&self, path: &Value) -> Stream {
        let mut data = vec![Datum::File(path.clone())];
        data.extend(self.origins(path));
        let is_sure = !self.is_doubted(path) && !self.lengthened.contains(&key(path));
        Stream { text: self.contents(path).last().filter(|_| is_sure).cloned(), data }
    }

    /// Notes that what is written to a file may never get there.
    pub(super) fn doubt(&mut self, path: &Value) {
        self.doubted.insert(key(path));
    }

    /// Notes that something is put behind what is in a file, which may be something.
    pub(super) fn lengthen(&mut self, path: &Value) {
        if !self.contents.contains_key(&key(path)) {
            self.lengthened.insert(key(path));
        }
    }

    /// Notes that a file holds something else now than what is known to have been written.
    pub(super) fn changed(&mut self, path: &Value) {
        if self.contents.contains_key(&key(path)) {
            self.doubt(path);
        }
    }

    /// Whether a file may hold something else than what is known.
    pub(super) fn is_doubted(&self, path: &Value) -> bool {
        self.doubted.contains(&key(path))
    }

    /// Keeps what is now in a file: what was in it, then what was written.
    pub(super) fn keep(&mut self, path: &Value, base: &Value, written: &Stream) {
        self.flow(path, &written.data);
        let known = written.text.as_ref().filter(|text| {
            text.pieces.is_empty() || text.pieces.iter().any(|piece| matches!(piece, Piece::Known(_)))
        });
        let Some(text) = known else { return self.changed(path) };
        let mut whole = base.clone();
        whole.append(text.clone());
        self.put(path, whole);
    }

    /// Keeps a content of a file.
    pub(super) fn put(&mut self, path: &Value, content: Value) {
        let path = key(path);
        let size: usize = content.pieces.iter().map(size).sum();
        if size > LARGEST {
            return;
        }
        let kept = self.contents.entry(path).or_default();
        kept.retain(|before| {
            *before != content && !content.pieces.starts_with(&before.pieces) && !prefix(before, &content)
        });
        if kept.len() >= CONTENTS {
            kept.remove(0);
        }
        kept.push(content);
    }

    /// Notes what flowed into a file.
    pub(super) fn flow(&mut self, path: &Value, data: &[Datum]) {
        if let [Piece::Known(tree), Piece::Glob(all)] = path.pieces.as_slice()
            && all == b"**"
            && !data.is_empty()
            && self.trees.len() < CONTENTS
        {
            self.trees.push((tree.clone(), data.to_vec()));
        }
        let kept = self.origins.entry(key(path)).or_default();
        for datum in data {
            if !kept.contains(datum) && kept.len() < 32 && !matches!(datum, Datum::File(from) if from == path)
            {
                kept.push(datum.clone());
            }
        }
    }

    /// What a program's data are made of: files are followed to what flowed into them.
    pub(super) fn followed(&self, data: &[Datum]) -> Vec<Datum> {
        let mut all: Vec<Datum> = data.to_vec();
        let mut at = 0;
        while let Some(datum) = all.get(at).cloned() {
            at += 1;
            if let Datum::File(path) = &datum {
                for origin in self.origins(path) {
                    if !all.contains(&origin) && all.len() < 64 {
                        all.push(origin);
                    }
                }
            }
        }
        all
    }
}

/// What of a path stands behind another, which it begins with.
fn below(path: &Value, above: &Value) -> Option<Vec<Piece>> {
    let (last, before) = above.pieces.split_last()?;
    let rest = path.pieces.strip_prefix(before)?;
    let (first, after) = rest.split_first()?;
    let left = match (first, last) {
        (Piece::Known(bytes), Piece::Known(end)) => bytes.strip_prefix(end.as_slice())?.to_vec(),
        (first, last) if first == last => Vec::new(),
        _ => return None,
    };
    let left = Some(left).filter(|left| !left.is_empty()).map(Piece::Known);
    Some(left.into_iter().chain(after.iter().cloned()).collect())
}

/// What a file is known by. Where a part of its name is not known, the same part is still the same later.
pub(super) fn key(path: &Value) -> Vec<u8> {
    let mut key = Vec::new();
    for piece in &path.pieces {
        match piece {
            Piece::Known(bytes) | Piece::Glob(bytes) => key.extend(bytes),
            Piece::Unknown(why) => {
                key.push(0);
                key.extend(why.construct.bytes());
                key.extend(why.span.start.to_le_bytes());
            }
        }
    }
    key
}

fn size(piece: &Piece) -> usize {
    match piece {
        Piece::Known(bytes) | Piece::Glob(bytes) => bytes.len(),
        Piece::Unknown(_) => 1,
    }
}

fn prefix(shorter: &Value, longer: &Value) -> bool {
    match (shorter.bytes(), longer.bytes()) {
        (Some(shorter), Some(longer)) => longer.starts_with(shorter),
        _ => false,
    }
}
