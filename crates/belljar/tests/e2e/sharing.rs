//! Host paths are lent exactly as asked: seen or writable, nothing beside them.

use std::{
    fs,
    os::unix::fs::{MetadataExt, symlink},
};

use crate::support::{Glass, promises};

promises! { [root, user]:
    what_is_lent_for_reading_cannot_be_written,
    what_is_lent_for_writing_is_written_on_the_host,
    a_single_file_can_be_lent,
    what_is_not_lent_is_not_there,
    a_link_in_the_workspace_leads_nowhere,
    runs_in_one_home_do_not_disturb_each_other,
}

fn what_is_lent_for_reading_cannot_be_written(glass: &Glass) {
    fs::write(glass.lent().join("f"), "host\n").unwrap();
    let mount = format!("{}:/srv/data:ro", glass.lent().display());
    let ended = glass.sh(&["--mount", &mount], "cat /srv/data/f; echo x > /srv/data/f").code(2);
    assert_eq!(ended.out, "host\n");
    assert!(ended.err.contains("Read-only") || ended.err.contains("denied"), "{ended:?}");
    glass.sh(&["--mount", &mount], "rm -f /srv/data/f").code(1);
    assert_eq!(fs::read_to_string(glass.lent().join("f")).unwrap(), "host\n");
}

fn what_is_lent_for_writing_is_written_on_the_host(glass: &Glass) {
    let mount = format!("{}:/srv/out:rw", glass.lent().display());
    glass.sh(&["--mount", &mount], "echo made > /srv/out/f; mkdir /srv/out/d").ok();
    assert_eq!(fs::read_to_string(glass.lent().join("f")).unwrap(), "made\n");
    for name in ["f", "d"] {
        assert_eq!(fs::metadata(glass.lent().join(name)).unwrap().uid(), glass.caller.uid(), "{name}");
    }
}

fn a_single_file_can_be_lent(glass: &Glass) {
    fs::write(glass.lent().join("one"), "1\n").unwrap();
    fs::write(glass.lent().join("two"), "2\n").unwrap();
    let mount = format!("{}:/srv/one:ro", glass.lent().join("one").display());
    assert_eq!(glass.sh(&["--mount", &mount], "cat /srv/one; ls /srv").ok(), "1\none\n");
}

fn what_is_not_lent_is_not_there(glass: &Glass) {
    fs::write(glass.lent().join("secret"), "secret\n").unwrap();
    let look = format!(
        "cat {0}/secret; ls {0} /root /var/log /boot; ls {1}",
        glass.lent().display(),
        glass.home().display()
    );
    let ended = glass.sh(&[], &look);
    assert_eq!((ended.code, ended.out.as_str()), (Some(2), ""), "{ended:?}");
}

fn a_link_in_the_workspace_leads_nowhere(glass: &Glass) {
    fs::write(glass.lent().join("secret"), "secret\n").unwrap();
    symlink(glass.lent(), glass.work().join("link")).unwrap();
    let ended = glass.sh(&[], "cat link/secret").code(1);
    assert_eq!(ended.out, "");
}

fn runs_in_one_home_do_not_disturb_each_other(glass: &Glass) {
    std::thread::scope(|scope| {
        let runs: Vec<_> = (0..12)
            .map(|n| scope.spawn(move || glass.sh(&[], &format!("echo {n} > f; cat f")).ok()))
            .collect();
        for (n, run) in runs.into_iter().enumerate() {
            assert_eq!(run.join().unwrap(), format!("{n}\n"));
        }
    });
    assert_eq!(glass.json(&["list", "--all"]).as_array().unwrap().len(), 12);
}
