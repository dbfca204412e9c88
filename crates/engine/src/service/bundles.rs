//! What one sandbox changed, taken to another: all of it, or nothing where that is not what the changes began with.

use std::{
    collections::BTreeMap,
    fs::File,
    io::{Read as _, Write as _},
    path::Path,
    sync::Arc,
};

use belljar_domain::{EventKind, Principal, SandboxId, SandboxPath};
use belljar_ports::{FileChange, Open, SandboxError};

use super::{FileKind, FileWriter, Result, Service, ServiceError, files, live::LiveSandbox, tars, tool};
use crate::changes::{Bundle, Content, Held, Omission, RenderError, Thing};

/// How many paths in the way are named.
const NAMED: usize = 20;

/// What became of a bundle.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BundleApplied {
    /// Paths that were written or removed, as the bundle calls them.
    pub applied: Vec<String>,
    /// How many were so already.
    pub unchanged: usize,
}

impl Service {
    /// What a sandbox changed in its workspace with both sides of everything, but for the repository's inside.
    ///
    /// # Errors
    /// When it has no workspace, or either side cannot be read.
    pub fn changes_bundle(
        &self,
        who: &Principal,
        id: SandboxId,
    ) -> Result<std::result::Result<Bundle, RenderError>> {
        let changes = self.changes(who, id)?;
        let inside = |path: &Path| path.components().any(|part| part.as_os_str() == ".git");
        Ok(Bundle::gather(&changes, &|path| inside(path).then_some(Omission::Repository)))
    }

    /// Changes a directory of a sandbox as a bundle says; its workspace, unless another is named.
    ///
    /// # Errors
    /// When the bundle makes no sense, or something there is neither what it began with nor what it leads to: then nothing
    /// is changed.
    pub fn apply_bundle(
        &self,
        who: &Principal,
        id: SandboxId,
        bundle: &Bundle,
        at: Option<&SandboxPath>,
    ) -> Result<BundleApplied> {
        let live = self.live(who, id)?;
        let base = at.cloned().map_or_else(|| workspace(&live), Ok)?;
        let held = placed(&base, &bundle.files)?;
        let (mut steps, mut in_the_way, mut done) = (Vec::new(), Vec::new(), BundleApplied::default());
        for (path, file) in &held {
            let there = if is_below_gone(&held, path) { None } else { there(&live, path, file)? };
            if is_same(there.as_ref(), file.after.as_ref()) {
                done.unchanged += 1;
            } else if is_same(there.as_ref(), file.before.as_ref()) {
                steps.push((path, *file));
            } else {
                in_the_way.push(file.path.as_str());
            }
        }
        if !in_the_way.is_empty() {
            let (count, named) = (in_the_way.len(), in_the_way.into_iter().take(NAMED).collect::<Vec<_>>());
            return Err(ServiceError::Conflict(format!(
                "{count} of {} files are not what the changes began with, so nothing was applied: {}",
                held.len(),
                named.join(", ")
            )));
        }
        let paths: Vec<_> = steps.iter().map(|(path, _)| *path).collect();
        if paths.is_empty() {
            return Ok(done);
        }
        let passage = self.pass_files(who, &live.view(), tool::WRITE, &paths)?;
        live.touch();
        for (path, file) in &steps {
            self.put(&live, path, file.after.as_ref())?;
            self.note_file(who, &live, path, EventKind::FileWrite, &passage);
            done.applied.push(file.path.clone());
        }
        Ok(done)
    }

    fn put(&self, live: &Arc<LiveSandbox>, path: &SandboxPath, thing: Option<&Thing>) -> Result<()> {
        let remove = || live.sandbox.change(&FileChange::Remove { path: path.clone(), recursive: false });
        match thing {
            None => Ok(remove()?),
            Some(Thing::File { mode, content }) => {
                tars::make_parent(&*live.sandbox, path)?;
                let mut writer = FileWriter::begin(self, Arc::clone(live), path, *mode & 0o777)?;
                writer.write_all(&content.0).map_err(tars::broken)?;
                writer.commit().map(drop)
            }
            Some(Thing::Symlink { target }) => {
                let target = tars::link_target(path, Path::new(target))?;
                tars::make_parent(&*live.sandbox, path)?;
                // A link is made where nothing is.
                let _none = remove();
                Ok(live.sandbox.change(&FileChange::Link { path: path.clone(), target })?)
            }
        }
    }
}

/// Where every file goes, each once, what lies above before what lies below.
type Placed<'b> = BTreeMap<SandboxPath, &'b Held>;

/// Refuses what could not be applied whole: a path that leads out of the directory, a second word about the same, or
/// something below what is to be no directory.
fn placed<'b>(base: &SandboxPath, files: &'b [Held]) -> Result<Placed<'b>> {
    let mut placed = Placed::new();
    for file in files {
        let path = tars::below(base, Path::new(&file.path))?;
        let path = path.ok_or_else(|| ServiceError::Invalid(format!("`{}` names nothing", file.path)))?;
        if let Some(Thing::Symlink { target }) = &file.after {
            tars::link_target(&path, Path::new(target))?;
        }
        if placed.insert(path, file).is_some() {
            return Err(ServiceError::Invalid(format!("`{}` is in the bundle twice", file.path)));
        }
    }
    for (path, file) in placed.iter().filter(|(_, file)| file.after.is_some()) {
        if let Some(above) = above(&placed, path).find(|above| above.after.is_some()) {
            let (path, above) = (&file.path, &above.path);
            return Err(ServiceError::Invalid(format!(
                "`{path}` lies below `{above}`, which is no directory"
            )));
        }
    }
    Ok(placed)
}

/// What the bundle says of the directories a path lies in.
fn above<'a, 'b>(placed: &'a Placed<'b>, path: &'a SandboxPath) -> impl Iterator<Item = &'b Held> + 'a {
    let parents =
        path.as_path().ancestors().skip(1).filter_map(|parent| SandboxPath::new(parent.to_str()?).ok());
    parents.filter_map(|parent| placed.get(&parent).copied())
}

/// Whether a path lies in what is a file now and makes way for a directory: nothing is there then.
fn is_below_gone(placed: &Placed<'_>, path: &SandboxPath) -> bool {
    above(placed, path).any(|above| above.after.is_none())
}

fn workspace(live: &LiveSandbox) -> Result<SandboxPath> {
    let workspace = live.view().spec.workspace.map(|path| SandboxPath::new(path.to_string()));
    let workspace = workspace.transpose().map_err(|error| ServiceError::Invalid(error.to_string()))?;
    workspace.ok_or_else(|| {
        ServiceError::Invalid("the sandbox has no workspace; say where to apply it with `path`".to_owned())
    })
}

/// What is at a path, read no further than it takes to tell it apart. A directory is nothing a bundle knows.
fn there(live: &LiveSandbox, path: &SandboxPath, file: &Held) -> Result<Option<Thing>> {
    let sides = [&file.before, &file.after].into_iter().flatten();
    let most = sides.map(|thing| thing.bytes().len()).max().unwrap_or(0);
    let view = match files::look(&*live.sandbox, path, false) {
        Ok(view) => view,
        Err(ServiceError::NotFound(_)) => return Ok(None),
        Err(error) => return Err(error),
    };
    match view.kind {
        FileKind::Symlink => Ok(Some(Thing::Symlink { target: view.target.unwrap_or_default() })),
        FileKind::File => {
            let opened = live.sandbox.open(path, Open::Read);
            let file = match opened {
                Ok(file) => File::from(file),
                Err(SandboxError::File { .. }) => return Ok(Some(unlike())),
                Err(error) => return Err(error.into()),
            };
            let mut bytes = Vec::new();
            let limit = u64::try_from(most).unwrap_or(u64::MAX).saturating_add(1);
            file.take(limit).read_to_end(&mut bytes).map_err(tars::broken)?;
            Ok(Some(Thing::File { mode: view.mode, content: Content(bytes) }))
        }
        FileKind::Directory | FileKind::Other => Ok(Some(unlike())),
    }
}

/// Something no bundle holds.
const fn unlike() -> Thing {
    Thing::Symlink { target: String::new() }
}

/// As a repository would compare them.
fn is_same(one: Option<&Thing>, other: Option<&Thing>) -> bool {
    match (one, other) {
        (None, None) => true,
        (Some(one), Some(other)) => one.git_mode() == other.git_mode() && one.bytes() == other.bytes(),
        _ => false,
    }
}
