//! What programs do with what they are given.
//!
//! Owns: the knowledge of programs, one family per file. Refuses: the shell's own words (builtins, redirections, expansions);
//! they are evaluated before a program is asked about. A program nobody knows is unknown, and says its name.

mod agents;
mod archive;
mod call;
mod cloud;
mod copy;
mod decode;
mod disk;
mod edit;
mod environment;
mod filters;
mod find;
mod git;
mod interpreters;
mod lines;
mod look;
mod machine;
mod names;
mod network;
mod options;
mod outputs;
mod permissions;
mod powershell;
mod privilege;
mod projects;
mod remove;
mod shells;
mod sql;
mod stranger;
mod substitute;
mod sweep;
mod terminal;
#[cfg(test)]
pub(crate) mod testing;
mod text;
mod wrappers;
mod xargs;

pub(crate) use self::agents::moves_guard;
use self::call::Call;
pub(super) use self::call::write as written;
pub(super) use self::cloud::shown;
pub(crate) use self::projects::project_lines;
pub(super) use self::sql::statements;
use super::act::{Act, Code, Effort};
use super::context::Context;
use super::invocation::{Invocation, Outcome};

/// What a program would do.
#[must_use]
pub fn outcome(invocation: &Invocation, context: &Context) -> Outcome {
    let Some((first, args)) = invocation.argv.split_first() else {
        return names::missing(invocation);
    };
    match names::of(first, invocation, context) {
        names::Name::Known(name) => {
            let call = Call { name: &name, args, invocation, context };
            let mut outcome = match family(&name) {
                Some(_) if projects::completes(&call) => projects::completion(),
                Some(program) => program(&call),
                None => stranger::outcome(&call),
            };
            // What builds, and what nobody knows, writes where it is told.
            if outcome
                .acts
                .iter()
                .any(|(act, _)| matches!(act, Act::Run { code: Code::Project | Code::Program(_), .. }))
            {
                let written = outputs::written(&call).into_iter().map(|act| (act, Effort::Done));
                let at = outcome.acts.len().min(1);
                outcome.acts.splice(at..at, written);
            }
            environment::put_in(outcome, invocation, &call)
        }
        names::Name::File => {
            let call = Call { name: "", args, invocation, context };
            stranger::file(&call, first)
        }
        names::Name::Pattern(candidates) => names::each(invocation, &candidates),
        names::Name::Unknown(why) => names::unknown(why),
    }
}

type Program = fn(&Call<'_>) -> Outcome;

/// The family a program belongs to.
fn family(name: &str) -> Option<Program> {
    interpreters::interpreters(name)
        .or_else(|| files(name))
        .or_else(|| starters(name))
        .or_else(|| network::family(name))
        .or_else(|| machine::family(name))
        .or_else(|| cloud::family(name))
        .or_else(|| projects::family(name))
        .or_else(|| tables(name))
}

/// Whether anything is known of a program.
fn knows(name: &str) -> bool {
    family(name).is_some()
}

fn files(name: &str) -> Option<Program> {
    Some(match name {
        "scrub" | "bcwipe" | "sfill" | "sswap" => remove::wiped,
        "rm" | "srm" | "grm" | "rmdir" | "unlink" | "shred" | "wipe" | "trash" | "trash-put" | "rip"
        | "del" | "tmpreaper" | "tmpwatch" => remove::outcome,
        "cp" | "mv" | "install" | "ln" | "gcp" | "gmv" | "link" => copy::outcome,
        "dd" | "dcfldd" | "ddrescue" | "dc3dd" => copy::dd,
        "tee" | "sponge" => copy::tee,
        "touch" | "mkdir" | "mkfifo" => copy::make,
        "mktemp" | "tempfile" => copy::mktemp,
        "chmod" | "chown" | "chgrp" | "chattr" | "setfacl" | "setcap" | "chcon" | "lchown" => {
            permissions::outcome
        }
        "mkfs" | "mke2fs" | "mkswap" | "mkdosfs" | "mkntfs" | "wipefs" | "fdisk" | "sfdisk" | "cfdisk"
        | "gdisk" | "cgdisk" | "sgdisk" | "parted" | "blkdiscard" | "hdparm" | "badblocks" | "mdadm"
        | "cryptsetup" | "losetup" | "mount" | "umount" | "fusermount" | "fusermount3" | "swapon"
        | "swapoff" | "zpool" | "zfs" | "lvremove" | "vgremove" | "pvremove" | "lvreduce" | "pvcreate"
        | "vgreduce" | "lvm" | "btrfs" | "tune2fs" | "resize2fs" | "diskutil" | "nvme" | "sg_format"
        | "e2fsck" | "fsck" | "mkudffs" | "mkexfatfs" | "exfatlabel" | "e2label" | "fatlabel"
        | "dosfslabel" | "ntfslabel" | "xfs_admin" | "xfs_repair" | "xfs_growfs" | "ntfsresize"
        | "ntfsfix" | "ntfsclone" | "bcachefs" | "bcache" | "make-bcache" | "lvchange" | "lvresize"
        | "lvextend" | "lvcreate" | "lvconvert" | "vgchange" | "vgcreate" | "vgextend" | "vgrename"
        | "pvmove" | "pvresize" | "pvchange" | "partx" | "kpartx" | "addpart" | "delpart" | "growpart"
        | "resizepart" | "fstrim" | "eject" | "udisksctl" | "sedutil-cli" | "veracrypt" | "sg_sanitize"
        | "sg_write_same" | "sg_dd" | "sg_raw" | "flash_erase" | "flash_eraseall" | "flashcp"
        | "nandwrite" | "mtd_debug" | "ubiformat" | "ubiupdatevol" | "extlinux" | "syslinux" | "nwipe"
        | "bmaptool" | "fsarchiver" | "partimage" | "ocs-sr" | "clonezilla" | "asr" => disk::outcome,
        name if name.starts_with("mkfs.") || name.starts_with("newfs") => disk::outcome,
        "fdupes" | "jdupes" | "rdfind" | "unison" | "lsyncd" | "bsync" | "robocopy" | "rdiff-backup"
        | "duplicity" | "bleachbit" | "systemd-tmpfiles" | "logrotate" => sweep::outcome,
        "truncate" | "fallocate" => disk::truncate,
        "split" | "csplit" => disk::pieces,
        "openssl" => decode::openssl,
        "sed" | "gsed" => edit::sed,
        "vim" | "vi" | "nvim" | "ex" | "view" | "vimdiff" | "gvim" | "rvim" | "ed" | "red" | "emacs"
        | "emacsclient" | "nano" | "pico" | "micro" | "hx" | "helix" | "kak" | "code" | "subl" | "gedit"
        | "joe" | "mcedit" => edit::outcome,
        "tar" | "gtar" | "bsdtar" => archive::tar,
        "zip" | "7z" | "7za" | "7zr" | "7zz" | "rar" | "unzip" | "unrar" | "unar" | "bsdunzip" | "cpio"
        | "pax" | "ar" | "gzip" | "gunzip" | "bzip2" | "bunzip2" | "xz" | "unxz" | "zstd" | "unzstd"
        | "lz4" | "lzma" | "compress" | "uncompress" | "pigz" | "pbzip2" | "brotli" | "lzip" => {
            archive::outcome
        }
        _ => return None,
    })
}

fn starters(name: &str) -> Option<Program> {
    Some(match name {
        "sh" | "bash" | "dash" | "zsh" | "ksh" | "mksh" | "ash" | "fish" | "rbash" | "tcsh" | "csh"
        | "yash" | "rksh" | "ksh93" | "oksh" | "osh" | "nu" | "elvish" | "xonsh" => shells::outcome,
        "find" | "gfind" | "bfs" => find::outcome,
        "fd" | "fdfind" => find::fd,
        "xargs" | "gxargs" => xargs::outcome,
        "parallel" => xargs::parallel,
        "env" | "genv" => wrappers::env,
        "watch" | "viddy" | "hwatch" | "script" | "flock" | "hyperfine" | "nodemon" | "watchexec"
        | "reflex" | "pee" | "mispipe" | "concurrently" | "start-stop-daemon" => lines::outcome,
        "busybox" | "toybox" | "gdb" | "lldb" => wrappers::renamed,
        name if name.starts_with("ld-linux")
            || name.starts_with("ld-musl")
            || name.starts_with("ld.so")
            || name.starts_with("ld-2") =>
        {
            wrappers::renamed
        }
        "chroot" | "unshare" | "nsenter" | "bwrap" | "systemd-nspawn" => wrappers::rooms,
        "sudo" | "doas" | "pkexec" | "su" | "runuser" | "run0" | "gosu" | "su-exec" | "sg" | "newgrp"
        | "visudo" | "sudoedit" | "calife" | "kdesu" | "gksudo" | "gksu" | "please" => privilege::outcome,
        "git" | "hub" => git::outcome,
        "tmux" | "screen" | "zellij" | "wezterm" | "kitty" | "alacritty" | "xterm" | "gnome-terminal"
        | "konsole" | "foot" | "st" | "expect" | "man" | "gio" | "kioclient" | "trash-rm" | "trash-empty"
        | "kioclient5" | "xdotool" | "ydotool" | "wtype" => terminal::outcome,
        "belljar" | "claude" | "codex" | "gemini" | "opencode" | "aider" | "cursor-agent" | "goose-cli"
        | "amp" | "copilot-cli" | "qwen" | "droid" | "crush" => agents::outcome,
        name if wrappers::knows(name) => wrappers::outcome,
        _ => return None,
    })
}

fn tables(name: &str) -> Option<Program> {
    Some(match name {
        "basename" | "dirname" => look::names,
        "printenv" => look::environment,
        "echo" => look::echo,
        "which" => look::which,
        "seq" => look::numbers,
        "patch" => edit::patch,
        "shuf" | "logsave" | "dos2unix" | "unix2dos" => edit::rewritten,
        "Remove-Item"
        | "ri"
        | "Clear-Content"
        | "Set-Content"
        | "Out-File"
        | "Add-Content"
        | "Get-Content"
        | "gc"
        | "Format-Volume"
        | "Clear-Disk"
        | "Initialize-Disk"
        | "Remove-Partition"
        | "Stop-Process"
        | "iex"
        | "Invoke-Expression"
        | "iwr"
        | "Invoke-WebRequest"
        | "irm"
        | "Invoke-RestMethod"
        | "powershell"
        | "powershell.exe"
        | "pwsh"
        | "Set-ExecutionPolicy"
        | "Start-Process"
        | "certutil"
        | "bitsadmin"
        | "mshta"
        | "cmd"
        | "cmd.exe"
        | "wmic"
        | "rundll32"
        | "regsvr32"
        | "vssadmin"
        | "cipher" => powershell::outcome,
        name if text::knows(name) => text::outcome,
        name if look::PATHS.contains(&name) => look::paths,
        name if look::HARMLESS.contains(&name) => |_| Outcome::harmless(),
        _ => return None,
    })
}
