//! Directories of a sandbox as tar archives, in and out.

use std::{
    cell::Cell,
    collections::HashSet,
    fs::File,
    io::{self, Read, Write},
    path::{Component, Path},
};

use belljar_domain::{Principal, SandboxId, SandboxPath};
use belljar_ports::{FileChange, Open, Sandbox};
use tar::{Builder, EntryType, Header};

use super::{FileKind, FileView, FileWriter, Result, Service, ServiceError, files, tool};

/// Most entries of an archive, in either direction.
const MAX_ENTRIES: u64 = 1_000_000;
const MAX_DEPTH: usize = 128;
/// The longest path and the longest name in one; the kernel takes none beyond.
const MAX_PATH: usize = 4095;
const MAX_NAME: usize = 255;
/// Most bytes of the names of links that are remembered while an archive is unpacked.
const MAX_LINKS: usize = 16 << 20;
/// Most bytes between two entries: what is left of the one, and the headers of the next, which are held in memory.
const MAX_HEADERS: u64 = 1 << 20;

impl Service {
    /// Packs a directory; the answer is how many entries it has. What vanishes meanwhile is left out.
    ///
    /// # Errors
    /// When it is no directory, or the archive cannot be written.
    pub fn pack(
        &self,
        who: &Principal,
        id: SandboxId,
        path: &SandboxPath,
        to: &mut dyn Write,
    ) -> Result<u64> {
        let live = self.live(who, id)?;
        self.pass_file(who, &live.view(), tool::READ, path)?;
        live.touch();
        let mut builder = Builder::new(to);
        let mut count = 0;
        let mut waiting = vec![(path.clone(), String::new(), 0)];
        while let Some((dir, prefix, depth)) = waiting.pop() {
            let listed = files::entries(&*live.sandbox, &dir, usize::MAX);
            let found = if prefix.is_empty() { listed? } else { listed.unwrap_or_default() };
            for entry in found {
                let name = format!("{prefix}{}", entry.name);
                if pack_one(&mut builder, &*live.sandbox, &entry, &name).map_err(broken)? {
                    count += 1;
                }
                if count >= MAX_ENTRIES {
                    return Err(ServiceError::TooLarge(format!("more than {MAX_ENTRIES} entries")));
                }
                if entry.kind == FileKind::Directory
                    && depth < MAX_DEPTH
                    && let Ok(inner) = SandboxPath::new(&entry.path)
                {
                    waiting.push((inner, format!("{name}/"), depth + 1));
                }
            }
        }
        builder.finish().map_err(broken)?;
        Ok(count)
    }

    /// Unpacks an archive into a directory, made if it is not there; the answer is how many entries it had. Symbolic links
    /// are made as they are, inside the sandbox, and nothing is unpacked through one of them.
    ///
    /// # Errors
    /// When it is no archive, or an entry would lead out of the directory; entries before that one stay.
    pub fn unpack(
        &self,
        who: &Principal,
        id: SandboxId,
        path: &SandboxPath,
        from: &mut dyn Read,
    ) -> Result<u64> {
        let live = self.live(who, id)?;
        self.pass_file(who, &live.view(), tool::WRITE, path)?;
        live.touch();
        live.sandbox.change(&FileChange::MakeDir { path: path.clone(), parents: true })?;
        let allowance = Cell::new(0);
        let mut archive = tar::Archive::new(Allowed { from, left: &allowance });
        let mut count = 0;
        let mut links = Links::default();
        let mut entries = archive.entries().map_err(broken)?;
        loop {
            allowance.set(MAX_HEADERS);
            let Some(entry) = entries.next() else { break };
            let mut entry = entry.map_err(broken)?;
            allowance.set(u64::MAX);
            let kind = entry.header().entry_type();
            let name = entry.path().map_err(broken)?.into_owned();
            let Some(target) = below(path, &name)? else { continue };
            links.check(&target, kind)?;
            match kind {
                EntryType::Directory => {
                    live.sandbox.change(&FileChange::MakeDir { path: target, parents: true })?;
                }
                EntryType::Regular | EntryType::Continuous => {
                    let mode = entry.header().mode().unwrap_or(0o644);
                    make_parent(&*live.sandbox, &target)?;
                    let mut writer = FileWriter::begin(self, std::sync::Arc::clone(&live), &target, mode)?;
                    io::copy(&mut entry, &mut writer).map_err(broken)?;
                    writer.commit()?;
                }
                EntryType::Symlink => {
                    let says = entry.link_name().map_err(broken)?.unwrap_or_default().into_owned();
                    let says = link_target(&target, &says)?;
                    make_parent(&*live.sandbox, &target)?;
                    live.sandbox.change(&FileChange::Link { path: target.clone(), target: says })?;
                    links.made(&target)?;
                }
                EntryType::XGlobalHeader => continue,
                _ => {
                    return Err(ServiceError::Invalid(format!(
                        "`{}` is no file, directory or symbolic link; hard links and devices are not unpacked",
                        name.display()
                    )));
                }
            }
            count += 1;
            if count > MAX_ENTRIES {
                return Err(ServiceError::TooLarge(format!("more than {MAX_ENTRIES} entries")));
            }
        }
        Ok(count)
    }
}

/// An archive that is read no further than allowed, so that no name of it has to fit into memory first.
struct Allowed<'a> {
    from: &'a mut dyn Read,
    left: &'a Cell<u64>,
}

impl Read for Allowed<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let most = usize::try_from(self.left.get()).unwrap_or(usize::MAX).min(into.len());
        if most == 0 && !into.is_empty() {
            return Err(io::Error::other(format!("an entry's header has more than {MAX_HEADERS} bytes")));
        }
        let count = self.from.read(into.get_mut(..most).unwrap_or_default())?;
        self.left.set(self.left.get() - u64::try_from(count).unwrap_or(u64::MAX));
        Ok(count)
    }
}

/// Where an entry goes; `None` for the directory itself.
pub(super) fn below(base: &SandboxPath, name: &Path) -> Result<Option<SandboxPath>> {
    let refused =
        || ServiceError::Invalid(format!("the archive's entry `{}` leads out of it", name.display()));
    let mut inner = String::new();
    for part in name.components() {
        match part {
            Component::Normal(part) => {
                inner.push('/');
                inner.push_str(part.to_str().ok_or_else(refused)?);
            }
            Component::CurDir => {}
            Component::ParentDir | Component::RootDir | Component::Prefix(_) => return Err(refused()),
        }
    }
    if inner.is_empty() {
        return Ok(None);
    }
    let path = format!("{}{inner}", base.to_string().trim_end_matches('/'));
    if path.len() > MAX_PATH || inner.split('/').any(|part| part.len() > MAX_NAME) {
        let begins: String = inner.chars().take(100).collect();
        return Err(ServiceError::Invalid(format!(
            "the archive's entry `{begins}…` has a path of more than {MAX_PATH} bytes, or a name of more than {MAX_NAME}"
        )));
    }
    SandboxPath::new(&path).map(Some).map_err(|error| ServiceError::Invalid(error.to_string()))
}

pub(super) fn make_parent(sandbox: &dyn Sandbox, path: &SandboxPath) -> Result<()> {
    match files::split(path) {
        Some((parent, _)) => Ok(sandbox.change(&FileChange::MakeDir { path: parent, parents: true })?),
        None => Ok(()),
    }
}

/// The links an archive made so far. Whoever wrote the archive chose where they lead, so nothing else of it may follow.
#[derive(Default)]
struct Links {
    paths: HashSet<String>,
    bytes: usize,
}

impl Links {
    fn made(&mut self, path: &SandboxPath) -> Result<()> {
        let text = path.to_string();
        self.bytes += text.len();
        self.paths.insert(text);
        if self.bytes > MAX_LINKS {
            return Err(ServiceError::TooLarge(format!("more than {MAX_LINKS} bytes of names of links")));
        }
        Ok(())
    }

    /// Refuses an entry that would be unpacked through a link; one that replaces the link itself is fine.
    fn check(&mut self, path: &SandboxPath, kind: EntryType) -> Result<()> {
        let text = path.to_string();
        let above = text.char_indices().filter(|(_, letter)| *letter == '/').map(|(at, _)| at);
        let ends = above.chain((kind == EntryType::Directory).then_some(text.len()));
        for end in ends {
            let link = text.get(..end).unwrap_or_default();
            if self.paths.contains(link) {
                return Err(ServiceError::Invalid(format!(
                    "`{text}` would be unpacked through `{link}`, a link of the same archive"
                )));
            }
        }
        self.paths.remove(&text);
        Ok(())
    }
}

/// What a link says, if that is a place in the sandbox's tree.
pub(super) fn link_target(link: &SandboxPath, says: &Path) -> Result<String> {
    let refused = |why: &str| {
        let says: String = says.to_string_lossy().chars().take(200).collect();
        ServiceError::Invalid(format!("the link `{link}` to `{says}` {why}"))
    };
    let text = says.to_str().filter(|text| !text.is_empty()).ok_or_else(|| refused("names nothing"))?;
    let mut depth = if says.is_absolute() { 0 } else { link.to_string().matches('/').count() - 1 };
    for part in says.components() {
        match part {
            Component::Normal(_) => depth += 1,
            Component::ParentDir => {
                depth = depth.checked_sub(1).ok_or_else(|| refused("leads out of the sandbox"))?;
            }
            Component::CurDir | Component::RootDir | Component::Prefix(_) => {}
        }
    }
    Ok(text.to_owned())
}

fn pack_one(
    builder: &mut Builder<&mut dyn Write>,
    sandbox: &dyn Sandbox,
    entry: &FileView,
    name: &str,
) -> io::Result<bool> {
    let mut header = Header::new_gnu();
    header.set_mode(entry.mode);
    header.set_uid(u64::from(entry.uid));
    header.set_gid(u64::from(entry.gid));
    header.set_mtime(u64::try_from(entry.modified.as_micros() / 1_000_000).unwrap_or(0));
    header.set_size(0);
    match entry.kind {
        FileKind::Directory => {
            header.set_entry_type(EntryType::Directory);
            builder.append_data(&mut header, format!("{name}/"), io::empty())?;
        }
        FileKind::Symlink => {
            header.set_entry_type(EntryType::Symlink);
            let Some(target) = &entry.target else { return Ok(false) };
            builder.append_link(&mut header, name, target)?;
        }
        FileKind::File => {
            let path = SandboxPath::new(&entry.path).map_err(io::Error::other)?;
            let Ok(file) = sandbox.open(&path, Open::Read).map(File::from) else { return Ok(false) };
            let meta = file.metadata()?;
            if !meta.is_file() {
                return Ok(false);
            }
            header.set_size(meta.len());
            // Exactly as long as the header says, whatever the file does meanwhile.
            let padded = file.take(meta.len()).chain(io::repeat(0)).take(meta.len());
            builder.append_data(&mut header, name, padded)?;
        }
        FileKind::Other => return Ok(false),
    }
    Ok(true)
}

#[expect(clippy::needless_pass_by_value, reason = "it is what `map_err` hands over")]
pub(super) fn broken(error: io::Error) -> ServiceError {
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            ServiceError::TooLarge("the sandbox's disk is full".to_owned())
        }
        _ => ServiceError::Invalid(format!("the archive cannot be used: {error}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_stay_below_their_directory() {
        let base = SandboxPath::new("/srv").unwrap();
        let to = |name: &str| below(&base, Path::new(name)).map(|path| path.map(|path| path.to_string()));
        assert_eq!(to("a/b").unwrap().as_deref(), Some("/srv/a/b"));
        assert_eq!(to("./a").unwrap().as_deref(), Some("/srv/a"));
        assert_eq!(to("./").unwrap(), None);
        for out in
            [&"n".repeat(300) as &str, &"a/".repeat(3000), "../a", "a/../../b", "/etc/passwd", "..", "a/.."]
        {
            assert!(to(out).is_err(), "{out}");
        }
    }

    #[test]
    fn links_stay_in_the_sandboxs_tree() {
        let link = SandboxPath::new("/srv/a/link").unwrap();
        for inside in ["b", "../b", "../../etc/passwd", "/usr/bin/sh", "./b/../c", "/"] {
            assert_eq!(link_target(&link, Path::new(inside)).unwrap(), inside);
        }
        for out in ["", "../../../etc", "/..", "/a/../../b", "b/../../../../c"] {
            assert!(link_target(&link, Path::new(out)).is_err(), "{out}");
        }
    }

    #[test]
    fn nothing_goes_through_a_link_of_the_archive() {
        let path = |text: &str| SandboxPath::new(text).unwrap();
        let mut links = Links::default();
        links.made(&path("/in/door")).unwrap();
        links.check(&path("/in/door/slipped"), EntryType::Regular).unwrap_err();
        links.check(&path("/in/door/a/b"), EntryType::Symlink).unwrap_err();
        links.check(&path("/in/door"), EntryType::Directory).unwrap_err();
        links.check(&path("/in/doors/fine"), EntryType::Regular).unwrap();
        links.check(&path("/in/door"), EntryType::Regular).unwrap();
        // It was replaced by a file, so there is no link any more.
        links.check(&path("/in/door"), EntryType::Directory).unwrap();
    }
}
