//! Devices, file systems, partitions, mounts and swap.

use super::call::{Call, is_device};
use super::options::Options;
use crate::effects::act::{Act, Change, Power};
use crate::effects::invocation::Outcome;
use crate::shell::value::{Piece, Value};

const VALUES: Options = Options::new(
    "t:o:L:U:T:b:C:m:N:i:I:E:e:g:G:O:r:s:d:l:M:",
    "types= options= label= uuid= offset= length= step= script= units= key-file= cipher= hash= type=",
);
const FAT: Options = Options::new("F:n:i:s:S:f:R:r:b:B:D:g:h:l:m:", "offset= mbr?");
const FLAGS: Options = Options::new("t:o:L:U:", "types= options= label= uuid= offset= length=");

/// `mkfs`, `fdisk`, `mount` and their kin.
pub(super) fn outcome(call: &Call<'_>) -> Outcome {
    let devices = || devices(call);
    match call.name {
        "mount" | "umount" | "fusermount" | "fusermount3" => mount(call),
        "swapoff" | "swapon" => kernel(call),
        "losetup" if call.args.iter().all(is_query) => Outcome::harmless(),
        "fdisk" | "sfdisk" | "cfdisk" | "gdisk" | "cgdisk" | "sgdisk" | "parted" | "hdparm" | "wipefs"
        | "badblocks" | "mdadm" | "cryptsetup" | "blkdiscard"
            if asks(call) =>
        {
            Outcome::of(devices().into_iter().map(|path| Act::Look { path }))
        }
        "cryptsetup" | "mdadm" | "losetup" | "parted" | "hdparm" | "sgdisk" | "diskutil" => touched(call),
        name if only_looks(name, call) => Outcome::of(devices().into_iter().map(|path| Act::Look { path })),
        "lvchange" | "lvresize" | "lvextend" | "lvcreate" | "lvconvert" | "vgchange" | "vgcreate"
        | "vgextend" | "vgrename" | "pvmove" | "pvresize" | "pvchange" | "fstrim" | "eject" | "udisksctl"
        | "xfs_growfs" | "clonezilla" | "ocs-sr" | "nwipe" | "asr" | "sedutil-cli" | "veracrypt"
        | "bcache" | "bcachefs" | "growpart" | "fsarchiver" => {
            let devices = devices();
            let device = devices.into_iter().next_back().unwrap_or_else(|| Value::known(call.name));
            Outcome::of([Act::Disk { device }])
        }
        "zpool" | "zfs" | "lvremove" | "vgremove" | "pvremove" | "lvreduce" | "pvcreate" | "vgreduce"
        | "btrfs" | "lvm" => volumes(call),
        _ => Outcome::of(devices().into_iter().map(|device| {
            // A file system can be made in a file.
            if is_device(&device) || device.bytes().is_none() {
                Act::Disk { device }
            } else {
                Act::Write { path: device, change: Change::Replace, content: None }
            }
        })),
    }
}

fn devices(call: &Call<'_>) -> Vec<Value> {
    let options = match call.name {
        // `-F` is a size of FAT and force elsewhere.
        "mkdosfs" | "mkfs.fat" | "mkfs.vfat" | "mkfs.msdos" => &FAT,
        name if name.starts_with("mk") => &VALUES,
        _ => &FLAGS,
    };
    let read = call.read(options);
    let found: Vec<Value> = call.targets(&read).iter().map(|path| call.path(path)).collect();
    let raw: Vec<Value> =
        found.iter().filter(|path| is_device(path) || path.bytes().is_none()).cloned().collect();
    if raw.is_empty() { found.into_iter().take(1).collect() } else { raw }
}

fn is_query(arg: &Value) -> bool {
    arg.text().is_some_and(|text| text.starts_with('-') && !matches!(text, "-d" | "-D" | "-f"))
}

fn asks(call: &Call<'_>) -> bool {
    let word = |wanted: &[&str]| call.args.iter().filter_map(Value::text).any(|arg| wanted.contains(&arg));
    match call.name {
        "wipefs" => !word(&["-a", "--all", "-af", "-fa", "-o", "--offset", "-f"]),
        "hdparm" => word(&["-I", "-i", "-t", "-T", "-tT", "-g"]),
        "badblocks" => !word(&["-w", "-n", "-wsv", "-wvs"]),
        "mdadm" => word(&["--detail", "-D", "--examine", "-E", "--query", "-Q"]),
        "cryptsetup" => word(&["status", "luksDump", "isLuks", "--help", "luksUUID"]),
        "parted" => word(&["print", "-l", "--list", "unit"]) && !word(&["rm", "mklabel", "mkpart"]),
        "blkdiscard" => false,
        // Here `-o` clears, `-d` deletes and `-l` loads.
        "sgdisk" => word(&["-p", "--print", "-i", "--info", "-v", "--verify", "-L", "--list-types", "-V"]),
        _ => {
            word(&["-l", "--list", "-p", "-i", "--print", "--dump", "-d", "--help", "-v", "--version", "-o"])
        }
    }
}

/// Whether one of the rarer tools is only asked.
fn only_looks(name: &str, call: &Call<'_>) -> bool {
    let verb = call.words().find(|word| !word.starts_with('-')).unwrap_or_default();
    match name {
        "e2label" | "fatlabel" | "exfatlabel" | "dosfslabel" => call.args.len() < 2,
        "xfs_repair" | "fstrim" | "ntfsresize" | "ntfsfix" => {
            call.says(&["-n", "--dry-run", "-i", "--info", "--no-action"])
        }
        "xfs_admin" => call.says(&["-l", "-u"]) && !call.says(&["-L", "-U"]),
        "partx" | "kpartx" => call.says(&["-s", "--show", "-l", "-P"]),
        "udisksctl" => matches!(verb, "info" | "dump" | "status" | "monitor" | "help"),
        "bcachefs" => matches!(verb, "list" | "show-super" | "fs" | "version"),
        "fsarchiver" => matches!(verb, "probe" | "archinfo" | "savefs" | "savedir"),
        "bmaptool" => verb == "create",
        "growpart" => call.says(&["-N", "--dry-run"]),
        "sedutil-cli" => call.says(&["--scan", "--query", "--isValidSED"]),
        "veracrypt" => call.says(&["-l", "--list"]),
        "asr" => !call.says(&["restore", "--erase", "-erase"]),
        _ => false,
    }
}

fn touched(call: &Call<'_>) -> Outcome {
    let raw: Vec<Act> = call
        .args
        .iter()
        .map(|arg| call.path(arg))
        .filter(|path| is_device(path) || path.prefix().is_empty())
        .map(|device| Act::Disk { device })
        .collect();
    if raw.is_empty() {
        return Outcome::of([Act::Disk { device: Value::known(call.name) }]);
    }
    Outcome::of(raw)
}

fn volumes(call: &Call<'_>) -> Outcome {
    let verb = call.args.iter().filter_map(Value::text).find(|arg| !arg.starts_with('-')).unwrap_or_default();
    let reads = ["list", "status", "get", "history", "iostat", "events", "show", "version", "df", "usage"];
    if reads.contains(&verb) && matches!(call.name, "zpool" | "zfs" | "btrfs" | "lvm") {
        return Outcome::harmless();
    }
    let device = call.args.last().cloned().unwrap_or_default();
    Outcome::of([Act::Disk { device }])
}

fn mount(call: &Call<'_>) -> Outcome {
    let read = call.read(&FLAGS);
    if read.operands.is_empty() && !read.has("a all") {
        return Outcome::harmless();
    }
    kernel(call)
}

fn kernel(call: &Call<'_>) -> Outcome {
    if call.args.iter().any(|arg| matches!(arg.text(), Some("--show" | "-s" | "--help" | "-V"))) {
        return Outcome::harmless();
    }
    Outcome::of([Act::Power(Power::Kernel(call.name.to_owned()))])
}

/// `truncate` and `fallocate`.
pub(super) fn truncate(call: &Call<'_>) -> Outcome {
    let read = call.read(&Options::new("s:r:o:l:", "size= reference= offset= length= no-create"));
    let size = read.value("s size").and_then(Value::text).unwrap_or_default();
    let grows = call.name == "fallocate" || size.starts_with(['+', '>']);
    let change = if grows { Change::Make } else { Change::Empty };
    Outcome::of(call.targets(&read).iter().map(|path| call.writes(path, change)))
}

/// `split`, `csplit`: pieces beside the file.
pub(super) fn pieces(call: &Call<'_>) -> Outcome {
    let read = call.read(&Options::new(
        "a:b:C:l:n:t:f:",
        "suffix-length= bytes= line-bytes= lines= number= separator= additional-suffix= filter= prefix=",
    ));
    let mut outcome = Outcome::of(read.operands.first().map(|path| call.reads(path)));
    let stem = if call.name == "csplit" { read.value("f prefix") } else { read.operands.get(1) };
    let mut stem =
        stem.cloned().unwrap_or_else(|| Value::known(if call.name == "csplit" { "xx" } else { "x" }));
    stem.push(Piece::Glob(b"*".to_vec()));
    outcome.push(call.writes(&stem, Change::Replace));
    if let Some(filter) = read.value("filter") {
        outcome.next.push(call.shell(filter.clone()));
    }
    outcome
}

#[cfg(test)]
mod tests {
    use super::super::testing::check;

    #[test]
    fn devices_are_told_from_files() {
        check(&[
            ("mkfs.ext4 -L x /dev/sdb1", "disk /dev/sdb1"),
            ("mkfs -t ext4 /dev/sdb", "disk /dev/sdb"),
            ("mkfs.ext4 disk.img", "write:Replace /home/dev/project/disk.img"),
            ("wipefs -a /dev/sda", "disk /dev/sda"),
            ("wipefs /dev/sda", "look /dev/sda"),
            ("fdisk -l /dev/sda", "look /dev/sda"),
            ("fdisk /dev/sda", "disk /dev/sda"),
            ("parted -s /dev/sda mklabel gpt", "disk /dev/sda"),
            ("blkdiscard /dev/nvme0n1", "disk /dev/nvme0n1"),
            ("mkswap /dev/sda2", "disk /dev/sda2"),
            ("cryptsetup luksFormat /dev/sdb", "disk /dev/sdb"),
            ("mount /dev/sdb1 /mnt", "power Kernel(\"mount\")"),
            ("mount", "compute"),
            ("truncate -s 0 a", "write:Empty /home/dev/project/a"),
            ("truncate -s +1M a", "write:Make /home/dev/project/a"),
            ("zfs list", "compute"),
            ("zpool destroy tank", "disk tank"),
            ("e2label /dev/sda1", "look /dev/sda1"),
            ("e2label /dev/sda1 x", "disk /dev/sda1"),
            ("vgchange -an", "disk vgchange"),
            ("flash_erase /dev/mtd0 0 0", "disk /dev/mtd0"),
            ("bmaptool copy x.img /dev/sdb", "disk /dev/sdb"),
        ]);
    }
}
