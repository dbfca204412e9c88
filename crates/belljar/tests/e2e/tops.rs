//! `belljar top` shows what there is, does what its keys say, and leaves the terminal as it was.

use rustix::{process::Signal, termios::LocalModes};
use serde_json::json;

use crate::support::{Glass, Served, Terminal, promises, until};

promises! { [root, user]:
    one_frame_shows_sandboxes_and_events,
    one_frame_without_a_server_shows_sandboxes,
    keys_inspect_filter_and_end,
    what_happens_is_shown_as_it_happens,
    the_terminal_is_itself_again_after_a_signal,
}

promises! { [root, delegated]:
    a_key_pauses_and_resumes,
}

fn one_frame_shows_sandboxes_and_events(glass: &Glass) {
    let _served = Served::start(glass);
    let id = glass.keep(&["--agent", "painter"]);
    glass.run(&["inspect", &id]).ok();
    let frame = glass.run(&["top", "--once"]).ok();
    for words in [&id[id.len() - 8..], "painter", "1 running", "server up", "sandbox.created", "q quit"] {
        assert!(frame.contains(words), "no `{words}` in\n{frame}");
    }
    let object = glass.json(&["top"]);
    assert_eq!(object["sandboxes"][0]["id"], json!(id));
    assert_eq!(object["totals"]["running"], 1);
    assert!(object["server"]["writer_lag_ms"].is_u64() && !object["events"].as_array().unwrap().is_empty());
}

fn one_frame_without_a_server_shows_sandboxes(glass: &Glass) {
    let id = glass.keep(&[]);
    let frame = glass.run(&["top", "--once"]).ok();
    assert!(frame.contains(&id[id.len() - 8..]) && frame.contains("no server"), "{frame}");
    assert_eq!(glass.json(&["top", "--once"])["server"], json!(null));
}

fn quit(mut terminal: Terminal) {
    terminal.types("q");
    assert_eq!(terminal.code(), Some(0));
    assert!(!is_raw(&terminal));
    // The person's own screen is back.
    terminal.sees("\x1b[?1049l");
}

fn is_raw(terminal: &Terminal) -> bool {
    !terminal.settings().local_modes.intersects(LocalModes::ICANON | LocalModes::ECHO)
}

fn keys_inspect_filter_and_end(glass: &Glass) {
    let older = glass.keep(&["--agent", "older"]);
    let newer = glass.keep(&["--agent", "newer"]);
    let mut terminal = Terminal::start(glass, &["top", "--interval", "200ms"]);
    terminal.shows(&newer[newer.len() - 8..]);
    terminal.shows("2 running");
    assert!(is_raw(&terminal));
    // The newest is meant first; one further down is the older one.
    terminal.types("j\r");
    terminal.shows("agent: older");
    terminal.shows(&format!("id: {older}"));
    terminal.types("q/nobody\r");
    terminal.shows("nothing fits");
    terminal.types("\x1b");
    terminal.shows("newer");
    terminal.types("s");
    terminal.shows("sandboxes by cpu");
    terminal.resize(40, 120);
    terminal.types("x");
    terminal.shows(&format!("end {}? [y/N]", &older[older.len() - 8..]));
    // Whoever does not say yes says no.
    terminal.types("nx");
    assert_eq!(glass.json(&["list"]).as_array().unwrap().len(), 2);
    terminal.types("y");
    terminal.shows("ended");
    assert_eq!(glass.json(&["list"])[0]["id"], json!(newer));
    quit(terminal);
}

fn a_key_pauses_and_resumes(glass: &Glass) {
    let id = glass.keep(&[]);
    let _served = Served::start(glass);
    let mut terminal = Terminal::start(glass, &["top", "--interval", "200ms"]);
    terminal.shows(&id[id.len() - 8..]);
    terminal.types("p");
    terminal.shows("0 running  1 paused");
    assert_eq!(glass.json(&["list"])[0]["state"], "paused");
    terminal.types("p");
    terminal.shows("1 running  0 paused");
    assert_eq!(glass.json(&["list"])[0]["state"], "running");
    quit(terminal);
}

fn what_happens_is_shown_as_it_happens(glass: &Glass) {
    let served = Served::start(glass);
    // It looks again only after a minute, so what is shown meanwhile came by the stream.
    let terminal = Terminal::start(glass, &["top", "--interval", "60s"]);
    terminal.shows("server.started");
    let id = served.make("noisy");
    terminal.shows("sandbox.created");
    quit(terminal);
    glass.run(&["terminate", "--force", &id]).ok();
}

fn the_terminal_is_itself_again_after_a_signal(glass: &Glass) {
    let mut terminal = Terminal::start(glass, &["top"]);
    until("the terminal is raw", || is_raw(&terminal));
    let shown = glass.watch.processes();
    let top =
        shown.iter().find(|process| process.line.ends_with("top ")).unwrap_or_else(|| panic!("{shown:?}"));
    top.signal(Signal::TERM);
    assert_eq!(terminal.code(), Some(0));
    assert!(!is_raw(&terminal));
    terminal.sees("\x1b[?1049l");
}
