//! Validates the suite itself: where a promise is known to be broken, the probe must say so, and the host must see it.
//!
//! The suite runs under no sandbox and under plain bubblewrap, as root and as an ordinary user. What escapes there is
//! pinned, so a probe that goes blind fails here before it is trusted to judge belljar.

mod settings;

use belljar_probe::host::Touch;
use belljar_probe::probes::every_probe;
use belljar_probe::report::Report;

use settings::{PROBE, Setting, User};

/// What the ordinary user of this machine can do without any sandbox.
const NONE: &str = "01 02 03 05 06 07 19 22 23 24 25 26 27 28 29 31 32 34 35 36 37 38 39 40 41 42 43 44 45 47 48 54 \
                    55 56 57 58 59 60 61 62 64 66 67 68 70 75 76 79 80 81 82 83 85 86";

/// What `bwrap --ro-bind / / --unshare-all --dev /dev --proc /proc` lets root do.
const BWRAP_ROOT: &str = "01 03 04 05 08 14 16 17 19 25 26 32 34 36 37 38 39 44 45 47 48 50 54 55 56 57 58 59 60 61 62 \
                          64 66 67 68 69 70 71 72 74 76 79 81 82 83 85 86 88 89 90";

/// What the same command lets an ordinary user do.
const BWRAP_USER: &str = "01 03 05 19 26 32 34 36 37 38 39 44 45 47 48 54 55 56 57 58 59 60 61 62 64 66 67 68 70 71 72 \
                          76 79 81 82 83 85 86";

/// Answered by how this kernel was built and set up or by what else runs on this host, not by the sandbox: these may
/// go either way.
const HOST_DECIDES: &str = "09 10 11 12 15 18 33 41 42 43 44 45 46 47 49 52 54 60 65 66 77 84 86 87";

#[test]
fn without_a_sandbox_an_ordinary_user_gets_through_and_the_host_sees_it() {
    let run = Setting::none(User::Ordinary).run();
    check_escapes(&run.reports, NONE);
    let canary = run.context.canary_file.clone();
    let mut expected = vec![
        Touch::FileMade(canary.with_file_name("made-by-02-host-file-write")),
        Touch::FileMade(canary.with_file_name("made-by-17-remount-rw")),
        Touch::FileChanged(canary),
        Touch::AbstractSocket,
        Touch::PathSocket,
        Touch::AgentSocket,
        Touch::Tcp,
    ];
    expected.extend(terminal());
    expected.sort();
    assert_eq!(run.touches, expected);
}

#[test]
fn plain_bubblewrap_as_root_is_told_from_a_sandbox() {
    let run = Setting::plain_bwrap(User::Root).run();
    check_escapes(&run.reports, BWRAP_ROOT);
    let made = run.context.canary_file.with_file_name("made-by-17-remount-rw");
    let mut expected = vec![Touch::FileMade(made), Touch::PathSocket, Touch::AgentSocket];
    expected.extend(terminal());
    assert_eq!(run.touches, expected);
}

#[test]
fn plain_bubblewrap_as_a_user_is_told_from_a_sandbox() {
    let run = Setting::plain_bwrap(User::Ordinary).run();
    check_escapes(&run.reports, BWRAP_USER);
    let mut expected = vec![Touch::PathSocket, Touch::AgentSocket];
    expected.extend(terminal());
    assert_eq!(run.touches, expected);
}

/// A suite that finds fault with everything would pass the tests above.
#[test]
fn careful_bubblewrap_is_given_its_due() {
    let run = Setting::careful_bwrap(User::Ordinary).run();
    let closed = "01 02 03 04 05 06 07 16 17 20 21 22 23 24 25 27 28 29 31 32 34 35 37 38 39 40 41 42 43 62 70 80 88 89 90";
    let escaped = escapes(&run.reports);
    let wrong: Vec<&str> =
        closed.split_whitespace().filter(|number| escaped.contains(&(*number).to_owned())).collect();
    assert_eq!(wrong, [""; 0], "{:#?}", run.reports);
    assert_eq!(run.touches, []);
}

#[test]
fn a_killed_sandbox_contains_bombs_and_nothing_else() {
    let killed = Setting::launcher(User::Ordinary, ["sh", "-c", "kill -KILL $$"]);
    let canaries = killed.plant();
    for (name, contained) in [("57-memory-bomb", true), ("01-host-file-read", false)] {
        let probe = every_probe().into_iter().find(|probe| probe.name == name).unwrap();
        let report = canaries.run_probe(&killed.launcher, PROBE.as_ref(), probe).unwrap();
        assert_eq!(report.contained, contained, "{report:?}");
    }
}

#[test]
fn root_without_a_sandbox_is_refused() {
    let setting = Setting::none(User::Root);
    let error = setting.plant().run_every_probe(&setting.launcher, PROBE.as_ref()).unwrap_err();
    assert!(error.to_string().contains("root without a sandbox"), "{error}");
}

fn check_escapes(reports: &[Report], expected: &str) {
    let pinned = |number: &String| !HOST_DECIDES.contains(number.as_str()) && !switched_off(number);
    let found: Vec<String> = escapes(reports).into_iter().filter(pinned).collect();
    let expected: Vec<String> = expected.split_whitespace().map(str::to_owned).filter(pinned).collect();
    let differs = |report: &&Report| {
        let number = report.probe[..2].to_owned();
        pinned(&number) && expected.contains(&number) == report.contained
    };
    let surprises: Vec<&Report> = reports.iter().filter(differs).collect();
    assert!(surprises.is_empty() && found == expected, "not as pinned: {surprises:#?}");
}

fn escapes(reports: &[Report]) -> Vec<String> {
    reports.iter().filter(|report| !report.contained).map(|report| report.probe[..2].to_owned()).collect()
}

/// Two doors the kernel itself may have shut for everybody.
fn switched_off(number: &str) -> bool {
    match number {
        "37" | "70" => !sysctl_is("dev/tty/legacy_tiocsti", "1"),
        "48" | "64" => !sysctl_is("kernel/io_uring_disabled", "0"),
        _ => false,
    }
}

/// Typing into the terminal leaves its mark, where the kernel still has that call.
fn terminal() -> Option<Touch> {
    (!switched_off("37")).then_some(Touch::Terminal)
}

fn sysctl_is(name: &str, value: &str) -> bool {
    std::fs::read_to_string(format!("/proc/sys/{name}")).is_ok_and(|text| text.trim() == value)
}
