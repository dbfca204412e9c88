//! Archives that try to get out. Each runs in a directory beside a victim that must stay as it was.

use std::{collections::BTreeMap, fs, os::unix::fs::MetadataExt as _, path::Path};

use tar::EntryType;

use super::{
    super::{
        Limits, UnpackError,
        progress::Meter,
        unpack::{Tally, Unpacker, Whiteouts},
    },
    Tar, expected, listing,
};

/// A root to unpack into, and beside it the victim.
struct Arena(tempfile::TempDir);

impl Arena {
    fn new() -> Self {
        let arena = Self(tempfile::tempdir().unwrap());
        fs::create_dir(arena.path("root")).unwrap();
        fs::create_dir(arena.path("outside")).unwrap();
        fs::write(arena.path("outside/victim"), "untouched").unwrap();
        arena
    }

    fn path(&self, name: &str) -> String {
        format!("{}/{name}", self.0.path().display())
    }

    /// Unpacks, and insists that nothing outside has changed, whatever came of it.
    fn unpack(&self, layers: &[Tar]) -> Result<Tally, UnpackError> {
        self.unpack_within(Limits::default(), layers)
    }

    fn unpack_within(&self, limits: Limits, layers: &[Tar]) -> Result<Tally, UnpackError> {
        let meter = Meter::new(&|_| {});
        let outcome =
            Unpacker::new(Path::new(&self.path("root")), limits, &meter).and_then(|mut unpacker| {
                for Tar(bytes) in layers {
                    let archive = [bytes.as_slice(), &[0; 1024]].concat();
                    unpacker.layer(archive.as_slice(), Whiteouts::Apply)?;
                }
                unpacker.finish()
            });
        let untouched = expected(&[("victim", "f 644 untouched")]);
        assert_eq!(listing(Path::new(&self.path("outside"))), untouched);
        assert_eq!(fs::metadata(self.path("outside/victim")).unwrap().nlink(), 1);
        assert_eq!(fs::read_dir(self.0.path()).unwrap().count(), 2, "something appeared beside the root");
        outcome
    }

    fn listing(&self) -> BTreeMap<String, String> {
        listing(Path::new(&self.path("root")))
    }
}

fn refused(outcome: Result<Tally, UnpackError>) -> String {
    match outcome {
        Err(UnpackError::UnsafeName { why, .. }) => why.to_owned(),
        Err(UnpackError::Entry { source, .. }) => source.to_string(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn names_with_dots_are_refused() {
    for name in ["../outside/victim", "a/../../outside/victim", "./../outside/victim", "/../outside/victim"] {
        let arena = Arena::new();
        assert_eq!(refused(arena.unpack(&[Tar::default().file(name, "x")])), "it contains `..`");
        assert_eq!(arena.listing(), BTreeMap::new());
    }
}

#[test]
fn absolute_names_land_inside() {
    let arena = Arena::new();
    let name = arena.path("outside/victim");
    arena.unpack(&[Tar::default().file(&name, "x")]).unwrap();
    assert_eq!(arena.listing().get(name.trim_start_matches('/')).unwrap(), "f 644 x");
}

#[test]
fn a_file_written_through_a_link_lands_inside() {
    let arena = Arena::new();
    let absolute = arena.path("outside");
    for target in [absolute.as_str(), "../outside", "../../../../../../../../../outside"] {
        let arena = Arena::new();
        let archive = Tar::default().symlink("link", target).file("link/victim", "x");
        // Inside the root the link leads nowhere, so there is no directory to write to.
        assert_eq!(refused(arena.unpack(&[archive])), "No such file or directory (os error 2)");
        assert_eq!(arena.listing(), expected(&[("link", &format!("l {target}"))]));
    }
}

#[test]
fn a_file_over_a_link_replaces_the_link() {
    let arena = Arena::new();
    let victim = arena.path("outside/victim");
    arena.unpack(&[Tar::default().symlink("link", &victim).file("link", "x")]).unwrap();
    assert_eq!(arena.listing(), expected(&[("link", "f 644 x")]));
}

#[test]
fn a_directory_over_a_link_replaces_the_link() {
    let arena = Arena::new();
    let outside = arena.path("outside");
    let archive = Tar::default().symlink("link", &outside).dir("link", 0o700).file("link/victim", "x");
    arena.unpack(&[archive]).unwrap();
    assert_eq!(arena.listing(), expected(&[("link", "d 700"), ("link/victim", "f 644 x")]));
}

#[test]
fn hard_links_reach_nothing_outside() {
    let arena = Arena::new();
    let victim = arena.path("outside/victim");
    let missing = "No such file or directory (os error 2)";
    assert_eq!(refused(arena.unpack(&[Tar::default().hard_link("h", &victim)])), missing);
    assert_eq!(
        refused(arena.unpack(&[Tar::default().hard_link("h", "../outside/victim")])),
        "it contains `..`"
    );

    let outside = arena.path("outside");
    let through = Tar::default().symlink("link", &outside).hard_link("h", "link/victim");
    assert_eq!(refused(arena.unpack(&[through])), missing);

    // A hard link to a link is that link, and writing over it writes a file of its own.
    let arena = Arena::new();
    let victim = arena.path("outside/victim");
    let archive = Tar::default().symlink("link", &victim).hard_link("h", "link").file("h", "x");
    arena.unpack(&[archive]).unwrap();
    assert_eq!(arena.listing(), expected(&[("h", "f 644 x"), ("link", &format!("l {victim}"))]));
}

#[test]
fn whiteouts_reach_nothing_outside() {
    for target in ["outside", "../outside", "/outside"] {
        let arena = Arena::new();
        let target = if target == "outside" { arena.path("outside") } else { target.to_owned() };
        let below = || Tar::default().symlink("link", &target);
        arena.unpack(&[below(), Tar::default().file("link/.wh.victim", "")]).unwrap();
        arena.unpack(&[below(), Tar::default().file("link/.wh..wh..opq", "")]).unwrap();
        arena.unpack(&[below(), Tar::default().file(".wh.link", "")]).unwrap();
        assert_eq!(arena.listing(), BTreeMap::new());
    }
    let arena = Arena::new();
    assert_eq!(refused(arena.unpack(&[Tar::default().file("a/.wh...", "")])), "it is a whiteout of no file");
}

#[test]
fn modes_of_directories_set_late_stay_inside() {
    let arena = Arena::new();
    let outside = arena.path("outside");
    let before = fs::metadata(&outside).unwrap();
    // The directory is remembered, then swapped for a link, and only afterwards are modes set.
    arena.unpack(&[Tar::default().dir("d", 0o000).symlink("d", &outside)]).unwrap();
    arena.unpack(&[Tar::default().symlink("e", &outside).dir("d/x", 0o000)]).unwrap_err();
    let after = fs::metadata(&outside).unwrap();
    assert_eq!((before.mode(), before.uid(), before.mtime()), (after.mode(), after.uid(), after.mtime()));
}

#[test]
fn links_to_themselves_end() {
    let arena = Arena::new();
    let archive = Tar::default().symlink("a", "b").symlink("b", "a").file("a/x", "x");
    assert_eq!(refused(arena.unpack(&[archive])), "Too many levels of symbolic links (os error 40)");
}

#[test]
fn bounds_hold() {
    let limits = Limits { bytes: 10, entries: 3, path: 200, depth: 4 };
    let arena = Arena::new();
    let heavy = Tar::default().file("a", "123456").file("b", "12345");
    assert!(matches!(arena.unpack_within(limits, &[heavy]), Err(UnpackError::TooManyBytes(10))));
    let layers = [Tar::default().file("a", "").file("b", ""), Tar::default().file("c", "").file("d", "")];
    assert!(matches!(arena.unpack_within(limits, &layers), Err(UnpackError::TooManyEntries(3))));
    assert_eq!(
        refused(arena.unpack_within(limits, &[Tar::default().file("a/b/c/d/e/f", "")])),
        "it is nested too deep"
    );
    let long = "n/".repeat(150);
    assert_eq!(refused(arena.unpack_within(limits, &[Tar::default().file(&long, "")])), "it is too long");

    // Nesting by way of a link counts as what it is.
    let arena = Arena::new();
    let folded = Tar::default().symlink("s", "a/b/c").dir("a/b/c", 0o755).file("s/d/e/f", "");
    assert!(refused(arena.unpack_within(limits, &[folded])).contains("File name too long"));
}

#[test]
fn an_endless_name_is_not_collected_in_memory() {
    let arena = Arena::new();
    let name = "n".repeat(3 * 1024 * 1024);
    let outcome = arena.unpack(&[Tar::default().file(&name, "")]);
    assert!(
        matches!(outcome, Err(UnpackError::Read(error)) if error.to_string().contains("larger than 1 MiB"))
    );
}

#[test]
fn a_size_beyond_the_archive_is_an_error() {
    let arena = Arena::new();
    let Tar(mut bytes) = Tar::default().file("bin/x", &"x".repeat(2000));
    bytes.truncate(1024);
    let meter = Meter::new(&|_| {});
    let mut unpacker = Unpacker::new(Path::new(&arena.path("root")), Limits::default(), &meter).unwrap();
    let outcome = unpacker.layer(bytes.as_slice(), Whiteouts::Apply);
    assert!(matches!(outcome, Err(UnpackError::Truncated(name)) if name == "bin/x"));

    let mut header = tar::Header::new_gnu();
    header.set_entry_type(EntryType::Regular);
    header.set_size(u64::MAX / 2);
    let mut huge = Tar::default();
    huge.push(header, b"huge", b"");
    assert!(matches!(arena.unpack(&[huge]), Err(UnpackError::TooManyBytes(_))));
}
