use std::{collections::BTreeMap, fmt, time::Duration};

/// The gRPC code of an [`Error`].
pub use tonic::Code;

/// Makes the reasons, and how each is written.
macro_rules! reasons {
    ($($(#[$doc:meta])* $name:ident = $text:literal,)*) => {
        /// Why a call failed. Match on it, never on the text of a message. docs/errors.md says for each of the servers'
        /// what to do.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Reason { $($(#[$doc])* $name,)* }

        impl Reason {
            /// As it is written on the wire, such as `QUOTA_EXCEEDED`.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$name => $text,)* }
            }

            pub(crate) fn of(text: &str) -> Option<Self> {
                match text { $($text => Some(Self::$name),)* _ => None }
            }
        }
    };
}

reasons! {
    /// A count is out of its range.
    CountOutOfRange = "COUNT_OUT_OF_RANGE",
    /// A number is not an ID.
    MalformedId = "MALFORMED_ID",
    /// A text is not an ID.
    MalformedText = "MALFORMED_TEXT",
    /// A text is an ID in two forms.
    AmbiguousText = "AMBIGUOUS_TEXT",
    /// A layout cannot be.
    InvalidLayout = "INVALID_LAYOUT",
    /// A format of a text cannot be.
    InvalidTextFormat = "INVALID_TEXT_FORMAT",
    /// A range of times is empty.
    InvalidTimeRange = "INVALID_TIME_RANGE",
    /// The server does not know the caller.
    MissingCredentials = "MISSING_CREDENTIALS",
    /// The caller may not call this method.
    MethodDenied = "METHOD_DENIED",
    /// The server does not answer under this host name.
    HostNotAllowed = "HOST_NOT_ALLOWED",
    /// The caller's quota is used up.
    QuotaExceeded = "QUOTA_EXCEEDED",
    /// The server's clock went back.
    ClockRolledBack = "CLOCK_ROLLED_BACK",
    /// More IDs were asked for than the server makes at a time.
    BurstExceeded = "BURST_EXCEEDED",
    /// The server has lost its worker ID.
    WorkerLeaseLost = "WORKER_LEASE_LOST",
    /// The server's window has passed.
    WindowExpired = "WINDOW_EXPIRED",
    /// The server's store does not answer.
    StoreUnavailable = "STORE_UNAVAILABLE",
    /// The server is shutting down.
    ShuttingDown = "SHUTTING_DOWN",
    /// A stream was read too slowly.
    StreamStalled = "STREAM_STALLED",
    /// The life of the layout has ended.
    TimestampExhausted = "TIMESTAMP_EXHAUSTED",
    /// The server's clock is before the epoch.
    ClockBeforeEpoch = "CLOCK_BEFORE_EPOCH",
    /// All worker IDs are taken.
    NoFreeWorkerId = "NO_FREE_WORKER_ID",
    /// The store belongs to another layout.
    LayoutMismatch = "LAYOUT_MISMATCH",
    /// The store has lost what it knew.
    StoreWentBack = "STORE_WENT_BACK",
    /// The server's settings cannot be.
    InvalidConfig = "INVALID_CONFIG",
    /// There is no sequence of this name.
    SequenceNotFound = "SEQUENCE_NOT_FOUND",
    /// There is a sequence of this name already.
    SequenceExists = "SEQUENCE_EXISTS",
    /// The sequence is switched off.
    SequenceDisabled = "SEQUENCE_DISABLED",
    /// Somebody else changed the sequence.
    SequenceChanged = "SEQUENCE_CHANGED",
    /// A sequence cannot be, or lacks what a call needs.
    InvalidSequence = "INVALID_SEQUENCE",
    /// The sequence has no values left.
    ValuesExhausted = "VALUES_EXHAUSTED",
    /// The period is closed.
    PeriodClosed = "PERIOD_CLOSED",
    /// No endpoint that was tried answered, or one was unavailable and gave no reason. By the client, as all below.
    Unreachable = "UNREACHABLE",
    /// The deadline of the call passed, and no attempt had failed otherwise.
    DeadlineExceeded = "DEADLINE_EXCEEDED",
    /// The endpoints serve two deployments, whose IDs can be equal.
    DeploymentMismatch = "DEPLOYMENT_MISMATCH",
    /// The client or the buffer is closed.
    ClientClosed = "CLIENT_CLOSED",
    /// Nothing is in stock, and the call does not wait.
    StockEmpty = "STOCK_EMPTY",
    /// A server's answer breaks its contract; no ID of it is used.
    InvalidResponse = "INVALID_RESPONSE",
    /// Any other status, or one with a reason that this client does not know, which then is in the metadata.
    RpcFailed = "RPC_FAILED",
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The one error of this client. As a string it is `REASON: text (endpoint)`.
#[derive(Clone)]
pub struct Error(Box<Parts>);

#[derive(Clone)]
struct Parts {
    reason: Reason,
    code: Code,
    message: String,
    metadata: BTreeMap<String, String>,
    retry_after: Option<Duration>,
    endpoint: Option<String>,
}

impl Error {
    pub(crate) fn new(reason: Reason, code: Code, message: impl Into<String>) -> Self {
        Self(Box::new(Parts {
            reason,
            code,
            message: message.into(),
            metadata: BTreeMap::new(),
            retry_after: None,
            endpoint: None,
        }))
    }

    pub(crate) fn invalid(message: impl Into<String>) -> Self {
        Self::new(Reason::InvalidResponse, Code::Internal, message)
    }

    pub(crate) fn deadline(message: impl Into<String>) -> Self {
        Self::new(Reason::DeadlineExceeded, Code::DeadlineExceeded, message)
    }

    pub(crate) fn count_out_of_range(count: u64, count_max: u64, hint: &str) -> Self {
        let message = format!("The count {count} is not from 1 to {count_max}.{hint}");
        Self::new(Reason::CountOutOfRange, Code::InvalidArgument, message)
            .with("count", count)
            .with("count_max", count_max)
    }

    pub(crate) fn with(mut self, key: &str, value: impl fmt::Display) -> Self {
        self.0.metadata.insert(key.to_owned(), value.to_string());
        self
    }

    pub(crate) fn retry_after(mut self, delay: Option<Duration>) -> Self {
        self.0.retry_after = delay;
        self
    }

    pub(crate) fn of(mut self, endpoint: &str) -> Self {
        self.0.endpoint = Some(endpoint.to_owned());
        self
    }

    /// Why the call failed.
    pub fn reason(&self) -> Reason {
        self.0.reason
    }

    /// The gRPC code.
    pub fn code(&self) -> Code {
        self.0.code
    }

    /// What happened, for people.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// Every dynamic value of the message.
    pub fn metadata(&self) -> &BTreeMap<String, String> {
        &self.0.metadata
    }

    /// After how long a retry may help, where a server named a time.
    pub fn delay(&self) -> Option<Duration> {
        self.0.retry_after
    }

    /// The endpoint that was asked last, if one was.
    pub fn endpoint(&self) -> Option<&str> {
        self.0.endpoint.as_deref()
    }

    /// Whether waiting can cure it: the same call can succeed later, with nobody doing anything about it.
    pub fn passes(&self) -> bool {
        let lasts = matches!(
            self.code(),
            Code::InvalidArgument
                | Code::Unauthenticated
                | Code::PermissionDenied
                | Code::NotFound
                | Code::AlreadyExists
                | Code::FailedPrecondition
                | Code::Unimplemented
        );
        !lasts && !self.is_first_mistake()
    }

    pub(crate) fn is_retried(&self) -> bool {
        let reasons = [Reason::QuotaExceeded, Reason::DeadlineExceeded, Reason::DeploymentMismatch];
        self.code() == Code::Unavailable || reasons.contains(&self.reason())
    }

    /// Whether no server of ours is where the client looks, or not in the way in which it looks.
    pub(crate) fn is_absence(&self) -> bool {
        self.0.metadata.get("connection").is_some_and(|kind| kind != "closed")
    }

    pub(crate) fn is_first_mistake(&self) -> bool {
        self.0.metadata.contains_key("answered")
    }

    /// The same error of a client that no server has answered yet.
    pub(crate) fn before_first_answer(mut self) -> Self {
        let kind = self.0.metadata.get("connection").map(String::as_str);
        if matches!(kind, Some("refused" | "no_address")) {
            self.0.message +=
                " Start a server there (snowlane serve), or correct the endpoints: none has answered this client yet.";
        }
        self.with("answered", "never")
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.reason(), self.message())?;
        self.endpoint().map_or(Ok(()), |endpoint| write!(f, " ({endpoint})"))
    }
}

/// As [`fmt::Display`]: a `main` that fails shows it so.
impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for Error {}
