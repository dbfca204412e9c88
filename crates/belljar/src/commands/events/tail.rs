//! `belljar events tail`: one line a call, as it happens. On a terminal the calls under way stand below and tick, above what
//! all of it came to.

use std::{
    fmt::Write as _,
    io::{self, IsTerminal as _, Write as _},
    process::ExitCode,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
        mpsc::{Receiver, RecvTimeoutError, sync_channel},
    },
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result};
use belljar_domain::Terminal;
use serde_json::Value;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use super::{
    board::Board,
    calls::{Count, Row},
    line::{NARROWEST, Style, dollars, thousands},
    purse::Purse,
    source::{Seen, Source, place_of},
};
use crate::{args::TailEvents, context::Context, output::many, prices, terminal};

/// What agents do, and what is done to them.
const AGENTS: [&str; 11] = [
    "session",
    "prompt",
    "tool",
    "permission",
    "approval",
    "agent",
    "turn",
    "context",
    "model",
    "guardian",
    "killswitch",
];
/// Events that wait to be drawn.
const WAITING: usize = 1024;
/// How often what is under way is drawn anew.
const TICK: Duration = Duration::from_millis(100);
/// The most calls under way that are drawn.
const MOST_OPEN: usize = 8;
const SPINNER: [char; 10] = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];
/// What there is room for where there is no window.
const NO_WINDOW: Terminal = Terminal { rows: 40, cols: 120 };
/// Events of which one line is made, about; and the most that are asked for at one time.
const EVENTS_A_LINE: usize = 6;
const MOST: usize = 1000;
/// What a shell says of a program that was interrupted.
const EXIT_INTERRUPTED: u8 = 130;

pub(super) fn tail(context: &Context, args: &TailEvents) -> Result<ExitCode> {
    let mut which = args.which.clone();
    if which.kind.is_empty() && !args.all {
        which.kind = AGENTS.map(str::to_owned).to_vec();
        // What a transcript tells of money is shown; to programs it is not what an agent did.
        which.kind.extend((!context.json).then(|| "transcript".to_owned()));
    }
    let source = Source::new(context, which, None);
    let mut screen = Screen::new(context);
    let place = screen.look_back(&source, args)?;
    if args.no_follow {
        screen.leave()?;
        return Ok(ExitCode::SUCCESS);
    }
    let is_over = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        signal_hook::flag::register(signal, Arc::clone(&is_over)).context("wait for a signal")?;
    }
    let (send, events) = sync_channel(WAITING);
    let source = Arc::new(source);
    let own = Arc::clone(&source);
    let read = move || own.follow(place, |event| send.send(event).is_ok());
    // It ends with the program: it may wait for something that never happens.
    let reader = thread::Builder::new().name("events".to_owned()).spawn(read).context("follow events")?;
    match screen.watch(&source, &events, &is_over) {
        // Whoever reads our output no more has seen enough.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {}
        shown => {
            shown?;
            if is_over.load(Ordering::Relaxed) {
                return Ok(ExitCode::from(EXIT_INTERRUPTED));
            }
            reader.join().unwrap_or(Ok(()))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// What is on the screen.
struct Screen {
    json: bool,
    live: bool,
    colour: bool,
    board: Board,
    /// What is drawn below the last final line.
    drawn: Vec<String>,
    began: Instant,
}

impl Screen {
    fn new(context: &Context) -> Self {
        let at_terminal = io::stdout().is_terminal();
        Self {
            json: context.json,
            live: at_terminal && !context.json,
            colour: context.colour(at_terminal),
            // A list that cannot be read is the server's to complain of.
            board: Board::new(Purse::new(prices::of(&context.home).unwrap_or_default())),
            drawn: Vec::new(),
            began: Instant::now(),
        }
    }

    /// Shows what happened before, and says up to where.
    fn look_back(&mut self, source: &Source, args: &TailEvents) -> Result<u64> {
        let (since, after) = (args.which.since, args.which.after);
        if since.is_some() || after.is_some() {
            let mut place = after.unwrap_or(0);
            loop {
                let page = source.after(place)?;
                let Some(last) = page.last().and_then(place_of) else { return Ok(place) };
                place = last;
                let rows = self.past(source, &page)?;
                self.print(&rows)?;
            }
        }
        let lines = usize::from(args.lines);
        // A line is made of several events, and what they are is known when they are there.
        let asked = if self.json { lines } else { (lines * EVENTS_A_LINE).min(MOST) };
        let mut newest = source.newest(None, asked.max(1))?;
        let place = newest.first().and_then(place_of).unwrap_or(0);
        newest.truncate(asked);
        newest.reverse();
        let rows = self.past(source, &newest)?;
        self.print(rows.get(rows.len().saturating_sub(lines)..).unwrap_or_default())?;
        // What is counted is what is watched.
        self.board.calls.count = Count::default();
        self.board.purse.begin();
        Ok(place)
    }

    /// The lines of what happened before: what is not known of them by now will not be.
    fn past(&mut self, source: &Source, events: &[Value]) -> io::Result<Vec<Row>> {
        events.iter().try_for_each(|event| self.take(source, event))?;
        Ok(self.board.settle(Instant::now(), 0))
    }

    fn watch(&mut self, source: &Source, events: &Receiver<Value>, is_over: &AtomicBool) -> io::Result<()> {
        while !is_over.load(Ordering::Relaxed) {
            match events.recv_timeout(TICK) {
                Ok(event) => {
                    self.take(source, &event)?;
                    // What waits already is taken before anything is drawn.
                    events.try_iter().take(WAITING).try_for_each(|event| self.take(source, &event))?;
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Ok(()),
            }
            let room = usize::from(self.window().rows).saturating_sub(MOST_OPEN + 3);
            let rows = self.board.settle(Instant::now(), room);
            self.print(&rows)?;
        }
        let rows = self.board.settle(Instant::now(), 0);
        self.print(&rows)
    }

    fn take(&mut self, source: &Source, event: &Value) -> io::Result<()> {
        let Some(seen) = Seen::of(event) else { return Ok(()) };
        if self.json {
            if !source.wants(&seen) {
                return Ok(());
            }
            let mut out = io::stdout().lock();
            writeln!(out, "{event}")?;
            return out.flush();
        }
        let is_wanted = |seen: &Seen| source.wants(seen);
        self.board.take(seen, is_wanted, |session| source.spent(session));
        Ok(())
    }

    fn window(&self) -> Terminal {
        terminal::window().filter(|window| self.live && window.cols > 0).unwrap_or(NO_WINDOW)
    }

    fn style(&self) -> Style {
        // What fills the last column makes some terminals begin another line.
        Style { colour: self.colour, width: usize::from(self.window().cols.saturating_sub(1)) }
    }

    /// Prints lines that are final, and below them those that are not, in one go: a screen that is seen half drawn flickers.
    fn print(&mut self, rows: &[Row]) -> io::Result<()> {
        if self.json {
            return Ok(());
        }
        let (style, below) = (self.style(), self.below());
        if rows.is_empty() && below == self.drawn {
            return Ok(());
        }
        let mut text = String::new();
        if !self.drawn.is_empty() {
            let _written = write!(text, "\x1b[{}A\x1b[J", self.drawn.len());
        }
        for row in rows {
            let _written = writeln!(text, "{}", final_line(style, row));
        }
        below.iter().for_each(|line| {
            let _written = writeln!(text, "{line}");
        });
        self.drawn = below;
        let mut out = io::stdout().lock();
        out.write_all(text.as_bytes())?;
        out.flush()
    }

    /// What stands below the last final line: what may change, what is under way, and what all of it came to.
    fn below(&self) -> Vec<String> {
        let style = self.style();
        // What wraps cannot be taken back.
        if !self.live || style.width < NARROWEST {
            return Vec::new();
        }
        let frame = usize::try_from(self.began.elapsed().as_millis() / TICK.as_millis()).unwrap_or(0);
        let spinner = SPINNER.get(frame % SPINNER.len()).copied().unwrap_or('…');
        let held = self.board.held().map(|row| final_line(style, row));
        let open = self.board.calls.open().take(MOST_OPEN);
        let open = open.map(|open| style.open(&open.seen, spinner, open.asks, open.heard.elapsed()));
        let footer = self.footer().map(|line| style.aside(&line));
        held.chain(open).chain(footer).collect()
    }

    /// What all of it came to while it was watched.
    fn footer(&self) -> Option<String> {
        let Count { calls, failed, denied } = self.board.calls.count;
        let (open, paid) = (self.board.calls.open().count(), self.board.purse.paid());
        let asks = self.board.calls.open().filter(|open| open.asks).count();
        let mut words = vec![many(calls, "call")];
        words.extend((failed > 0).then(|| format!("{failed} failed")));
        words.extend((denied > 0).then(|| format!("{denied} denied")));
        words.extend((open > asks).then(|| format!("{} under way", open - asks)));
        words.extend((asks > 0).then(|| format!("{asks} waiting for a person: belljar approvals")));
        words.extend((paid.micros > 0).then(|| format!("{} tokens", thousands(paid.tokens))));
        words.extend((paid.micros > 0).then(|| dollars(paid.micros)));
        (calls + open > 0 || paid.micros > 0).then(|| words.join(" · "))
    }

    /// Says what is still under way, for nobody waits for it.
    fn leave(&mut self) -> io::Result<()> {
        let open: Vec<Row> =
            self.board.calls.open().map(|open| Row::Lost(Box::new(open.seen.clone()))).collect();
        self.live = false;
        self.print(&open)
    }
}

fn final_line(style: Style, row: &Row) -> String {
    match row {
        Row::Done(seen) => style.done(seen),
        Row::Lost(seen) => style.lost(seen),
    }
}
