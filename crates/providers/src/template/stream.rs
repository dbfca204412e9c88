//! Compressed streams. Owns recognising gzip and zstd by their first bytes and decoding them, several members or
//! frames in a row included. Refuses to trust a file name or a media type about it, and to let a tar reader collect
//! names of any length in memory.

use std::{
    cell::Cell,
    io::{self, BufRead, BufReader, Read, Seek},
    rc::Rc,
};

use flate2::bufread::MultiGzDecoder;
use ruzstd::decoding::{FrameDecoder, StreamingDecoder};

/// How a stream is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Compression {
    None,
    Gzip,
    Zstd,
}

impl Compression {
    /// Tells by the first bytes.
    pub(super) fn of(start: &[u8]) -> Self {
        if start.starts_with(&[0x1f, 0x8b]) {
            Self::Gzip
        } else if start.starts_with(&[0x28, 0xb5, 0x2f, 0xfd]) || is_skippable(start) {
            Self::Zstd
        } else {
            Self::None
        }
    }
}

/// Returns the plain contents of a stream, compressed or not.
pub(super) fn decompressed<'a>(source: impl Read + 'a) -> io::Result<Box<dyn Read + 'a>> {
    let mut source = BufReader::with_capacity(64 * 1024, source);
    Ok(match Compression::of(source.fill_buf()?) {
        Compression::None => Box::new(source),
        Compression::Gzip => Box::new(MultiGzDecoder::new(source)),
        Compression::Zstd => Box::new(Zstd { source: Some(source), frame: None }),
    })
}

/// Frames that carry no contents; `pzstd` and zstd:chunked layers have them.
fn is_skippable(start: &[u8]) -> bool {
    matches!(start, [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..])
}

/// Decodes frame after frame. The decoder of one frame owns the source for as long as that frame lasts.
struct Zstd<R: BufRead> {
    source: Option<R>,
    frame: Option<StreamingDecoder<R, FrameDecoder>>,
}

impl<R: BufRead> Zstd<R> {
    /// Starts the next frame, or leaves none when the source has ended.
    fn advance(&mut self) -> io::Result<()> {
        let Some(mut source) = self.source.take() else { return Ok(()) };
        loop {
            let start = source.fill_buf()?;
            if start.is_empty() {
                return Ok(());
            }
            if !is_skippable(start) {
                break;
            }
            let mut header = [0; 8];
            source.read_exact(&mut header)?;
            let [.., a, b, c, d] = header;
            let length = u64::from(u32::from_le_bytes([a, b, c, d]));
            if io::copy(&mut (&mut source).take(length), &mut io::sink())? < length {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
        self.frame = Some(StreamingDecoder::new(source).map_err(io::Error::other)?);
        Ok(())
    }
}

impl<R: BufRead> Read for Zstd<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            if self.frame.is_none() {
                self.advance()?;
            }
            let Some(mut frame) = self.frame.take() else { return Ok(0) };
            let count = frame.read(buffer)?;
            if count > 0 || buffer.is_empty() {
                self.frame = Some(frame);
                return Ok(count);
            }
            let (source, decoder) = frame.into_parts();
            let promised = decoder.get_checksum_from_data();
            if promised.is_some() && promised != decoder.get_calculated_checksum() {
                return Err(io::Error::new(io::ErrorKind::InvalidData, "zstd frame checksum mismatch"));
            }
            self.source = Some(source);
        }
    }
}

/// Headers, long names and pax records of one entry; the tar reader holds all of them in memory.
const HEADER_LIMIT: u64 = 1024 * 1024;

/// How much of a stream may be read for the next header. Shared with the [`Allowed`] reader it governs.
#[derive(Debug, Clone)]
pub(super) struct Allowance(Rc<Cell<u64>>);

impl Allowance {
    pub(super) fn over<R>(inner: R) -> (Self, Allowed<R>) {
        let left = Rc::new(Cell::new(HEADER_LIMIT));
        (Self(Rc::clone(&left)), Allowed { inner, left })
    }

    /// From here on a header is read.
    pub(super) fn for_header(&self) {
        self.0.set(HEADER_LIMIT);
    }

    /// From here on contents are read, which are bounded elsewhere.
    pub(super) fn for_contents(&self) {
        self.0.set(u64::MAX);
    }
}

/// A reader that fails once its allowance is used up.
pub(super) struct Allowed<R> {
    inner: R,
    left: Rc<Cell<u64>>,
}

impl<R: Read> Read for Allowed<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buffer)?;
        let left = self.left.get().checked_sub(count as u64);
        self.left.set(left.ok_or_else(|| io::Error::other("an entry's header is larger than 1 MiB"))?);
        Ok(count)
    }
}

impl<R: Seek> Seek for Allowed<R> {
    fn seek(&mut self, to: io::SeekFrom) -> io::Result<u64> {
        self.inner.seek(to)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use ruzstd::encoding::{CompressionLevel, compress_to_vec};

    use super::*;

    fn plain(stored: &[u8]) -> io::Result<Vec<u8>> {
        let mut out = Vec::new();
        decompressed(stored)?.read_to_end(&mut out)?;
        Ok(out)
    }

    #[test]
    fn several_members_and_frames_are_one_stream() {
        let gzip = |text: &[u8]| {
            let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
            encoder.write_all(text).unwrap();
            encoder.finish().unwrap()
        };
        let zstd = |text: &[u8]| compress_to_vec(text, CompressionLevel::Fastest);
        let skip = [0x50, 0x2a, 0x4d, 0x18, 2, 0, 0, 0, 9, 9].to_vec();

        assert_eq!(plain(b"plain").unwrap(), b"plain");
        assert_eq!(plain(b"").unwrap(), b"");
        assert_eq!(plain(&[gzip(b"one "), gzip(b"two")].concat()).unwrap(), b"one two");
        assert_eq!(plain(&[skip.clone(), zstd(b"one "), skip, zstd(b"two")].concat()).unwrap(), b"one two");
        assert!(plain(&gzip(&[7; 9000])[..20]).is_err());
        assert!(plain(&zstd(b"some text")[..9]).is_err());
    }
}
