//! Sudden death: what was acknowledged is there, what was not is there whole or not at all.

use std::{
    fs,
    io::{BufRead, BufReader, Read as _, Write},
    path::{Path, PathBuf},
};

use belljar_ports::store::{EventFilter, NewArtifact, PAGE_LIMIT, Store};

use crate::support::{HOME, again, append, batch, open, read};

/// Not a test by itself: the process that is killed.
#[test]
fn a_process_that_appends_until_it_is_killed() {
    let Some(home) = std::env::var_os(HOME) else { return };
    let store = open(Path::new(&home));
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for number in 0..100_000 {
                    let last = store.append(batch(number, 200)).wait().unwrap().last;
                    let mut out = std::io::stdout().lock();
                    writeln!(out, "acknowledged {last}").unwrap();
                    out.flush().unwrap();
                }
            });
        }
    });
}

#[test]
fn acknowledged_batches_survive_kill_nine() {
    let home = tempfile::tempdir().unwrap();
    let mut before = 0;
    for round in 0..10 {
        let mut child =
            again("crashes::a_process_that_appends_until_it_is_killed", home.path(), "").spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut acknowledged = Vec::new();
        for line in lines {
            let line = line.unwrap();
            let Some((_, seq)) = line.split_once("acknowledged ") else { continue };
            acknowledged.push(seq.parse::<u64>().unwrap());
            // At another moment in every round; what was said before the end of the pipe still counts.
            if acknowledged.len() == 20 + round * 37 {
                child.kill().unwrap();
            }
        }
        child.wait().unwrap();
        let newest = *acknowledged.iter().max().unwrap();
        let store = open(home.path());
        let last = store.last_seq().unwrap();
        assert!(last >= newest && newest > before, "round {round}: {last} of {newest}");
        assert_eq!(last % 3, 0, "a batch was torn");
        let found = store.verify(None).unwrap();
        assert_eq!((found.events, found.finding), (last, None));
        before = last;
    }
}

#[test]
fn an_artifact_nobody_was_told_of_leaves_nothing() {
    let home = tempfile::tempdir().unwrap();
    let about = NewArtifact {
        project: "default".parse().unwrap(),
        sandbox: None,
        execution: None,
        run: None,
        name: "kept".to_owned(),
        media_type: "text/plain".to_owned(),
        created: std::time::SystemTime::now().into(),
    };
    let kept = open(home.path()).put_artifact(&about, &mut &b"kept"[..]).unwrap();
    let root = home.path().join("artifacts");
    // Killed while it was being written, and between its place and its row.
    fs::write(root.join("new-1"), "half of i").unwrap();
    fs::write(root.join("new-2"), "hello").unwrap();
    let hello = root.join("2c/f24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824");
    fs::create_dir_all(hello.parent().unwrap()).unwrap();
    fs::write(&hello, "hello").unwrap();
    // Killed after its row was written, before it was told.
    fs::write(root.join("new-3"), "kept").unwrap();
    let store = open(home.path());
    assert!(!hello.exists());
    let beside = fs::read_dir(&root).unwrap().flatten().filter(|entry| entry.path().is_file());
    assert_eq!(beside.map(|entry| entry.path()).collect::<Vec<_>>(), Vec::<PathBuf>::new());
    let mut text = String::new();
    store.open_artifact(kept.digest, 0).unwrap().read_to_string(&mut text).unwrap();
    assert_eq!(text, "kept");
}

#[test]
fn a_torn_log_leaves_whole_batches() {
    let home = tempfile::tempdir().unwrap();
    let store = open(home.path());
    for number in 0..20 {
        store.append(batch(number, 200)).wait().unwrap();
    }
    store.flush().unwrap();
    let log = fs::read(home.path().join("belljar.db-wal")).unwrap();
    let used = log.iter().rposition(|byte| *byte != 0).unwrap();
    let mut seen = Vec::new();
    for cut in (0..used).step_by(used / 23).chain([log.len()]) {
        let copy = torn(home.path(), &log, cut);
        let torn = open(copy.path());
        let last = torn.last_seq().unwrap();
        assert_eq!(last % 3, 0, "a batch was torn at {cut}");
        let found = torn.verify(None).unwrap();
        assert_eq!((found.events, found.finding), (last, None), "cut at {cut}");
        assert_eq!(append(&torn, &belljar_domain::EventKind::ServerStarted, 1), last + 1);
        seen.push(last);
    }
    assert!(seen.is_sorted() && seen.last() == Some(&60), "{seen:?}");
}

#[test]
fn a_machine_that_stopped_loses_nothing_that_was_answered() {
    let home = tempfile::tempdir().unwrap();
    // A database without a log, as a server finds it that was started after an orderly end.
    append(&open(home.path()), &belljar_domain::EventKind::ServerStarted, 3);
    let store = open(home.path());
    // A little more than one round of the daybook.
    for number in 0..25 {
        store.append(batch(number, 48_000)).wait().unwrap();
    }
    let acknowledged = store.append(batch(25, 200)).wait().unwrap().last;
    assert_eq!(acknowledged, 3 + 26 * 3);
    store.flush().unwrap();
    let log = fs::read(home.path().join("belljar.db-wal")).unwrap();
    let book = home.path().join("daybook");
    // Nobody flushed the log since the round began; the daybook was.
    let used = log.iter().rposition(|byte| *byte != 0).unwrap();
    for back in [0, 5_000, 20_000, 200_000] {
        let copy = torn(home.path(), &log, used - back);
        fs::copy(&book, copy.path().join("daybook")).unwrap();
        let opened: Box<dyn Store> =
            if back == 5_000 { Box::new(read(copy.path())) } else { Box::new(open(copy.path())) };
        assert_eq!(opened.last_seq().unwrap(), acknowledged, "{back} bytes of the log lost");
        let found = opened.verify(None).unwrap();
        assert_eq!((found.events, found.finding), (acknowledged, None));
        // Once is enough.
        drop(opened);
        assert_eq!(open(copy.path()).last_seq().unwrap(), acknowledged);
    }
}

#[test]
fn a_daybook_nobody_sealed_is_not_posted() {
    let home = tempfile::tempdir().unwrap();
    append(&open(home.path()), &belljar_domain::EventKind::ServerStarted, 3);
    let before = fs::read(home.path().join("belljar.db")).unwrap();
    append(&open(home.path()), &belljar_domain::EventKind::Killswitch, 4);
    fs::write(home.path().join("belljar.db"), before).unwrap();
    let mut book = fs::read(home.path().join("daybook")).unwrap();
    book[100] ^= 1;
    fs::write(home.path().join("daybook"), book).unwrap();
    let store = open(home.path());
    assert_eq!(store.last_seq().unwrap(), 3);
    assert_eq!(store.verify(None).unwrap().finding, None);
}

/// A copy of the files as a crash of the machine could leave them: the log ends somewhere, followed by rubbish.
fn torn(home: &Path, log: &[u8], cut: usize) -> tempfile::TempDir {
    let copy = tempfile::tempdir().unwrap();
    let to = |name: &str| -> PathBuf { copy.path().join(name) };
    for name in ["belljar.db", "ledger.key"] {
        fs::copy(home.join(name), to(name)).unwrap();
    }
    let mut bytes = log[..cut.min(log.len())].to_vec();
    bytes.extend((0..1000_u16).map(|number| u8::try_from(number % 251).unwrap()));
    fs::write(to("belljar.db-wal"), bytes).unwrap();
    copy
}

#[test]
fn what_a_killed_server_wrote_can_be_read_without_one() {
    let home = tempfile::tempdir().unwrap();
    let store = open(home.path());
    append(&store, &belljar_domain::EventKind::Killswitch, 5);
    store.flush().unwrap();
    // The files as they are while the server lives, without its shared memory.
    let log = fs::read(home.path().join("belljar.db-wal")).unwrap();
    let copy = torn(home.path(), &log, log.len());
    let reader = read(copy.path());
    assert_eq!(reader.events(&EventFilter::default(), 0, PAGE_LIMIT).unwrap().len(), 5);
    assert_eq!(reader.verify(None).unwrap().finding, None);
}
