use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};
use tokio::time::Instant;
use tonic::transport::Channel;

/// A connection that has not answered yet is left alone for this long.
const NEW_FOR: Duration = Duration::from_secs(10);

/// Takes note that the library begins to connect.
pub(crate) type NoteOpening = Box<dyn FnMut() + Send>;

/// One connection of an endpoint, and how long it has been silent.
#[derive(Clone)]
pub(crate) struct Connection {
    pub(crate) channel: Channel,
    pub(crate) number: u64,
    health: Arc<Mutex<Health>>,
}

struct Health {
    /// When the library last began to connect.
    opened_at: Instant,
    /// Since when it owes an answer.
    silent_since: Option<Instant>,
    has_answered: bool,
}

impl Connection {
    /// Makes a connection that opens with its first request. After its end the library opens it again for the next one.
    ///
    /// - `open`: makes the channel, which says each time that it begins to connect.
    pub(crate) fn new(number: u64, open: impl FnOnce(NoteOpening) -> Channel) -> Self {
        let health = Health { opened_at: Instant::now(), silent_since: None, has_answered: false };
        let health = Arc::new(Mutex::new(health));
        let noted = health.clone();
        let channel = open(Box::new(move || {
            let mut health = locked(&noted);
            (health.opened_at, health.has_answered) = (Instant::now(), false);
        }));
        Self { channel, number, health }
    }

    pub(crate) fn note_request(&self) {
        self.health().silent_since.get_or_insert_with(Instant::now);
    }

    pub(crate) fn note_answer(&self) {
        let mut health = self.health();
        (health.silent_since, health.has_answered) = (None, true);
    }

    /// Takes note that it broke, and owes no answer any more.
    pub(crate) fn note_end(&self) {
        *self.health() = Health { opened_at: Instant::now(), silent_since: None, has_answered: false };
    }

    /// Whether another one is to take its place, after a request that had no answer in time.
    pub(crate) fn is_dark(&self, silence: Duration) -> bool {
        let health = self.health();
        let is_old = health.has_answered || health.opened_at.elapsed() >= NEW_FOR;
        is_old && health.silent_since.is_some_and(|since| since.elapsed() >= silence)
    }

    fn health(&self) -> MutexGuard<'_, Health> {
        locked(&self.health)
    }
}

fn locked(health: &Mutex<Health>) -> MutexGuard<'_, Health> {
    health.lock().unwrap_or_else(PoisonError::into_inner)
}
