use crate::{
    deployments::{Deployments, Origin},
    endpoint::Endpoint,
    endpoints::Endpoints,
    error::{Code, Error, Reason},
    options::{ClientOptions, InvalidOption},
    rpc_error::{error_of, is_answer},
};
use std::{
    future::Future,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};
use tokio::time::{Instant, sleep_until, timeout_at};
use tonic::{Request, Response, Status, metadata::AsciiMetadataValue, transport::Channel};

const QUOTA_WAIT_MAX: Duration = Duration::from_secs(5);
const FOR_EVER: Duration = Duration::from_secs(30 * 86_400);

/// What each request of an attempt carries: the token.
#[derive(Clone)]
pub(crate) struct Stamp(Option<AsciiMetadataValue>);

impl Stamp {
    pub(crate) fn on<T>(&self, message: T) -> Request<T> {
        let mut request = Request::new(message);
        if let Some(token) = &self.0 {
            request.metadata_mut().insert("authorization", token.clone());
        }
        request
    }
}

/// How long a call and its attempts may take.
pub(crate) struct Limits {
    pub(crate) timeout: Duration,
    /// Of the first attempt; each one has twice as long as the one before, as far as it may.
    pub(crate) first_attempt: Duration,
}

/// Makes the calls of one client.
pub(crate) struct Attempts {
    pub(crate) options: ClientOptions,
    pub(crate) endpoints: Endpoints,
    deployments: Deployments,
    is_closed: AtomicBool,
    on_close: Mutex<Vec<OnClose>>,
}

/// Closes what was made over a client.
type OnClose = Box<dyn Fn() + Send + Sync>;

impl Attempts {
    pub(crate) fn new(options: ClientOptions) -> Result<Self, InvalidOption> {
        options.check()?;
        let endpoints = Endpoints::new(&options)?;
        let deployments = Deployments::new(options.deployment_numbers()?);
        Ok(Self { options, endpoints, deployments, is_closed: AtomicBool::new(false), on_close: Mutex::default() })
    }

    pub(crate) fn close(&self) {
        self.is_closed.store(true, Ordering::Relaxed);
        for close in self.on_close.lock().unwrap_or_else(PoisonError::into_inner).drain(..) {
            close();
        }
    }

    /// Has something closed with the client.
    pub(crate) fn on_close(&self, close: impl Fn() + Send + Sync + 'static) {
        self.on_close.lock().unwrap_or_else(PoisonError::into_inner).push(Box::new(close));
    }

    /// Fails with CLIENT_CLOSED.
    pub(crate) fn check_open(&self) -> Result<(), Error> {
        match self.is_closed.load(Ordering::Relaxed) {
            true => Err(Error::new(Reason::ClientClosed, Code::Cancelled, "The client is closed.")),
            false => Ok(()),
        }
    }

    /// The limits of a call.
    pub(crate) fn limits(&self) -> Limits {
        let ClientOptions { timeout, attempt_timeout, .. } = self.options;
        Limits { timeout, first_attempt: attempt_timeout }
    }

    /// Makes the attempts of one call.
    pub(crate) async fn call<R, F, Fut>(&self, limits: Limits, origin_of: fn(&R) -> Origin, rpc: F) -> Result<R, Error>
    where
        F: Fn(Channel, Stamp) -> Fut,
        Fut: Future<Output = Result<Response<R>, Status>>,
    {
        self.check_open()?;
        let deadline = Instant::now() + limits.timeout.min(FOR_EVER);
        self.deployments.meet(&self.endpoints, &self.stamp()?).await?;
        let mut limit = limits.first_attempt;
        let mut last: Option<Error> = None;
        let mut retries_left = self.options.retry_max;
        loop {
            let (endpoint, mut starts_at) = self.endpoints.choose();
            if let Some(quota) = last.as_ref().filter(|last| last.reason() == Reason::QuotaExceeded) {
                let asked = quota.delay().unwrap_or_default().min(QUOTA_WAIT_MAX);
                starts_at = Instant::now() + asked.mul_f64(1.0 + fastrand::f64() / 2.0);
            }
            if limits.timeout.is_zero() || starts_at >= deadline {
                return Err(last.unwrap_or_else(|| self.not_begun(limits.timeout)));
            }
            sleep_until(starts_at).await;
            let ends_at = deadline.min(Instant::now() + limit);
            limit = (2 * limit).min(self.options.attempt_timeout);
            let failure = match self.attempt(&endpoint, ends_at, origin_of, &rpc).await? {
                Ok(answer) => return Ok(answer),
                Err(failure) if Instant::now() >= deadline && failure.reason() == Reason::DeadlineExceeded => {
                    return Err(last.unwrap_or(failure));
                }
                Err(failure) => failure,
            };
            if !failure.is_retried() || failure.is_first_mistake() || retries_left == 0 {
                return Err(failure);
            }
            retries_left -= 1;
            last = Some(failure);
        }
    }

    /// One attempt. The outer error ends the call before anything is sent.
    async fn attempt<R, F, Fut>(
        &self,
        endpoint: &Arc<Endpoint>,
        ends_at: Instant,
        origin_of: fn(&R) -> Origin,
        rpc: &F,
    ) -> Result<Result<R, Error>, Error>
    where
        F: Fn(Channel, Stamp) -> Fut,
        Fut: Future<Output = Result<Response<R>, Status>>,
    {
        let stamp = self.stamp()?;
        let connection = endpoint.connection();
        connection.note_request();
        let outcome = timeout_at(ends_at, rpc(connection.channel.clone(), stamp)).await;
        let has_run_out = outcome.is_err();
        let failure = match outcome {
            Ok(Ok(answer)) => {
                connection.note_answer();
                let answer = answer.into_inner();
                match self.deployments.admit(endpoint, origin_of(&answer)) {
                    Ok(()) => {
                        self.endpoints.note_answer();
                        endpoint.note_success();
                        return Ok(Ok(answer));
                    }
                    Err(mismatch) => mismatch,
                }
            }
            Ok(Err(status)) => {
                if is_answer(&status) {
                    connection.note_answer();
                    self.endpoints.note_answer();
                } else {
                    connection.note_end();
                }
                error_of(&status, &endpoint.url)
            }
            Err(_) => Error::deadline("The server has not answered in time.").of(&endpoint.url),
        };
        if failure.reason() == Reason::QuotaExceeded || !failure.is_retried() {
            return Ok(Err(failure));
        }
        let failure = self.endpoints.note_failure(endpoint, &connection, failure);
        if has_run_out {
            endpoint.note_silence(&connection);
        }
        Ok(Err(failure))
    }

    /// What the requests of an attempt carry. Fails where there is no token that can be sent.
    pub(crate) fn stamp(&self) -> Result<Stamp, Error> {
        let Some(source) = &self.options.token else { return Ok(Stamp(None)) };
        let token = source();
        let token = token.trim();
        let is_plain = !token.is_empty() && token.bytes().all(|byte| (b' '..=b'~').contains(&byte));
        let value = AsciiMetadataValue::try_from(format!("Bearer {token}")).ok().filter(|_| is_plain);
        let refused = || {
            let text = "The token is not one line of printable ASCII characters.";
            Error::new(Reason::RpcFailed, Code::Unauthenticated, text)
        };
        value.map(|value| Stamp(Some(value))).ok_or_else(refused)
    }

    pub(crate) fn admit(&self, endpoint: &Endpoint, origin: Origin) -> Result<(), Error> {
        self.deployments.admit(endpoint, origin)
    }

    /// The error of a call that nobody was asked for.
    fn not_begun(&self, timeout: Duration) -> Error {
        if timeout.is_zero() {
            Error::deadline("The deadline of the call has passed.")
        } else {
            self.endpoints.last_failure()
        }
    }
}
