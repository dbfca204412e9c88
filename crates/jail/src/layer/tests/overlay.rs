//! The same through an overlay the kernel wrote.

use super::*;

const SCRIPT: &str = r"
    echo added > new.txt
    echo more >> edited.txt
    touch untouched.txt; : >> opened.txt
    chmod 755 run.sh
    rm gone.txt
    rm -r tree; mkdir tree; echo x > tree/fresh
    rm -r wiped
    mv moved.txt renamed.txt
    rm file; mkdir file
    ln -sf elsewhere link
    mkdir -p deep/er
    echo y > dir/child
";

fn expected() -> Vec<Change> {
    vec![
        change("deep", ChangeKind::Added, None, dir(0o755)),
        change("deep/er", ChangeKind::Added, None, dir(0o755)),
        change("dir/child", ChangeKind::Added, None, file(2, 0o644)),
        change("edited.txt", ChangeKind::Modified, file(4, 0o644), file(9, 0o644)),
        change("file", ChangeKind::TypeChanged, file(0, 0o644), dir(0o755)),
        change("gone.txt", ChangeKind::Deleted, file(4, 0o644), None),
        change("link", ChangeKind::Modified, link("here"), link("elsewhere")),
        change("moved.txt", ChangeKind::Deleted, file(5, 0o644), None),
        change("new.txt", ChangeKind::Added, None, file(6, 0o644)),
        change("renamed.txt", ChangeKind::Added, None, file(5, 0o644)),
        change("run.sh", ChangeKind::ModeChanged, file(0, 0o644), file(0, 0o755)),
        change("tree/a", ChangeKind::Deleted, file(1, 0o644), None),
        change("tree/b", ChangeKind::Deleted, dir(0o755), None),
        change("tree/b/c", ChangeKind::Deleted, file(1, 0o644), None),
        change("tree/fresh", ChangeKind::Added, None, file(2, 0o644)),
        change("wiped", ChangeKind::Deleted, dir(0o755), None),
        change("wiped/d", ChangeKind::Deleted, file(1, 0o644), None),
    ]
}

fn populate(layers: &Layers) {
    let files = [
        ("edited.txt", "old\n"),
        ("untouched.txt", "same"),
        ("opened.txt", "same"),
        ("run.sh", ""),
        ("gone.txt", "gone"),
        ("tree/a", "a"),
        ("tree/b/c", "c"),
        ("wiped/d", "d"),
        ("moved.txt", "moved"),
        ("file", ""),
        ("dir/other", ""),
    ];
    for (name, content) in files {
        write(layers.base(name), content, 0o644);
    }
    for name in ["tree", "tree/b", "wiped", "dir"] {
        directory(layers.base(name));
    }
    symlink("here", layers.base("link")).unwrap();
}

#[test]
fn a_kernel_overlay_is_read_in_both_attribute_namespaces() {
    for options in [own_namespace().1, "userxattr"] {
        let layers = Layers::new();
        populate(&layers);
        layers.run_in_overlay(options, SCRIPT);
        assert_eq!(layers.scan().unwrap(), expected(), "{options}");
    }
}

#[test]
fn a_copied_layer_shows_the_same_through_an_overlay() {
    let layers = Layers::new();
    populate(&layers);
    let (_, options) = own_namespace();
    layers.run_in_overlay(options, SCRIPT);
    let upper = File::open(layers.path("upper")).unwrap();
    crate::layer::copy(upper.as_fd(), &layers.path("copy"), crate::layer::IdShift::NONE).unwrap();
    let copy = File::open(layers.path("copy")).unwrap();
    assert_eq!(scan(copy.as_fd(), &layers.path("base")).unwrap(), expected());
    // As the upper one of two lower layers: the tree must be the one the sandbox left.
    let listing = "find . -mindepth 1 | sort; cat edited.txt";
    let see = |lower: &str| {
        layers.run_apart(&format!(
            "mount -t overlay overlay -o lowerdir={lower}:base,{options} merged && cd merged && {listing}"
        ))
    };
    assert_eq!(see("copy"), see("upper"));
}
