use crate::{
    connection::Connection,
    endpoint::{Endpoint, nobody},
    error::Error,
    options::{ClientOptions, InvalidOption},
};
use std::{
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};
use tokio::time::Instant;

const PAUSE_MAX: Duration = Duration::from_millis(20);
const STAY_MIN: Duration = Duration::from_secs(300);
const STAY_MAX: Duration = Duration::from_secs(900);

/// The servers of a client: which one is asked, and when.
pub(crate) struct Endpoints {
    pub(crate) all: Vec<Arc<Endpoint>>,
    choice: Mutex<Choice>,
    has_answered: AtomicBool,
}

struct Choice {
    current: usize,
    moves_at: Instant,
}

impl Endpoints {
    pub(crate) fn new(options: &ClientOptions) -> Result<Self, InvalidOption> {
        let mut all = Vec::new();
        for url in &options.endpoints {
            let url = url.strip_suffix('/').unwrap_or(url);
            if all.iter().all(|one: &Arc<Endpoint>| one.url != url) {
                all.push(Arc::new(Endpoint::new(url, options)?));
            }
        }
        let choice = Choice { current: fastrand::usize(..all.len()), moves_at: next_move() };
        Ok(Self { all, choice: Mutex::new(choice), has_answered: AtomicBool::new(false) })
    }

    /// Whom to ask, and when.
    pub(crate) fn choose(&self) -> (Arc<Endpoint>, Instant) {
        let now = Instant::now();
        let is_up = |index: &usize| self.all[*index].down_until().is_none_or(|until| until <= now);
        let up: Vec<usize> = (0..self.all.len()).filter(is_up).collect();
        let mut choice = self.choice.lock().unwrap_or_else(PoisonError::into_inner);
        if now >= choice.moves_at {
            choice.moves_at = next_move();
            choice.current = fastrand::choice(&up).copied().unwrap_or(choice.current);
        }
        let at = if up.contains(&choice.current) {
            now
        } else if let Some(&other) = fastrand::choice(&up) {
            choice.current = other;
            now + PAUSE_MAX.mul_f64(fastrand::f64())
        } else {
            let until = |index: &usize| self.all[*index].down_until().unwrap_or(now);
            choice.current = (0..self.all.len()).min_by_key(until).unwrap_or(choice.current);
            until(&choice.current)
        };
        (Arc::clone(&self.all[choice.current]), at)
    }

    /// The last failure of the endpoint in use.
    pub(crate) fn last_failure(&self) -> Error {
        let current = self.choice.lock().unwrap_or_else(PoisonError::into_inner).current;
        self.all[current].last_failure().unwrap_or_else(nobody)
    }

    /// Takes note that a server of ours answered, with success or an error.
    pub(crate) fn note_answer(&self) {
        self.has_answered.store(true, Ordering::Relaxed);
    }

    /// Takes note of a failure for which an endpoint is left. Gives what the caller is to see of it.
    pub(crate) fn note_failure(&self, endpoint: &Endpoint, connection: &Connection, failure: Error) -> Error {
        let is_first = !self.has_answered.load(Ordering::Relaxed);
        endpoint.note_failure(connection.number, &failure, is_first);
        let is_mistake = |one: &Arc<Endpoint>| one.last_failure().is_some_and(|last| last.is_absence());
        if is_first && self.all.iter().all(is_mistake) { failure.before_first_answer() } else { failure }
    }
}

fn next_move() -> Instant {
    Instant::now() + STAY_MIN + (STAY_MAX - STAY_MIN).mul_f64(fastrand::f64())
}
