//! What models cost here: the list in `prices.json` of a home, if somebody keeps one, before the one that came along.

use std::{fs, io::ErrorKind, path::Path};

use anyhow::{Context as _, Result};
use belljar_capture::cost::Prices;

pub(crate) fn of(home: &Path) -> Result<Prices> {
    let path = home.join("prices.json");
    let text = match fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Prices::default()),
        Err(error) => return Err(error).with_context(|| format!("read {}", path.display())),
    };
    let own = Prices::read(&text).with_context(|| {
        format!("read {}: mend it or remove it (docs/records.md has its form)", path.display())
    })?;
    Ok(own.or(Prices::default()))
}
