//! Building the root, step by step, as the plan says. Every path inside is resolved with the new root as root, so a
//! link in a template can never lead to the host.

use alloc::{string::String, vec::Vec};

use belljar_init::{
    plan::{Access, Disk, IdMap, Identity, Step},
    wire::Stage,
};

use crate::{
    At, Broken,
    sys::{self, EINVAL, ENOENT, Fd, HERE, O_DIRECTORY, O_PATH, O_RDONLY, Reach},
};

const LENT: u64 = sys::NOSUID | sys::NODEV;

/// What outlasts building.
pub(crate) struct Built {
    /// The private disk.
    pub(crate) disk: Fd,
    /// `/proc` as it was before its settings were frozen, mounted nowhere; gone with this descriptor.
    pub(crate) proc: Option<Fd>,
}

/// A root under construction.
pub(crate) struct Site<'a> {
    identity: Identity,
    userns: Option<&'a Fd>,
    root: Option<Fd>,
    proc: Option<Fd>,
    layers: u64,
    /// Where the private disk comes from, once that is known, and the line it comes by.
    source: Option<Disk>,
    disk_line: &'a Fd,
    disk: Option<Fd>,
}

/// A small file system of our own to work in: `disk`, `low`, `root`. It vanishes with the old root.
fn open_stage(stage: &str) -> Result<(), Broken> {
    let mount =
        sys::new_mount("tmpfs", &[("mode", "0700"), ("size", "1m")], LENT).at(Stage::Skeleton, stage)?;
    let at = sys::open(HERE, stage, O_PATH | O_DIRECTORY, 0).at(Stage::Skeleton, stage)?;
    sys::attach(&mount, &at).at(Stage::Skeleton, stage)?;
    sys::chdir(stage).at(Stage::Skeleton, stage)?;
    for name in ["disk", "low", "root"] {
        sys::mkdir(HERE, name, 0o755).at(Stage::Skeleton, name)?;
    }
    Ok(())
}

fn receive_disk(source: &Fd) -> sys::Sys<Fd> {
    let mut byte = [0_u8; 1];
    let (_, fds) = sys::receive(source.0, &mut byte)?;
    fds.into_iter().next().ok_or(EINVAL)
}

fn put_in_place(mount: &Fd, at: &str) -> sys::Sys<()> {
    let at = sys::open(HERE, at, O_PATH, 0)?;
    sys::attach(mount, &at)
}

fn pivot() -> Result<(), Broken> {
    let root = sys::open(HERE, "root", O_PATH | O_DIRECTORY, 0).at(Stage::Pivot, "root")?;
    sys::fchdir(&root).at(Stage::Pivot, "root")?;
    sys::pivot_here().at(Stage::Pivot, "root")?;
    sys::detach(".").at(Stage::Pivot, "old root")?;
    sys::chdir("/").at(Stage::Pivot, "/")
}

impl<'a> Site<'a> {
    /// Begins, for a user, in a directory nobody else sees from now on.
    pub(crate) fn open(
        identity: Identity,
        stage: &str,
        disk_line: &'a Fd,
        userns: Option<&'a Fd>,
    ) -> Result<Self, Broken> {
        sys::follow_the_host().at(Stage::PrivateMounts, "/")?;
        open_stage(stage)?;
        Ok(Self { identity, userns, root: None, proc: None, layers: 0, source: None, disk_line, disk: None })
    }

    /// Takes some steps that need no disk.
    pub(crate) fn lay(&mut self, steps: &[Step]) -> Result<(), Broken> {
        steps.iter().try_for_each(|step| self.take(step))
    }

    /// Takes the remaining steps and makes the root the root.
    pub(crate) fn finish(mut self, steps: &[Step], disk: &Disk) -> Result<Built, Broken> {
        self.source = Some(disk.clone());
        self.lay(steps)?;
        self.need_disk()?;
        pivot()?;
        let disk = self.disk.ok_or(EINVAL).at(Stage::Disk, "not mounted")?;
        Ok(Built { disk, proc: self.proc })
    }

    fn take(&mut self, step: &Step) -> Result<(), Broken> {
        match step {
            Step::Skeleton => {
                let (uid, gid) = self.owner();
                let (uid, gid) = (sys::decimal(u64::from(uid)), sys::decimal(u64::from(gid)));
                let options =
                    [("mode", "0755"), ("size", "4m"), ("uid", uid.as_str()), ("gid", gid.as_str())];
                let mount = sys::new_mount("tmpfs", &options, LENT).at(Stage::Skeleton, "root")?;
                self.adopt_root(&mount, Stage::Skeleton)
            }
            Step::Layers { lowers } => {
                let mount = self.overlay(lowers, "root", Stage::Layers)?;
                self.adopt_root(&mount, Stage::Layers)
            }
            Step::Dir { at, mode } => self.make_dir(at, *mode).at(Stage::Dir, at).map(drop),
            Step::Link { at, to } => self.link(at, to).at(Stage::File, at),
            Step::File { at, text } => self.file(at, text).at(Stage::File, at),
            Step::Bind { from, at, access } => self.bind(from, at, *access).at(Stage::Bind, from),
            Step::Device { at } => self.device(at).at(Stage::Device, at),
            Step::Cow { lowers, at, name } => {
                let mount = self.overlay(lowers, name, Stage::Cow)?;
                let target = self.make_dir(at, 0o755).at(Stage::Cow, at)?;
                sys::attach(&mount, &target).at(Stage::Cow, at)
            }
            Step::Private { at, name, mode } => {
                self.need_disk()?;
                self.private(at, name, *mode).at(Stage::Disk, at)
            }
            Step::Tmpfs { at, size, inodes, mode } => {
                self.tmpfs(at, *size, *inodes, *mode).at(Stage::Tmpfs, at)
            }
            Step::Proc => {
                let mount = sys::new_mount("proc", &[], LENT | sys::NOEXEC).at(Stage::Proc, "/proc")?;
                self.place(&mount, "/proc").at(Stage::Proc, "/proc")?;
                self.proc = Some(sys::clone_mount(mount.0, "", Reach::One).at(Stage::Proc, "/proc")?);
                Ok(())
            }
            Step::Terminals => {
                let options = [("newinstance", ""), ("ptmxmode", "0666"), ("mode", "0620")];
                let mount = sys::new_mount("devpts", &options, sys::NOSUID | sys::NOEXEC);
                self.place(&mount.at(Stage::Terminals, "/dev/pts")?, "/dev/pts")
                    .at(Stage::Terminals, "/dev/pts")
            }
            Step::Mask { at } => self.mask(at).at(Stage::Mask, at),
            Step::Freeze { at } => self.freeze(at).at(Stage::Mask, at),
        }
    }

    /// Puts the private disk in place, waiting for it if it is still being made.
    fn need_disk(&mut self) -> Result<(), Broken> {
        if self.disk.is_some() {
            return Ok(());
        }
        let mount = match &self.source {
            None => return Err(EINVAL).at(Stage::Disk, "not there yet"),
            Some(Disk::Passed) => receive_disk(self.disk_line).at(Stage::Disk, "passed")?,
            Some(Disk::Tmpfs { size, inodes }) => {
                let (size, inodes) = (sys::decimal(*size), sys::decimal(*inodes));
                let options = [("mode", "0755"), ("size", size.as_str()), ("nr_inodes", inodes.as_str())];
                sys::new_mount("tmpfs", &options, LENT).at(Stage::Disk, "tmpfs")?
            }
        };
        put_in_place(&mount, "disk").at(Stage::Disk, "disk")?;
        self.disk = Some(sys::open(HERE, "disk", O_RDONLY | O_DIRECTORY, 0).at(Stage::Disk, "disk")?);
        Ok(())
    }

    fn adopt_root(&mut self, mount: &Fd, stage: Stage) -> Result<(), Broken> {
        put_in_place(mount, "root").at(stage, "root")?;
        self.root = Some(sys::open(HERE, "root", O_PATH | O_DIRECTORY, 0).at(stage, "root")?);
        Ok(())
    }

    fn root(&self) -> sys::Sys<&Fd> {
        self.root.as_ref().ok_or(EINVAL)
    }

    /// Ids as this process must write them so that they are the sandbox user's.
    fn owner(&self) -> (u32, u32) {
        let identity = &self.identity;
        match identity.map {
            IdMap::Range { base, .. } => (base + identity.uid, base + identity.gid),
            IdMap::Single { .. } => (identity.uid, identity.gid),
        }
    }

    fn reach(&self) -> Reach {
        match self.identity.map {
            IdMap::Range { .. } => Reach::One,
            IdMap::Single { .. } => Reach::Tree,
        }
    }

    /// A view of a host path with the sandbox's ids, detached.
    fn lend(&self, from: &str, attributes: u64) -> sys::Sys<Fd> {
        let mount = sys::clone_mount(HERE, from, self.reach())?;
        match sys::restrict(&mount, self.reach(), attributes, self.userns) {
            // File systems that cannot map ids (some network and FUSE ones) are lent as they are: strangers' files.
            Err(EINVAL) if self.userns.is_some() => sys::restrict(&mount, self.reach(), attributes, None)?,
            other => other?,
        }
        Ok(mount)
    }

    fn overlay(&mut self, lowers: &[String], name: &str, stage: Stage) -> Result<Fd, Broken> {
        let mut list = String::new();
        for lower in lowers {
            let spot = sys::join(&["low/", &sys::decimal(self.layers)]);
            self.layers += 1;
            sys::mkdir(HERE, &spot, 0o755).at(stage, lower)?;
            let mount = self.lend(lower, LENT).at(stage, lower)?;
            put_in_place(&mount, &spot).at(stage, lower)?;
            if !list.is_empty() {
                list.push(':');
            }
            list.push_str(&spot);
        }
        self.need_disk()?;
        let top = list.split(':').next().unwrap_or_default();
        let dir = sys::join(&["disk/", name]);
        let (upper, work) = (sys::join(&[&dir, "/upper"]), sys::join(&[&dir, "/work"]));
        for path in [&dir, &upper, &work] {
            sys::mkdir(HERE, path, 0o755).at(stage, name)?;
        }
        sys::copy_owner(top, &upper).at(stage, name)?;
        let mut options = Vec::from([
            ("lowerdir", list.as_str()),
            ("upperdir", &upper),
            ("workdir", &work),
            ("volatile", ""),
        ]);
        match self.identity.map {
            IdMap::Range { .. } => {
                options.extend([("redirect_dir", "off"), ("index", "off"), ("metacopy", "off")])
            }
            IdMap::Single { .. } => options.push(("userxattr", "")),
        }
        sys::new_mount("overlay", &options, LENT).at(stage, lowers.first().map_or("", String::as_str))
    }

    fn private(&self, at: &str, name: &str, mode: u32) -> sys::Sys<()> {
        let dir = sys::join(&["disk/", name]);
        sys::mkdir(HERE, &dir, 0o700)?;
        let (uid, gid) = self.owner();
        sys::chown(HERE, &dir, uid, gid)?;
        sys::chmod(HERE, &dir, mode)?;
        let mount = sys::clone_mount(HERE, &dir, Reach::One)?;
        sys::restrict(&mount, Reach::One, LENT, None)?;
        self.place(&mount, at)
    }

    fn bind(&self, from: &str, at: &str, access: Access) -> sys::Sys<()> {
        let attributes = match access {
            Access::Read => LENT | sys::RDONLY,
            Access::Write => LENT,
        };
        let mount = self.lend(from, attributes)?;
        let target = if sys::is_dir(&mount) { self.make_dir(at, 0o755)? } else { self.make_file(at)? };
        sys::attach(&mount, &target)
    }

    fn device(&self, at: &str) -> sys::Sys<()> {
        let mount = sys::clone_mount(HERE, at, Reach::One)?;
        sys::restrict(&mount, Reach::One, sys::NOSUID | sys::NOEXEC, None)?;
        let target = self.make_file(at)?;
        sys::attach(&mount, &target)
    }

    fn tmpfs(&self, at: &str, size: u64, inodes: u64, mode: u32) -> sys::Sys<()> {
        let (size, inodes, mode) = (sys::decimal(size), sys::decimal(inodes), octal(mode));
        let options = [("size", size.as_str()), ("nr_inodes", inodes.as_str()), ("mode", mode.as_str())];
        // Device nodes are bound below `/dev`, and a bind has attributes of its own.
        self.place(&sys::new_mount("tmpfs", &options, LENT)?, at)
    }

    fn place(&self, mount: &Fd, at: &str) -> sys::Sys<()> {
        sys::attach(mount, &self.make_dir(at, 0o755)?)
    }

    fn mask(&self, at: &str) -> sys::Sys<()> {
        let Some(target) = self.existing(at)? else { return Ok(()) };
        let cover = if sys::is_dir(&target) {
            sys::new_mount("tmpfs", &[("mode", "0"), ("size", "4k")], LENT | sys::NOEXEC | sys::RDONLY)?
        } else {
            let null = sys::clone_mount(HERE, "/dev/null", Reach::One)?;
            sys::restrict(&null, Reach::One, sys::NOSUID | sys::NOEXEC | sys::RDONLY, None)?;
            null
        };
        sys::attach(&cover, &target)
    }

    fn freeze(&self, at: &str) -> sys::Sys<()> {
        let Some(target) = self.existing(at)? else { return Ok(()) };
        if at == "/" {
            return sys::restrict(&target, Reach::One, sys::RDONLY, None);
        }
        let cover = sys::clone_mount(target.0, "", self.reach())?;
        sys::restrict(&cover, self.reach(), LENT | sys::NOEXEC | sys::RDONLY, None)?;
        sys::attach(&cover, &target)
    }

    fn existing(&self, at: &str) -> sys::Sys<Option<Fd>> {
        match sys::open_in_root(self.root()?, at, O_PATH) {
            Ok(fd) => Ok(Some(fd)),
            Err(ENOENT) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Opens a directory, making what is missing on the way.
    fn make_dir(&self, at: &str, mode: u32) -> sys::Sys<Fd> {
        match sys::open_in_root(self.root()?, at, O_PATH | O_DIRECTORY) {
            Err(ENOENT) => {}
            other => return other,
        }
        let (parent, name) = split(at);
        let parent = self.make_dir(parent, 0o755)?;
        sys::mkdir(parent.0, name, mode)?;
        sys::chmod(parent.0, name, mode)?;
        // What is made on the way to a mount point inside the home is the user's to write in.
        let (uid, gid) = self.owner();
        sys::chown(parent.0, name, uid, gid)?;
        sys::open_in_root(self.root()?, at, O_PATH | O_DIRECTORY)
    }

    fn make_file(&self, at: &str) -> sys::Sys<Fd> {
        match sys::open_in_root(self.root()?, at, O_PATH) {
            Err(ENOENT) => {}
            other => return other,
        }
        let (parent, name) = split(at);
        let parent = self.make_dir(parent, 0o755)?;
        let flags = sys::O_CREAT | sys::O_EXCL | sys::O_NOFOLLOW | sys::O_WRONLY;
        drop(sys::open(parent.0, name, flags, 0o644)?);
        sys::open_in_root(self.root()?, at, O_PATH)
    }

    fn link(&self, at: &str, to: &str) -> sys::Sys<()> {
        let (parent, name) = split(at);
        let parent = self.make_dir(parent, 0o755)?;
        match sys::symlink(to, parent.0, name) {
            Err(sys::EEXIST) => Ok(()),
            other => other,
        }
    }

    fn file(&self, at: &str, text: &str) -> sys::Sys<()> {
        let (parent, name) = split(at);
        let parent = self.make_dir(parent, 0o755)?;
        // What a template has under this name, even a link, makes way.
        let _absent = sys::unlink(parent.0, name, false);
        let flags = sys::O_CREAT | sys::O_EXCL | sys::O_NOFOLLOW | sys::O_WRONLY;
        let file = sys::open(parent.0, name, flags, 0o644)?;
        sys::write_all(file.0, text.as_bytes());
        Ok(())
    }
}

fn split(at: &str) -> (&str, &str) {
    at.trim_end_matches('/').rsplit_once('/').unwrap_or(("/", at))
}

fn octal(mode: u32) -> String {
    let mut text = String::new();
    for shift in [9, 6, 3, 0] {
        text.push(char::from(b'0' + u8::try_from(mode >> shift & 7).unwrap_or(0)));
    }
    text
}
