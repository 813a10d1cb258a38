use hyper_util::client::legacy::connect::HttpConnector;
use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};
use tokio::time::Instant;
use tonic::transport::{Channel, Endpoint as Target, Uri};
use tower::{Service, service_fn};

/// A connection that has not answered yet is left alone for this long.
const NEW_FOR: Duration = Duration::from_secs(10);

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
    pub(crate) fn new(target: &Target, connect_timeout: Duration, number: u64) -> Self {
        let health = Health { opened_at: Instant::now(), silent_since: None, has_answered: false };
        let health = Arc::new(Mutex::new(health));
        let channel = target.connect_with_connector_lazy(service_fn({
            let (health, mut tcp) = (health.clone(), tcp_connector(connect_timeout));
            move |uri: Uri| {
                let mut health = locked(&health);
                (health.opened_at, health.has_answered) = (Instant::now(), false);
                tcp.call(uri)
            }
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

/// What a channel connects by. The timeout is that of TCP alone: a TLS handshake with a busy server may take longer.
pub(crate) fn tcp_connector(connect_timeout: Duration) -> HttpConnector {
    let mut tcp = HttpConnector::new();
    tcp.enforce_http(false);
    tcp.set_nodelay(true);
    tcp.set_connect_timeout(Some(connect_timeout));
    tcp
}
