use std::{fmt, sync::Arc, time::Duration};

/// Gives the token of an attempt.
pub(crate) type TokenSource = Arc<dyn Fn() -> String + Send + Sync>;

/// Roots, and a certificate with its key for mutual TLS, as PEM.
#[derive(Clone, Default)]
pub struct Tls {
    /// The authorities to trust; none: the system's.
    pub roots: Option<Vec<u8>>,
    /// A certificate and its key.
    pub identity: Option<(Vec<u8>, Vec<u8>)>,
}

/// The options of a [`Client`](crate::Client).
///
/// ```
/// use snowlane::{Client, ClientOptions};
/// use std::time::Duration;
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() {
/// let options = ClientOptions::new(["http://127.0.0.1:7609", "http://127.0.0.1:7610"])
///     .timeout(Duration::from_secs(2))
///     .token(|| "secret".to_owned());
/// assert!(Client::with_options(options).is_ok());
/// assert!(Client::new("127.0.0.1:7609").is_err());
/// # }
/// ```
#[derive(Clone)]
pub struct ClientOptions {
    pub(crate) endpoints: Vec<String>,
    pub(crate) tls: Tls,
    pub(crate) token: Option<TokenSource>,
    pub(crate) insecure_token: bool,
    pub(crate) timeout: Duration,
    pub(crate) attempt_timeout: Duration,
    pub(crate) retry_max: u32,
    pub(crate) deployments: Vec<String>,
}

impl ClientOptions {
    /// One or more of `http://HOST:PORT` (plaintext), `https://HOST:PORT` (TLS), `unix:/PATH` (a socket of this
    /// machine); they must serve one deployment.
    pub fn new<I: IntoIterator<Item: Into<String>>>(endpoints: I) -> Self {
        Self {
            endpoints: endpoints.into_iter().map(Into::into).collect(),
            tls: Tls::default(),
            token: None,
            insecure_token: false,
            timeout: Duration::from_secs(5),
            attempt_timeout: Duration::from_secs(2),
            retry_max: 3,
            deployments: Vec::new(),
        }
    }

    /// Roots and certificate of `https://` endpoints; default: the system's roots.
    pub fn tls(self, tls: Tls) -> Self {
        Self { tls, ..self }
    }

    /// Asked for each attempt; sent as `authorization: Bearer TOKEN`, without white space around it.
    pub fn token(self, source: impl Fn() -> String + Send + Sync + 'static) -> Self {
        Self { token: Some(Arc::new(source)), ..self }
    }

    /// Lets a token go over `http://` to another machine.
    pub fn insecure_token(self, insecure_token: bool) -> Self {
        Self { insecure_token, ..self }
    }

    /// Deadline of a call, with every attempt and every wait; default: 5 s.
    pub fn timeout(self, timeout: Duration) -> Self {
        Self { timeout, ..self }
    }

    /// The most that one attempt may take; default: 2 s.
    pub fn attempt_timeout(self, attempt_timeout: Duration) -> Self {
        Self { attempt_timeout, ..self }
    }

    /// Attempts after the first, 0 to 3; default: 3.
    pub fn retry_max(self, retry_max: u32) -> Self {
        Self { retry_max, ..self }
    }

    /// Fingerprints of the deployments whose IDs may be used, as `snowlane doctor` shows them; default: the first that
    /// answers.
    pub fn deployments<I: IntoIterator<Item: Into<String>>>(self, deployments: I) -> Self {
        Self { deployments: deployments.into_iter().map(Into::into).collect(), ..self }
    }

    /// Numbers of the deployments that may be used.
    pub(crate) fn deployment_numbers(&self) -> Result<Vec<u32>, InvalidOption> {
        let number = |text: &String| text.get(..8).and_then(|digits| u32::from_str_radix(digits, 16).ok());
        self.deployments
            .iter()
            .map(|text| {
                number(text).ok_or(InvalidOption("deployments has fingerprints, as snowlane doctor shows them"))
            })
            .collect()
    }

    pub(crate) fn check(&self) -> Result<(), InvalidOption> {
        if self.endpoints.is_empty() {
            return Err(InvalidOption("endpoints needs at least one endpoint"));
        }
        if self.attempt_timeout.is_zero() {
            return Err(InvalidOption("attempt_timeout must be above 0"));
        }
        if self.retry_max > 3 {
            return Err(InvalidOption("retry_max must be from 0 to 3"));
        }
        self.deployment_numbers()?;
        self.endpoints.iter().try_for_each(|endpoint| self.check_endpoint(endpoint))
    }

    fn check_endpoint(&self, endpoint: &str) -> Result<(), InvalidOption> {
        const UNFIT: InvalidOption = InvalidOption("an endpoint is http://HOST:PORT, https://HOST:PORT or unix:/PATH");
        if endpoint.starts_with("unix:/") {
            return Ok(());
        }
        let uri: tonic::transport::Uri = endpoint.parse().map_err(|_| UNFIT)?;
        let has_user = uri.authority().is_some_and(|authority| authority.as_str().contains('@'));
        let has_path = uri.path_and_query().is_some_and(|path| path.as_str() != "/");
        let host = uri.host().ok_or(UNFIT)?;
        match uri.scheme_str() {
            Some("http" | "https") if !has_user && !has_path => {}
            _ => return Err(UNFIT),
        }
        if uri.scheme_str() == Some("https") && !cfg!(feature = "tls") {
            return Err(InvalidOption("https:// needs the feature tls of the crate"));
        }
        let is_loopback = host == "localhost" || host == "[::1]" || host.starts_with("127.");
        if self.token.is_some() && !self.insecure_token && uri.scheme_str() == Some("http") && !is_loopback {
            return Err(InvalidOption(
                "a token over http:// can be read on the way: begin the endpoint with https://, or set insecure_token",
            ));
        }
        Ok(())
    }
}

/// Says which option cannot be, without its value.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct InvalidOption(pub(crate) &'static str);

impl fmt::Display for InvalidOption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Wrong option: {}.", self.0)
    }
}

/// As [`fmt::Display`]: a `main` that fails shows it so.
impl fmt::Debug for InvalidOption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for InvalidOption {}
