//! Files written in a sandbox are limited in bytes and in number, wherever they are written.

use serde_json::json;

use crate::support::{Glass, promises};

promises! { [root, user]:
    filling_tmp_meets_the_limit,
    filling_the_home_meets_the_limit,
    filling_the_workspace_meets_the_limit,
    many_small_files_meet_the_limit,
    shared_memory_is_no_way_around,
    hammering_a_full_disk_is_ended,
}

/// Writes until it cannot, then says whether that was for want of space and how much there was.
fn fill(at: &str) -> String {
    format!(
        "LC_ALL=C dd if=/dev/zero of={at}/big bs=64k count=1600 2>&1 | grep -o 'No space left'; stat -c %s {at}/big"
    )
}

fn meets_the_limit(glass: &Glass, at: &str) {
    let ended = glass.sh(&["--disk", "16M"], &fill(at)).code(0).says("limit reached (disk)").says("--disk");
    let (said, size) = ended.out.trim().split_once('\n').unwrap_or_else(|| panic!("{ended:?}"));
    assert_eq!(said, "No space left");
    // All of what was granted, and no more than that and the file system's own rounding.
    let size: u64 = size.parse().unwrap();
    assert!((12 << 20..=20 << 20).contains(&size), "{size}");
}

fn filling_tmp_meets_the_limit(glass: &Glass) {
    meets_the_limit(glass, "/tmp");
}

fn filling_the_home_meets_the_limit(glass: &Glass) {
    meets_the_limit(glass, "$HOME");
}

fn filling_the_workspace_meets_the_limit(glass: &Glass) {
    meets_the_limit(glass, ".");
}

fn many_small_files_meet_the_limit(glass: &Glass) {
    let make =
        "n=0; while [ $n -lt 600 ] && LC_ALL=C touch /tmp/f$n; do n=$((n+1)); done 2>&1; ls /tmp | wc -l";
    let ended = glass.sh(&["--inodes", "256"], make).code(0).says("limit reached (disk)").says("--inodes");
    assert!(ended.out.contains("No space left"), "{ended:?}");
    let made: u64 = ended.out.lines().last().unwrap().trim().parse().unwrap();
    // A file system has inodes in multiples per group of blocks, so a few more than asked for.
    assert!((100..=320).contains(&made), "{ended:?}");
}

fn shared_memory_is_no_way_around(glass: &Glass) {
    let ended = glass
        .sh(&[], "LC_ALL=C dd if=/dev/zero of=/dev/shm/big bs=1M count=200 2>&1 | grep -o 'No space left'");
    assert_eq!(ended.ok(), "No space left\n");
    for place in ["/run", "/dev"] {
        let fill = format!(
            "dd if=/dev/zero of={place}/big bs=1M count=64 2>/dev/null; [ ! -e {place}/big ] || [ $(stat -c %s {place}/big) -le 16777216 ]"
        );
        glass.sh(&[], &fill).ok();
    }
}

fn hammering_a_full_disk_is_ended(glass: &Glass) {
    let hammer = "while :; do dd if=/dev/zero of=/tmp/big bs=64k count=1600 conv=notrunc oflag=append; done 2>/dev/null";
    let run = ["--json", "run", "--disk", "16M", "--timeout", "60s", "--", "sh", "-c", hammer];
    let ended = glass.run(&run).code(137).json();
    assert_eq!(ended["cause"], json!("disk"));
}
