//! On a terminal a command has a terminal of its own, and the person's is as before when it is over.

use rustix::termios::LocalModes;

use crate::support::{Glass, Terminal, promises};

promises! { [root, user]:
    a_command_sees_a_terminal_of_the_windows_size,
    a_new_window_size_reaches_the_command,
    the_terminal_is_raw_meanwhile_and_itself_again_afterwards,
    the_terminal_is_itself_again_after_the_clock,
    control_c_goes_to_the_command,
    what_is_typed_reaches_the_command,
    a_terminal_can_be_forced,
    a_further_command_has_a_terminal_too,
}

fn a_command_sees_a_terminal_of_the_windows_size(glass: &Glass) {
    let look =
        "[ -t 0 ] && [ -t 1 ] && [ -t 2 ] && echo all three; stty size; ps -o tty= -p $$; echo x > /dev/tty";
    let mut terminal = Terminal::start(glass, &["run", "--", "sh", "-c", look]);
    assert_eq!(terminal.code(), Some(0));
    for text in ["all three\r\n", "30 100\r\n", "pts/", "x\r\n"] {
        terminal.sees(text);
    }
    terminal.sees("exit 0");
}

fn a_new_window_size_reaches_the_command(glass: &Glass) {
    let wait = "trap 'stty size; exit 5' WINCH; echo ready; while :; do sleep 1000 & wait; done";
    let mut terminal = Terminal::start(glass, &["run", "--", "sh", "-c", wait]);
    terminal.sees("ready");
    terminal.resize(41, 123);
    terminal.sees("41 123");
    assert_eq!(terminal.code(), Some(5));
}

/// What a person would notice of a terminal's settings.
fn modes(terminal: &Terminal) -> impl PartialEq + std::fmt::Debug + use<> {
    let settings = terminal.settings();
    (settings.input_modes, settings.output_modes, settings.control_modes, settings.local_modes)
}

fn the_terminal_is_raw_meanwhile_and_itself_again_afterwards(glass: &Glass) {
    let mut terminal = Terminal::start(glass, &["run", "--", "sh", "-c", "echo ready; read go; exit 3"]);
    // Nothing is raw before the command runs.
    let cooked = Terminal::start(glass, &["list"]);
    let before = modes(&cooked);
    terminal.sees("ready");
    crate::support::until("the terminal is raw", || {
        !terminal.settings().local_modes.intersects(LocalModes::ICANON | LocalModes::ECHO | LocalModes::ISIG)
    });
    terminal.types("\r");
    assert_eq!(terminal.code(), Some(3));
    assert_eq!(modes(&terminal), before);
    let mut cooked = cooked;
    assert_eq!(cooked.code(), Some(0));
}

fn the_terminal_is_itself_again_after_the_clock(glass: &Glass) {
    let mut terminal = Terminal::start(glass, &["run", "--timeout", "300ms", "--", "sh", "-c", "sleep 1000"]);
    let before = modes(&Terminal::start(glass, &["--version"]));
    assert_eq!(terminal.code(), Some(124));
    assert_eq!(modes(&terminal), before);
}

fn control_c_goes_to_the_command(glass: &Glass) {
    // A shell hears nothing while it waits for a command, but does while it only waits.
    let wait = "trap 'echo caught; exit 7' INT; sleep 1000 & echo ready; wait";
    let mut terminal = Terminal::start(glass, &["run", "--", "sh", "-c", wait]);
    terminal.sees("ready");
    terminal.types("\x03");
    terminal.sees("caught");
    assert_eq!(terminal.code(), Some(7));
    // A command that does not care is ended by it, like anywhere else.
    let mut terminal = Terminal::start(glass, &["run", "--", "sh", "-c", "echo ready; exec sleep 1000"]);
    terminal.sees("ready");
    terminal.types("\x03");
    assert_eq!(terminal.code(), Some(130));
}

fn what_is_typed_reaches_the_command(glass: &Glass) {
    let mut terminal =
        Terminal::start(glass, &["run", "--", "sh", "-c", "read a; echo \"<$a>\"; cat; echo end"]);
    terminal.types("hello\r");
    terminal.sees("<hello>");
    terminal.types("\x04");
    terminal.sees("end");
    assert_eq!(terminal.code(), Some(0));
}

fn a_terminal_can_be_forced(glass: &Glass) {
    let look = "[ -t 1 ] && stty size";
    assert_eq!(glass.run(&["run", "--tty", "--", "sh", "-c", look]).ok(), "24 80\r\n");
    glass.sh(&[], "[ ! -t 0 ] && [ ! -t 1 ]").ok();
}

fn a_further_command_has_a_terminal_too(glass: &Glass) {
    let id = glass.keep(&[]);
    let mut terminal = Terminal::start(glass, &["exec", &id, "--", "sh", "-c", "stty size; tty"]);
    terminal.sees("30 100\r\n");
    terminal.sees("/dev/pts/");
    assert_eq!(terminal.code(), Some(0));
}
