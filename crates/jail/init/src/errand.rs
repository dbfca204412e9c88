//! Errands: what a shepherd does inside the sandbox that is no command. It does so as the sandbox's user and with no
//! privilege, so a path or a port means what it means to a command, and no link leads further than a command could go.

use belljar_init::wire::{Errand, FromShepherd, Stage, Task, encode};

use crate::{
    At, Broken,
    sys::{self, EEXIST, EISDIR, ENOENT, ENOTEMPTY, Fd, HERE},
    tree,
};

/// Does it, answers, ends.
pub(crate) fn run(connection: &Fd, errand: &Errand) -> ! {
    let (frame, fd) = match carry_out(errand) {
        Ok(fd) => (FromShepherd::Done, fd),
        Err(Broken(failure)) => (FromShepherd::Failed(failure), None),
    };
    let _visitor_left = sys::send(connection.0, &encode(&frame), fd.as_ref());
    sys::exit(0)
}

fn carry_out(errand: &Errand) -> Result<Option<Fd>, Broken> {
    let (uid, gid) = errand.user;
    let named = sys::decimal(u64::from(uid));
    sys::set_groups_if_allowed(&[]).at(Stage::User, &named)?;
    sys::become_user(uid, gid).at(Stage::User, &named)?;
    sys::set_capabilities(0).at(Stage::Capabilities, "")?;
    sys::umask(0o022);
    match &errand.what {
        Task::Open { path, flags, mode } => {
            sys::open(HERE, path, *flags, *mode).at(Stage::Errand, path).map(Some)
        }
        Task::MakeDir { path, parents } => make_dir(path, *parents).at(Stage::Errand, path).map(|()| None),
        Task::Rename { from, to } => sys::rename(from, to).at(Stage::Errand, from).map(|()| None),
        Task::Remove { path, recursive } => remove(path, *recursive).at(Stage::Errand, path).map(|()| None),
        Task::Mode { path, mode } => sys::chmod(HERE, path, *mode).at(Stage::Errand, path).map(|()| None),
        Task::Link { path, target } => link(path, target).at(Stage::Errand, path).map(|()| None),
        Task::Dial { port } => {
            sys::dial_loopback(*port).at(Stage::Errand, &sys::decimal(u64::from(*port))).map(Some)
        }
        Task::Listen { port } => {
            sys::listen_loopback(*port).at(Stage::Errand, &sys::decimal(u64::from(*port))).map(Some)
        }
    }
}

fn make_dir(path: &str, parents: bool) -> sys::Sys<()> {
    const MODE: u32 = 0o755;
    if !parents {
        return sys::make_new_dir(path, MODE);
    }
    let ends = path.char_indices().filter(|(at, letter)| *letter == '/' && *at > 0).map(|(at, _)| at);
    for end in ends.chain([path.len()]) {
        match sys::make_new_dir(path.get(..end).unwrap_or_default(), MODE) {
            Ok(()) | Err(EEXIST) => {}
            Err(error) => return Err(error),
        }
    }
    // A file that is in the way exists, too.
    sys::open(HERE, path, sys::O_PATH | sys::O_DIRECTORY, 0).map(drop)
}

/// Never follows what is there: it makes a name, and looks nowhere.
fn link(path: &str, target: &str) -> sys::Sys<()> {
    match sys::symlink(target, HERE, path) {
        Err(EEXIST) => {}
        other => return other,
    }
    match sys::unlink(HERE, path, false) {
        Err(EISDIR) => Err(EEXIST),
        Ok(()) | Err(ENOENT) => sys::symlink(target, HERE, path),
        other => other,
    }
}

fn remove(path: &str, recursive: bool) -> sys::Sys<()> {
    match sys::unlink(HERE, path, false) {
        Err(EISDIR) if recursive => {
            tree::remove(path);
            match sys::open(HERE, path, sys::O_PATH | sys::O_NOFOLLOW, 0) {
                Err(ENOENT) => Ok(()),
                // Somebody fills it faster, or it is not ours to empty.
                Ok(_) => Err(ENOTEMPTY),
                Err(error) => Err(error),
            }
        }
        Err(EISDIR) => sys::unlink(HERE, path, true),
        other => other,
    }
}
