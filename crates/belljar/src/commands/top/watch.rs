//! The threads that ask, so that the one that draws never waits: one looks and acts, one follows what happens.
//!
//! Both end with the channels they write to. They may be waiting for a server then, so nobody waits for them.

use std::{
    io::Write as _,
    sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TryRecvError, sync_channel},
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result};
use belljar_domain::KillCause;

use super::{
    look::{Look, Looker},
    screen::{Act, Mode, Screen},
};
use crate::{
    client::{Client, Event, Happening},
    commands::inspect,
    context::Context,
    killswitch,
};

/// How long to wait for a server that is not there.
const AGAIN: Duration = Duration::from_secs(2);
/// The most that waits to be drawn.
const WAITING: usize = 256;

/// News for the screen.
enum News {
    Look(Box<Look>),
    Event(Box<Event>),
    /// What came of something asked for, or went wrong.
    Word(String),
    /// What is known of a sandbox, in lines.
    Inspected(Vec<String>),
}

/// The threads, seen from the one that draws.
pub(super) struct Watch {
    news: Receiver<News>,
    acts: SyncSender<Act>,
}

impl Watch {
    pub(super) fn begin(context: &Context, agent: Option<String>, interval: Duration) -> Result<Self> {
        let looker = Looker::open(context, agent)?;
        let (tell, news) = sync_channel(WAITING);
        let (acts, asked) = sync_channel(WAITING);
        let follower = Follower { home: context.home.clone(), remote: context.remote()?, tell: tell.clone() };
        let worker = Worker { looker, context: context.clone(), interval, asked, tell };
        start("top-look", move || worker.run())?;
        start("top-events", move || follower.run())?;
        Ok(Self { news, acts })
    }

    /// Puts what is new on the screen; says whether anything was.
    pub(super) fn news(&self, screen: &mut Screen) -> bool {
        let mut any = false;
        loop {
            match self.news.try_recv() {
                Ok(News::Look(look)) => screen.show(*look),
                Ok(News::Event(event)) => screen.happened(*event),
                Ok(News::Word(word)) => screen.word = word,
                Ok(News::Inspected(text)) => screen.mode = Mode::Inspect { text, from: 0 },
                Err(TryRecvError::Empty | TryRecvError::Disconnected) => return any,
            }
            any = true;
        }
    }

    /// Has something done.
    pub(super) fn ask(&self, act: Act, screen: &mut Screen) {
        if self.acts.try_send(act).is_err() {
            "busy; try again".clone_into(&mut screen.word);
        }
    }
}

fn start(name: &str, body: impl FnOnce() + Send + 'static) -> Result<()> {
    thread::Builder::new().name(name.to_owned()).spawn(body).context("start a thread")?;
    Ok(())
}

struct Worker {
    looker: Looker,
    context: Context,
    interval: Duration,
    asked: Receiver<Act>,
    tell: SyncSender<News>,
}

impl Worker {
    fn run(mut self) {
        loop {
            let begun = Instant::now();
            let news = match self.looker.look() {
                Ok(look) => News::Look(Box::new(look)),
                Err(error) => News::Word(format!("{error:#}")),
            };
            if self.tell.send(news).is_err() || !self.wait(begun + self.interval) {
                return;
            }
        }
    }

    /// Acts on what is asked for until it is time to look again, or at once after an act. `false`: nobody is there.
    fn wait(&mut self, until: Instant) -> bool {
        match self.asked.recv_timeout(until.saturating_duration_since(Instant::now())) {
            Ok(act) => {
                let news = self.act(act).unwrap_or_else(|error| News::Word(format!("{error:#}")));
                self.tell.send(news).is_ok()
            }
            Err(RecvTimeoutError::Timeout) => true,
            Err(RecvTimeoutError::Disconnected) => false,
        }
    }

    fn act(&self, act: Act) -> Result<News> {
        let sandboxes = &self.looker.sandboxes;
        Ok(News::Word(match act {
            Act::Pause(id) => format!("{} is {}", id.short(), sandboxes.pause(id)?),
            Act::Resume(id) => format!("{} is {}", id.short(), sandboxes.resume(id)?),
            Act::End(id) => {
                let seen = sandboxes.look(id)?;
                if sandboxes.end(&seen)? {
                    killswitch::tell(&self.context.config.handlers, &seen, KillCause::Killswitch, None);
                }
                format!("ended {}", id.short())
            }
            Act::Inspect(id) => {
                let seen = sandboxes.look(id)?;
                let usage = sandboxes.usage(id).ok();
                let mut text = Vec::new();
                inspect::tell(&mut text, "", &inspect::everything(&self.context, &seen, usage.as_ref()))?;
                text.flush()?;
                let lines = String::from_utf8_lossy(&text).lines().map(str::to_owned).collect();
                return Ok(News::Inspected(lines));
            }
        }))
    }
}

struct Follower {
    home: std::path::PathBuf,
    remote: Option<Client>,
    tell: SyncSender<News>,
}

impl Follower {
    /// Follows the server, and the next one when it ends.
    fn run(self) {
        loop {
            let followed = match &self.remote {
                Some(server) => self.follow(server),
                None => Client::at_home(&self.home).map_or(Ok(true), |server| self.follow(&server)),
            };
            // What was lost in between comes with the next look.
            if matches!(followed, Ok(false)) {
                return;
            }
            thread::sleep(AGAIN);
        }
    }

    /// `false`: nobody is there to be told.
    fn follow(&self, server: &Client) -> Result<bool> {
        let mut stream = server.follow(&[])?;
        while let Happening::Event(event) = stream.next()? {
            if self.tell.send(News::Event(event)).is_err() {
                return Ok(false);
            }
        }
        Ok(true)
    }
}
