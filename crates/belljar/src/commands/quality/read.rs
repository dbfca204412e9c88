//! Reads and judges files, one thread per processor.

use std::{
    fs, io,
    io::Read as _,
    num::NonZero,
    path::Path,
    sync::atomic::{AtomicUsize, Ordering},
    thread,
};

use belljar_quality::{MAX_BYTES, Sheet, Skip, Source, skip_by_path};

use super::walk::Found;

pub(super) fn read(found: &Found) -> Vec<Sheet> {
    let workers = thread::available_parallelism().map_or(1, NonZero::get).min(found.files.len().max(1));
    let next = AtomicUsize::new(0);
    let work = || {
        let mut sheets = Vec::new();
        while let Some((path, name)) = found.files.get(next.fetch_add(1, Ordering::Relaxed)) {
            sheets.push(sheet(path, name, found.is_one));
        }
        sheets
    };
    let mut sheets: Vec<Sheet> = thread::scope(|scope| {
        let threads: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
        // A worker that panicked would have taken the process along.
        threads.into_iter().filter_map(|thread| thread.join().ok()).flatten().collect()
    });
    sheets.extend(found.folders.iter().map(|(folder, skip)| Sheet::skipped(folder, *skip)));
    sheets
}

fn sheet(path: &Path, name: &str, is_one: bool) -> Sheet {
    if let Some(skip) = skip_by_path(name).filter(|_| !is_one) {
        return Sheet::skipped(name, skip);
    }
    let bytes = match bounded(path) {
        Ok(bytes) if bytes.len() > MAX_BYTES => return Sheet::skipped(name, Skip::TooLarge),
        Ok(bytes) if !bytes.contains(&0) => bytes,
        Ok(_) | Err(_) => return Sheet::skipped(name, Skip::Unreadable),
    };
    let text = String::from_utf8_lossy(&bytes);
    let source = Source { path: name, text: &text };
    if is_one { Sheet::read_named(&source) } else { Sheet::read(&source) }
}

/// No more of a file than is looked at, and one byte to tell that there is more.
fn bounded(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    fs::File::open(path)?.take(MAX_BYTES as u64 + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}
