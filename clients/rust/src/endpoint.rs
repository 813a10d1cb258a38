use crate::{
    connection::{Connection, NoteOpening},
    error::{Code, Error, Reason},
    options::{ClientOptions, InvalidOption},
};
use hyper_util::client::legacy::connect::HttpConnector;
use std::{
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};
use tokio::time::Instant;
use tonic::transport::{Channel, Endpoint as Target, Uri};
use tower::{Service, service_fn};

const BACK_OFF: Duration = Duration::from_millis(100);
const BACK_OFF_MAX: Duration = Duration::from_secs(2);
const RETRY_INFO_MAX: Duration = Duration::from_secs(1);
const SILENCE: Duration = Duration::from_secs(1);
const SILENCE_MAX: Duration = Duration::from_secs(8);

/// One server, its connection, and how it has been doing.
pub(crate) struct Endpoint {
    pub(crate) url: String,
    target: Target,
    connect_timeout: Duration,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    down_until: Option<Instant>,
    failures_in_row: u32,
    last_failure: Option<Error>,
    connection: Option<Connection>,
    made: u64,
    /// Connections in a row that were replaced and brought no answer.
    replaced_in_row: u32,
}

impl Endpoint {
    pub(crate) fn new(url: &str, options: &ClientOptions) -> Result<Self, InvalidOption> {
        const UNFIT: InvalidOption = InvalidOption("an endpoint is not a URL");
        let target = Target::from_shared(url.to_owned()).map_err(|_| UNFIT)?;
        let target = if url.starts_with("https:") { with_tls(target, options)? } else { target };
        let connect_timeout = options.attempt_timeout;
        Ok(Self { url: url.to_owned(), target, connect_timeout, state: Mutex::default() })
    }

    /// The connection in use.
    pub(crate) fn connection(&self) -> Connection {
        let mut state = self.state();
        if let Some(connection) = &state.connection {
            return connection.clone();
        }
        state.made += 1;
        let connection = Connection::new(state.made, |note_opening| self.channel(note_opening));
        state.connection = Some(connection.clone());
        connection
    }

    /// A connection apart, for a stream.
    pub(crate) fn channel_apart(&self) -> Channel {
        self.channel(Box::new(|| {}))
    }

    /// The timeout is that of TCP alone: a TLS handshake with a busy server may take longer.
    fn channel(&self, mut note_opening: NoteOpening) -> Channel {
        if self.url.starts_with("unix:") {
            return self.target.connect_lazy();
        }
        let mut tcp = HttpConnector::new();
        tcp.enforce_http(false);
        tcp.set_nodelay(true);
        tcp.set_connect_timeout(Some(self.connect_timeout));
        self.target.connect_with_connector_lazy(service_fn(move |uri: Uri| {
            note_opening();
            tcp.call(uri)
        }))
    }

    pub(crate) fn down_until(&self) -> Option<Instant> {
        self.state().down_until
    }

    pub(crate) fn last_failure(&self) -> Option<Error> {
        self.state().last_failure.clone()
    }

    pub(crate) fn note_success(&self) {
        let mut state = self.state();
        (state.failures_in_row, state.replaced_in_row) = (0, 0);
        (state.down_until, state.last_failure) = (None, None);
    }

    /// Takes note of a failure of a connection. One that has been replaced does not count.
    pub(crate) fn note_failure(&self, number: u64, failure: &Error, is_first: bool) {
        let mut state = self.state();
        if state.connection.as_ref().is_none_or(|connection| connection.number != number) {
            return;
        }
        state.failures_in_row += 1;
        if is_first && failure.is_absence() {
            state.failures_in_row = state.failures_in_row.min(2);
        }
        let delay = back_off(state.failures_in_row).max(failure.delay().unwrap_or_default().min(RETRY_INFO_MAX));
        state.down_until = Some(Instant::now() + delay);
        state.last_failure = Some(failure.clone());
    }

    /// Leaves a connection that has answered nothing for too long.
    pub(crate) fn note_silence(&self, connection: &Connection) {
        let mut state = self.state();
        if state.connection.as_ref().is_none_or(|present| present.number != connection.number) {
            return;
        }
        let silence = (SILENCE * 2u32.pow(state.replaced_in_row.min(3))).min(SILENCE_MAX);
        if connection.is_dark(silence) {
            state.connection = None;
            state.replaced_in_row += 1;
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A time drawn evenly from 0 to a bound that doubles with each failure in a row.
pub(crate) fn back_off(failures_in_row: u32) -> Duration {
    (BACK_OFF * 2u32.pow(failures_in_row.min(10))).min(BACK_OFF_MAX).mul_f64(fastrand::f64())
}

#[cfg(feature = "tls")]
fn with_tls(target: Target, options: &ClientOptions) -> Result<Target, InvalidOption> {
    use tonic::transport::{Certificate, ClientTlsConfig, Identity};
    let mut config = ClientTlsConfig::new();
    config = match &options.tls.roots {
        Some(roots) => config.ca_certificate(Certificate::from_pem(roots)),
        None => config.with_native_roots(),
    };
    if let Some((certificate, key)) = &options.tls.identity {
        config = config.identity(Identity::from_pem(certificate, key));
    }
    target.tls_config(config).map_err(|_| InvalidOption("tls has something that is not PEM, or not a certificate"))
}

#[cfg(not(feature = "tls"))]
fn with_tls(_: Target, _: &ClientOptions) -> Result<Target, InvalidOption> {
    Err(InvalidOption("https:// needs the feature tls of the crate"))
}

/// Where all are down, and nobody has said why.
pub(crate) fn nobody() -> Error {
    Error::new(Reason::Unreachable, Code::Unavailable, "The server does not answer.")
}
