//! `belljar events tail`: one line a call, as it happens. On a terminal the calls under way stand below and tick, above what
//! all of it came to.

use std::{
    io::{self, IsTerminal as _, Write as _},
    process::ExitCode,
    sync::{
        Arc,
        mpsc::{Receiver, RecvTimeoutError, sync_channel},
    },
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result};
use serde_json::Value;

use super::{
    calls::{Calls, Count, Row},
    line::{NARROWEST, Style, dollars},
    purse::Purse,
    source::{Seen, Source, place_of},
};
use crate::{args::TailEvents, context::Context, output::many, prices, terminal};

/// What agents do, and what is done to them.
const AGENTS: [&str; 10] = [
    "session",
    "prompt",
    "tool",
    "permission",
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
/// Where there is no window.
const WIDTH: usize = 120;

pub(super) fn tail(context: &Context, args: &TailEvents) -> Result<ExitCode> {
    let mut which = args.which.clone();
    if which.kind.is_empty() && !args.all {
        which.kind = AGENTS.map(str::to_owned).to_vec();
        // What a transcript tells of money is shown; to programs it is not what an agent did.
        which.kind.extend((!context.json).then(|| "transcript".to_owned()));
    }
    let (since, after) = (which.since, which.after);
    let source = Source::new(context, which, None);
    let mut screen = Screen::new(context);
    let mut place = after.unwrap_or(0);
    if since.is_some() || after.is_some() {
        loop {
            let page = source.after(place)?;
            let Some(last) = page.last().and_then(place_of) else { break };
            place = last;
            page.iter().try_for_each(|event| screen.show(&source, event))?;
        }
    } else {
        let mut newest = source.newest(None, usize::from(args.lines.max(1)))?;
        place = newest.first().and_then(place_of).unwrap_or(0);
        newest.truncate(usize::from(args.lines));
        newest.iter().rev().try_for_each(|event| screen.show(&source, event))?;
    }
    if args.no_follow {
        screen.settle()?;
        return Ok(ExitCode::SUCCESS);
    }
    screen.draw_open()?;
    let (send, events) = sync_channel(WAITING);
    let source = Arc::new(source);
    let own = Arc::clone(&source);
    let read = move || own.follow(place, |event| send.send(event).is_ok());
    // It ends with the program: it may wait for something that never happens.
    let reader = thread::Builder::new().name("events".to_owned()).spawn(read).context("follow events")?;
    match watch(&mut screen, &source, &events) {
        // Whoever reads our output no more has seen enough.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {}
        shown => {
            shown?;
            reader.join().unwrap_or(Ok(()))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn watch(screen: &mut Screen, source: &Source, events: &Receiver<Value>) -> io::Result<()> {
    loop {
        match events.recv_timeout(TICK) {
            Ok(event) => {
                screen.show(source, &event)?;
                // What waits already is shown before anything is drawn below it.
                while let Ok(event) = events.try_recv() {
                    screen.show(source, &event)?;
                }
                screen.draw_open()?;
            }
            Err(RecvTimeoutError::Timeout) => screen.draw_open()?,
            Err(RecvTimeoutError::Disconnected) => return Ok(()),
        }
    }
}

/// What is on the screen.
struct Screen {
    json: bool,
    live: bool,
    colour: bool,
    calls: Calls,
    purse: Purse,
    /// Lines drawn below the last final one.
    drawn: usize,
    began: Instant,
}

impl Screen {
    fn new(context: &Context) -> Self {
        let at_terminal = io::stdout().is_terminal();
        Self {
            json: context.json,
            live: at_terminal && !context.json,
            colour: context.colour(at_terminal),
            calls: Calls::default(),
            // A list that cannot be read is the server's to complain of.
            purse: Purse::new(prices::of(&context.home).unwrap_or_default()),
            drawn: 0,
            began: Instant::now(),
        }
    }

    fn style(&self) -> Style {
        let width = terminal::window().filter(|_| self.live).map_or(WIDTH, |window| usize::from(window.cols));
        Style { colour: self.colour, width }
    }

    fn show(&mut self, source: &Source, event: &Value) -> io::Result<()> {
        let Some(seen) = Seen::of(event).filter(|seen| source.wants(seen)) else { return Ok(()) };
        let mut out = io::stdout().lock();
        if self.json {
            writeln!(out, "{event}")?;
            return out.flush();
        }
        let style = self.style();
        let spent = |session: &str| source.spent(session);
        let rows = self.purse.take(seen, spent).map_or_else(Vec::new, |seen| self.calls.take(seen));
        if rows.is_empty() {
            return Ok(());
        }
        self.erase(&mut out)?;
        for row in rows {
            let line = match row {
                Row::Done(seen) => style.done(&seen),
                Row::Lost(seen) => style.lost(&seen),
            };
            writeln!(out, "{line}")?;
        }
        out.flush()
    }

    /// Draws the calls under way below everything else.
    fn draw_open(&mut self) -> io::Result<()> {
        if !self.live {
            return Ok(());
        }
        let (style, mut out) = (self.style(), io::stdout().lock());
        self.erase(&mut out)?;
        if style.width < NARROWEST {
            // What wraps cannot be taken back.
            return out.flush();
        }
        let frame = usize::try_from(self.began.elapsed().as_millis() / TICK.as_millis()).unwrap_or(0);
        let spinner = SPINNER.get(frame % SPINNER.len()).copied().unwrap_or('…');
        let mut drawn = 0;
        for open in self.calls.open().take(MOST_OPEN) {
            writeln!(out, "{}", style.open(&open.seen, spinner, open.heard.elapsed()))?;
            drawn += 1;
        }
        if let Some(line) = self.footer() {
            writeln!(out, "{}", style.aside(&line))?;
            drawn += 1;
        }
        self.drawn = drawn;
        out.flush()
    }

    /// What all of it came to while it was watched.
    fn footer(&self) -> Option<String> {
        let Count { calls, failed, denied } = self.calls.count;
        let (open, paid) = (self.calls.open().count(), self.purse.paid());
        let mut words = vec![many(calls, "call")];
        words.extend((failed > 0).then(|| format!("{failed} failed")));
        words.extend((denied > 0).then(|| format!("{denied} denied")));
        words.extend((open > 0).then(|| format!("{open} under way")));
        words.extend((paid > 0).then(|| dollars(paid)));
        (calls + open > 0 || paid > 0).then(|| words.join(" · "))
    }

    fn erase(&mut self, out: &mut impl io::Write) -> io::Result<()> {
        if self.drawn > 0 {
            write!(out, "\x1b[{}A\x1b[J", self.drawn)?;
            self.drawn = 0;
        }
        Ok(())
    }

    /// Says what is still under way, for nobody waits for it.
    fn settle(&mut self) -> io::Result<()> {
        let (style, mut out) = (self.style(), io::stdout().lock());
        self.erase(&mut out)?;
        if !self.json {
            for open in self.calls.open() {
                writeln!(out, "{}", style.lost(&open.seen))?;
            }
        }
        out.flush()
    }
}
