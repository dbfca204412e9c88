//! Booths: threads that serve one connection each, all by themselves. A request is read, carried out and answered without
//! waking anybody but its client; on a quiet machine, handing it from thread to thread takes longer than most requests do.
//!
//! Owns: the threads, and that what a handler starts beside itself is the server's and not its own. Refuses: to be many:
//! where lots of clients talk at once the shared reactor does more with less, so it has all the others.

use std::{
    cell::Cell,
    num::NonZeroU64,
    panic::{AssertUnwindSafe, catch_unwind},
    pin::Pin,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        mpsc::{Receiver, Sender, channel},
    },
    task::{Context, Poll},
    thread,
    time::Duration,
};

use tokio::{
    runtime::{Builder, Handle, Runtime},
    sync::oneshot,
};

/// The most booths at one time.
const MOST: usize = 16;
/// How long one waits for another connection.
const PATIENCE: Duration = Duration::from_secs(5);

/// Which booth.
pub(crate) type Number = NonZeroU64;

thread_local! {
    static HERE: Cell<Option<Number>> = const { Cell::new(None) };
}

/// The booth this thread is, if it is one: there, blocking keeps nobody else waiting.
pub(crate) fn here() -> Option<Number> {
    HERE.get()
}

type Job = Box<dyn FnOnce(&Runtime) + Send>;

/// The booths.
#[derive(Debug, Clone, Default)]
pub(super) struct Booths(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    count: usize,
    made: u64,
    /// Those without a connection; the last that became free is the first to be taken.
    idle: Vec<Booth>,
}

/// A booth that waits for a connection.
#[derive(Debug, Clone)]
pub(super) struct Booth {
    number: Number,
    jobs: Sender<Job>,
}

impl Booth {
    /// Serves a connection; the answer comes when that is over.
    pub(super) fn serve<F: Future<Output = ()>>(
        self,
        serve: impl FnOnce() -> F + Send + 'static,
    ) -> oneshot::Receiver<()> {
        let (over, ended) = oneshot::channel();
        let job = move |runtime: &Runtime| {
            runtime.block_on(async { serve().await });
            drop(over);
        };
        // Where nobody is there to do it, it is over at once.
        drop(self.jobs.send(Box::new(job)));
        ended
    }
}

impl Booths {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A booth for one connection, if there is room for one.
    pub(super) fn free(&self) -> Option<Booth> {
        let mut state = self.state();
        if let Some(booth) = state.idle.pop() {
            return Some(booth);
        }
        if state.count >= MOST {
            return None;
        }
        let runtime = Builder::new_current_thread().enable_all().build().ok()?;
        let number = Number::new(state.made + 1)?;
        let (jobs, work) = channel();
        let (booths, booth) = (self.clone(), Booth { number, jobs });
        let own = booth.clone();
        let thread = thread::Builder::new().name("booth".to_owned());
        thread.spawn(move || booths.work(&own, &work, &runtime)).ok()?;
        state.made += 1;
        state.count += 1;
        Some(booth)
    }

    /// The thread of one booth, until nobody has come for a while.
    fn work(&self, own: &Booth, jobs: &Receiver<Job>, runtime: &Runtime) {
        HERE.set(Some(own.number));
        loop {
            if let Ok(job) = jobs.recv_timeout(PATIENCE) {
                // A connection that panics has said so; the next is another's.
                let _said = catch_unwind(AssertUnwindSafe(|| job(runtime)));
                self.state().idle.push(own.clone());
                continue;
            }
            let mut state = self.state();
            if let Some(place) = state.idle.iter().position(|idle| idle.number == own.number) {
                state.idle.remove(place);
                state.count -= 1;
                return;
            }
            // Somebody took it just now, and is about to say what for.
        }
    }
}

/// What a handler does, done as if it were on the shared reactor: tasks it starts, and what those open, outlive the booth's
/// own connection.
pub(super) struct Elsewhere<F> {
    reactor: Handle,
    inner: Pin<Box<F>>,
}

impl<F: Future> Elsewhere<F> {
    pub(super) fn new(reactor: Handle, inner: F) -> Self {
        Self { reactor, inner: Box::pin(inner) }
    }
}

impl<F: Future> Future for Elsewhere<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, ctx: &mut Context<'_>) -> Poll<F::Output> {
        let Self { reactor, inner } = &mut *self;
        let _there = reactor.enter();
        inner.as_mut().poll(ctx)
    }
}

#[cfg(test)]
mod tests {
    use tokio::{
        io::{AsyncReadExt as _, AsyncWriteExt as _},
        net::{TcpListener, TcpStream},
    };

    use super::{
        super::roaming::{Roaming, Socket as _},
        *,
    };

    #[tokio::test]
    async fn a_booth_is_one_thread_and_free_again_when_its_connection_is_over() {
        let booths = Booths::default();
        let taken: Vec<_> = std::iter::from_fn(|| booths.free()).collect();
        assert_eq!(taken.len(), MOST);
        let (tell, mut told) = tokio::sync::mpsc::channel(MOST);
        let ended: Vec<_> = taken
            .into_iter()
            .map(|booth| {
                let tell = tell.clone();
                booth.serve(move || async move { tell.try_send(here()).unwrap() })
            })
            .collect();
        let mut seen = std::collections::HashSet::new();
        for ended in ended {
            seen.insert(told.recv().await.unwrap().unwrap());
            ended.await.unwrap_err();
        }
        assert_eq!((seen.len(), here()), (MOST, None));
        while booths.state().idle.len() < MOST {
            tokio::task::yield_now().await;
        }
        assert!(seen.contains(&booths.free().unwrap().number));
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 1)]
    async fn what_a_handler_starts_outlives_its_booth_and_may_take_the_connection_along() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let mut client = TcpStream::connect(address).await.unwrap();
        let stream = listener.accept().await.unwrap().0.leave().unwrap();
        let reactor = Handle::current();
        let serve = move || async move {
            let mut stream = Roaming::new(TcpStream::join(stream).unwrap());
            let mut word = [0; 2];
            stream.read_exact(&mut word).await.unwrap();
            stream.write_all(&word).await.unwrap();
            let handler = async move {
                drop(tokio::spawn(async move {
                    assert_eq!(here(), None);
                    stream.read_exact(&mut word).await.unwrap();
                    stream.write_all(&word).await.unwrap();
                }));
            };
            Elsewhere::new(reactor, handler).await;
        };
        let ended = Booths::default().free().unwrap().serve(serve);
        let mut heard = [0; 2];
        client.write_all(b"hi").await.unwrap();
        client.read_exact(&mut heard).await.unwrap();
        ended.await.unwrap_err();
        client.write_all(b"ho").await.unwrap();
        client.read_exact(&mut heard).await.unwrap();
        assert_eq!(&heard, b"ho");
    }
}
