//! `belljar top`: sandboxes and events, live in the terminal.
//!
//! Owns: the terminal while it runs, given back however it ends. Refuses: to ask or wait on the thread that draws;
//! [`watch`] does that on threads of its own.

mod draw;
mod keys;
mod look;
mod screen;
mod watch;

use std::{
    io::{self, IsTerminal as _, Write as _},
    process::ExitCode,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::Duration,
};

use anyhow::{Context as _, Result};
use ratatui::{
    Terminal,
    backend::TestBackend,
    buffer::Buffer,
    crossterm::event::{self, Event},
};
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};

use self::{keys::Step, look::Looker, screen::Screen, watch::Watch};
use crate::{args::Top, context::Context, output::print_json, terminal};

/// How far the two measurements of a single frame are apart.
const APART: Duration = Duration::from_millis(250);
/// How long a key or a signal may wait.
const TICK: Duration = Duration::from_millis(50);
/// The least and the most time between two looks.
const FASTEST: Duration = Duration::from_millis(100);
const SLOWEST: Duration = Duration::from_secs(60);
/// The frame printed where there is no window to fill.
const COLUMNS: u16 = 120;

pub(crate) fn top(context: &Context, args: &Top) -> Result<ExitCode> {
    let at_terminal = io::stdin().is_terminal() && io::stdout().is_terminal();
    if args.once || context.json || !at_terminal {
        return once(context, args);
    }
    let interval = args.interval.as_duration().clamp(FASTEST, SLOWEST);
    let watch = Watch::begin(context, args.agent.clone(), interval)?;
    let ended = ended_by_signal().context("listen for signals")?;
    let mut window = ratatui::try_init().context("take over the terminal")?;
    let seen = live(&mut window, &watch, &ended);
    // The person's terminal first, whatever went wrong.
    let restored = ratatui::try_restore();
    seen.and_then(|()| restored.context("give the terminal back"))?;
    Ok(ExitCode::SUCCESS)
}

/// One frame, as text or as a value.
fn once(context: &Context, args: &Top) -> Result<ExitCode> {
    let mut looker = Looker::open(context, args.agent.clone())?;
    looker.look()?;
    thread::sleep(APART);
    let look = looker.look()?;
    if context.json {
        print_json(&look.json())?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut screen = Screen::default();
    screen.show(look);
    let columns = terminal::window().map_or(COLUMNS, |window| window.cols.max(40));
    let Ok(mut paper) = Terminal::new(TestBackend::new(columns, draw::height(&screen)));
    let Ok(frame) = paper.draw(|frame| draw::draw(frame, &screen));
    io::stdout().lock().write_all(text(frame.buffer).as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

/// What is on the paper, without what only makes it pretty.
fn text(buffer: &Buffer) -> String {
    let width = usize::from(buffer.area.width).max(1);
    let line = |cells: &[ratatui::buffer::Cell]| {
        let line: String = cells.iter().map(ratatui::buffer::Cell::symbol).collect();
        format!("{}\n", line.trim_end())
    };
    buffer.content.chunks(width).map(line).collect()
}

fn live(window: &mut ratatui::DefaultTerminal, watch: &Watch, ended: &AtomicBool) -> Result<()> {
    let mut screen = Screen::default();
    let mut stale = true;
    while !ended.load(Ordering::Relaxed) {
        stale |= watch.news(&mut screen);
        if stale {
            window.draw(|frame| draw::draw(frame, &screen)).context("draw")?;
            stale = false;
        }
        if !event::poll(TICK).context("read keys")? {
            continue;
        }
        stale = true;
        if let Event::Key(key) = event::read().context("read keys")? {
            match keys::press(&mut screen, key) {
                Step::Stay => {}
                Step::Act(act) => watch.ask(act, &mut screen),
                Step::Quit => return Ok(()),
            }
        }
    }
    Ok(())
}

/// Set by whatever asks a program to end.
fn ended_by_signal() -> io::Result<Arc<AtomicBool>> {
    let ended = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM, SIGHUP, SIGQUIT] {
        signal_hook::flag::register(signal, Arc::clone(&ended))?;
    }
    Ok(ended)
}
