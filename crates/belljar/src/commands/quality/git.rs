//! What git knows: which files differ between two states, and what they say in each.
//!
//! Nothing of the repository is run: no hook, no external diff, no filter.

use std::{
    collections::BTreeSet,
    fs,
    io::{BufRead as _, BufReader, Read as _, Write as _},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

use anyhow::{Context as _, Result, bail};
use belljar_quality::{Lang, MAX_BYTES};

/// Both sides of a change: every file in a known language that differs, by its path in the repository.
#[derive(Debug)]
pub(super) struct Sides {
    /// What the sides are called.
    pub(super) names: (String, String),
    pub(super) base: Vec<(String, String)>,
    pub(super) head: Vec<(String, String)>,
}

pub(super) fn sides(folder: &Path, range: &str) -> Result<Sides> {
    let (base, head) = range.split_once("..").unwrap_or((range, ""));
    let head = head.trim_start_matches('.');
    let top = PathBuf::from(ask(folder, &["rev-parse", "--show-toplevel"])?.trim_end_matches('\n'));
    let base_id = commit(&top, base)?;
    let mut paths: BTreeSet<String> = BTreeSet::new();
    let mut compared =
        vec!["diff", "--name-only", "-z", "--no-renames", "--no-ext-diff", "--no-textconv", base_id.as_str()];
    let head_id = if head.is_empty() { None } else { Some(commit(&top, head)?) };
    match &head_id {
        Some(id) => compared.push(id),
        None => paths.extend(list(&ask(&top, &["ls-files", "-z", "--others", "--exclude-standard"])?)),
    }
    compared.push("--");
    paths.extend(list(&ask(&top, &compared)?));
    let paths: Vec<String> =
        paths.into_iter().filter(|path| Lang::of(path).is_some() && !path.contains('\n')).collect();
    let mut blobs = Blobs::open(&top)?;
    let mut sides = Sides {
        names: (base.to_owned(), if head.is_empty() { "working tree" } else { head }.to_owned()),
        base: Vec::new(),
        head: Vec::new(),
    };
    for path in paths {
        if let Some(text) = blobs.text(&base_id, &path)? {
            sides.base.push((path.clone(), text));
        }
        let text = match &head_id {
            Some(id) => blobs.text(id, &path)?,
            None => on_disk(&top.join(&path)),
        };
        sides.head.extend(text.map(|text| (path, text)));
    }
    Ok(sides)
}

fn list(text: &str) -> impl Iterator<Item = String> + '_ {
    text.split('\0').filter(|path| !path.is_empty()).map(str::to_owned)
}

fn commit(top: &Path, name: &str) -> Result<String> {
    if name.is_empty() {
        bail!("name what to compare: --diff BASE..HEAD, or --diff BASE for the files as they are now");
    }
    let spec = format!("{name}^{{commit}}");
    let id = ask(top, &["rev-parse", "--verify", "--quiet", "--end-of-options", &spec])
        .with_context(|| format!("git knows no commit `{name}`"))?;
    Ok(id.trim().to_owned())
}

fn git(folder: &Path) -> Command {
    let mut command = Command::new("git");
    command.arg("-C").arg(folder).args(["-c", "core.fsmonitor=false", "-c", "core.quotePath=false"]);
    command.env("GIT_OPTIONAL_LOCKS", "0").stdin(Stdio::null());
    command
}

fn ask(folder: &Path, args: &[&str]) -> Result<String> {
    let output = git(folder).args(args).output().context("cannot run `git`; --diff needs it")?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        bail!(
            "git {}: {}",
            args.first().unwrap_or(&""),
            said.trim().lines().next().unwrap_or("no such thing")
        );
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

fn on_disk(path: &Path) -> Option<String> {
    let about = fs::symlink_metadata(path).ok().filter(fs::Metadata::is_file)?;
    let is_short = usize::try_from(about.len()).is_ok_and(|length| length <= MAX_BYTES);
    let bytes = fs::read(path).ok().filter(|_| is_short)?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// `git cat-file --batch`: one process for all files of all commits.
struct Blobs {
    child: Child,
    said: BufReader<std::process::ChildStdout>,
}

impl Blobs {
    fn open(top: &Path) -> Result<Self> {
        let mut child =
            git(top).args(["cat-file", "--batch"]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let said = BufReader::new(child.stdout.take().context("git has no output")?);
        Ok(Self { child, said })
    }

    /// What a file says in a commit, if it is there and not too long.
    fn text(&mut self, commit: &str, path: &str) -> Result<Option<String>> {
        let asked = self.child.stdin.as_mut().context("git has no input")?;
        writeln!(asked, "{commit}:{path}")?;
        asked.flush()?;
        let mut head = String::new();
        self.said.read_line(&mut head)?;
        let mut words = head.trim_end().rsplit(' ');
        let (size, kind) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        let Some(size) = size.parse::<u64>().ok().filter(|_| !head.trim_end().ends_with(" missing")) else {
            return Ok(None);
        };
        let mut bytes = Vec::new();
        // The text, and the end of its line.
        (&mut self.said).take(size + 1).read_to_end(&mut bytes)?;
        bytes.pop();
        let is_text = kind == "blob" && bytes.len() <= MAX_BYTES && !bytes.contains(&0);
        Ok(is_text.then(|| String::from_utf8_lossy(&bytes).into_owned()))
    }
}

impl Drop for Blobs {
    fn drop(&mut self) {
        // With its input closed it ends by itself.
        drop(self.child.stdin.take());
        let _ended = self.child.wait();
    }
}
