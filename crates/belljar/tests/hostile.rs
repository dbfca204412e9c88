//! A command that does not try to get out but to hurt whoever handles it: its clock, its supervisor, its results.
//!
//! Everything it leaves behind is untrusted: names, links, pipes, sizes. Looking at it and applying it must be safe.

mod support;

use std::{
    fs,
    os::unix::{
        fs::{MetadataExt, symlink},
        net::UnixListener,
    },
};

use support::jar::{Jar, User, succeed};

const BOTH: [User; 2] = [User::Root, User::Ordinary];

/// The exit code of a command that took too long, as with `timeout(1)`.
const TOO_LONG: i32 = 124;

#[test]
fn stopping_the_shepherd_does_not_stop_the_clock() {
    for user in BOTH {
        let jar = Jar::new(user);
        let script = "(while :; do kill -STOP 2; done) & sleep 1000";
        let output = jar.belljar(["run", "--timeout", "1s", "--", "sh", "-c", script]).output().unwrap();
        assert_eq!(output.status.code(), Some(TOO_LONG), "{output:?}");
    }
}

#[test]
fn killing_the_shepherd_ends_what_it_guarded() {
    for user in BOTH {
        let jar = Jar::new(user);
        let id = succeed(jar.belljar(["run", "--keep"]));
        let exec = |script: &str| {
            jar.belljar(["exec", "--timeout", "20s", id.trim(), "--", "sh", "-c", script]).output().unwrap()
        };
        // Its process number inside: the parent of the command.
        let output = exec("kill -KILL $PPID; sleep 1000");
        assert!(!output.status.success(), "{output:?}");
        // Ended with the time limit if anything is left.
        let output = exec("while cat /proc/[0-9]*/comm | grep -qx sleep; do :; done");
        assert!(output.status.success(), "{output:?}");
        succeed(jar.belljar(["terminate", "--force", id.trim()]));
    }
}

#[test]
fn results_that_are_no_files_hang_nobody_and_are_not_applied() {
    for user in BOTH {
        let jar = Jar::new(user);
        jar.run(&[], "mkfifo pipe; ln -s /etc/passwd link; echo text > file");
        assert!(succeed(jar.belljar(["diff"])).contains("+++ b/file"));
        succeed(jar.belljar(["apply"]));
        jar.assert_work_is(&["file", "link"]);
        assert!(fs::symlink_metadata(jar.path("work/link")).unwrap().is_symlink());
    }
}

#[test]
fn a_huge_file_of_holes_is_applied_as_holes() {
    for user in BOTH {
        let jar = Jar::new(user);
        jar.run(&["--disk", "64M"], "truncate -s 1T huge; echo end >> huge");
        assert!(succeed(jar.belljar(["diff"])).contains("Binary files /dev/null and b/huge differ"));
        succeed(jar.belljar(["apply"]));
        let huge = fs::metadata(jar.path("work/huge")).unwrap();
        assert_eq!(huge.len(), (1 << 40) + 4);
        assert!(huge.blocks() * 512 < 64 << 20, "{} blocks", huge.blocks());
    }
}

#[test]
fn names_and_contents_cannot_speak_to_the_terminal() {
    let jar = Jar::new(User::Root);
    let script = r#"printf 'good\n\033[1A\033[2Khidden\n' > "$(printf 'a\nb\033[31m')""#;
    jar.run(&[], script);
    // `script` gives the command a terminal; that is when the diff is coloured.
    support::require("script", "bsdutils");
    let words = format!("{} --home {} diff", jar.path("belljar").display(), jar.path("state").display());
    let mut command =
        jar.as_user("script", ["--quiet", "--return", "--command", &words, "/dev/null"], &jar.path("work"));
    command.stdin(std::process::Stdio::null());
    let shown = succeed(command);
    assert!(shown.contains("hidden") && shown.contains("\x1b[32m"), "{shown:?}");
    assert!(
        !shown.contains("\x1b[1A") && !shown.contains("\x1b[2K") && !shown.contains("b\x1b[31m"),
        "{shown:?}"
    );
}

#[test]
fn a_link_put_in_the_way_on_the_host_is_not_followed() {
    for user in BOTH {
        let jar = Jar::new(user);
        jar.write("work/sub/file", "old\n");
        let elsewhere = jar.make_dir("elsewhere");
        jar.run(&[], "echo new > sub/file; echo more > sub/other");
        fs::remove_dir_all(jar.path("work/sub")).unwrap();
        symlink(&elsewhere, jar.path("work/sub")).unwrap();
        assert!(!jar.belljar(["apply"]).output().unwrap().status.success());
        assert_eq!(fs::read_dir(&elsewhere).unwrap().count(), 0);
    }
}

#[test]
fn a_socket_of_the_host_in_the_workspace_is_out_of_reach() {
    for user in BOTH {
        let jar = Jar::new(user);
        let path = jar.path("work/service.sock");
        let listener = UnixListener::bind(&path).unwrap();
        listener.set_nonblocking(true).unwrap();
        jar.give(&path);
        let script = "import socket; s = socket.socket(socket.AF_UNIX); print(s.connect_ex('service.sock'))";
        let answer = succeed(jar.belljar(["run", "--quiet", "--net", "open", "--", "python3", "-c", script]));
        assert_ne!(answer, "0\n");
        assert!(listener.accept().is_err(), "the host was reached");
    }
}

#[test]
fn what_is_lent_for_writing_gets_no_set_user_id_file_and_no_device() {
    for user in BOTH {
        let jar = Jar::new(user);
        let lent = jar.make_dir("lent");
        let flag = format!("{}:/srv/lent:rw", lent.display());
        let script = "cp /usr/bin/id /srv/lent/id && ! chmod 4755 /srv/lent/id 2>/dev/null
            ! mknod /srv/lent/disk b 8 0 2>/dev/null; ! ln /usr/bin/id /srv/lent/hard 2>/dev/null";
        jar.run(&["--mount", &flag], script);
        let names: Vec<_> = fs::read_dir(&lent).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(names, ["id"]);
        assert_eq!(fs::metadata(lent.join("id")).unwrap().mode() & 0o6000, 0);
    }
}
