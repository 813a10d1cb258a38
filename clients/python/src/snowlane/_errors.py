"""The one error of this client, and its reasons."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from functools import partial
from typing import Any

from ._connection_mistake import CLOSED, is_absent
from ._status_code import StatusCode
from ._whole_id import whole


class ErrorReason(str, enum.Enum):
    """Why a call failed. Match on it, never on the text of a message. docs/errors.md says what to do about each reason
    that servers send.
    """

    COUNT_OUT_OF_RANGE = "COUNT_OUT_OF_RANGE"
    MALFORMED_ID = "MALFORMED_ID"
    MALFORMED_TEXT = "MALFORMED_TEXT"
    AMBIGUOUS_TEXT = "AMBIGUOUS_TEXT"
    INVALID_LAYOUT = "INVALID_LAYOUT"
    INVALID_TEXT_FORMAT = "INVALID_TEXT_FORMAT"
    INVALID_TIME_RANGE = "INVALID_TIME_RANGE"
    MISSING_CREDENTIALS = "MISSING_CREDENTIALS"
    METHOD_DENIED = "METHOD_DENIED"
    HOST_NOT_ALLOWED = "HOST_NOT_ALLOWED"
    QUOTA_EXCEEDED = "QUOTA_EXCEEDED"
    CLOCK_ROLLED_BACK = "CLOCK_ROLLED_BACK"
    BURST_EXCEEDED = "BURST_EXCEEDED"
    WORKER_LEASE_LOST = "WORKER_LEASE_LOST"
    WINDOW_EXPIRED = "WINDOW_EXPIRED"
    STORE_UNAVAILABLE = "STORE_UNAVAILABLE"
    SHUTTING_DOWN = "SHUTTING_DOWN"
    STREAM_STALLED = "STREAM_STALLED"
    TIMESTAMP_EXHAUSTED = "TIMESTAMP_EXHAUSTED"
    CLOCK_BEFORE_EPOCH = "CLOCK_BEFORE_EPOCH"
    NO_FREE_WORKER_ID = "NO_FREE_WORKER_ID"
    LAYOUT_MISMATCH = "LAYOUT_MISMATCH"
    STORE_WENT_BACK = "STORE_WENT_BACK"
    INVALID_CONFIG = "INVALID_CONFIG"
    SEQUENCE_NOT_FOUND = "SEQUENCE_NOT_FOUND"
    SEQUENCE_EXISTS = "SEQUENCE_EXISTS"
    SEQUENCE_DISABLED = "SEQUENCE_DISABLED"
    SEQUENCE_CHANGED = "SEQUENCE_CHANGED"
    INVALID_SEQUENCE = "INVALID_SEQUENCE"
    VALUES_EXHAUSTED = "VALUES_EXHAUSTED"
    PERIOD_CLOSED = "PERIOD_CLOSED"

    UNREACHABLE = "UNREACHABLE"
    """No endpoint that was tried answered, or one was unavailable and gave no reason. Raised by the client, as all
    below.
    """
    DEADLINE_EXCEEDED = "DEADLINE_EXCEEDED"
    """The deadline of the call passed, and no attempt had failed otherwise."""
    DEPLOYMENT_MISMATCH = "DEPLOYMENT_MISMATCH"
    """The endpoints serve two deployments, whose IDs can be equal."""
    CANCELLED = "CANCELLED"
    """The call was cancelled."""
    CLIENT_CLOSED = "CLIENT_CLOSED"
    """The client or the buffer is closed."""
    STOCK_EMPTY = "STOCK_EMPTY"
    """Nothing is in stock, and the call does not wait."""
    INVALID_RESPONSE = "INVALID_RESPONSE"
    """A server's answer breaks its contract; no ID of it is used."""
    RPC_FAILED = "RPC_FAILED"
    """Any other status, or one with a reason that this client does not know; the metadata then has the reason."""
    SCRIPT_ENDED = "SCRIPT_ENDED"
    """A fake's script has no more steps."""

    def __str__(self) -> str:
        return self.value


_CODES = {
    StatusCode.INVALID_ARGUMENT: (
        ErrorReason.COUNT_OUT_OF_RANGE,
        ErrorReason.MALFORMED_ID,
        ErrorReason.MALFORMED_TEXT,
        ErrorReason.AMBIGUOUS_TEXT,
        ErrorReason.INVALID_LAYOUT,
        ErrorReason.INVALID_TEXT_FORMAT,
        ErrorReason.INVALID_TIME_RANGE,
        ErrorReason.INVALID_SEQUENCE,
    ),
    StatusCode.UNAUTHENTICATED: (ErrorReason.MISSING_CREDENTIALS,),
    StatusCode.PERMISSION_DENIED: (ErrorReason.METHOD_DENIED, ErrorReason.HOST_NOT_ALLOWED),
    StatusCode.RESOURCE_EXHAUSTED: (ErrorReason.QUOTA_EXCEEDED,),
    StatusCode.UNAVAILABLE: (
        ErrorReason.CLOCK_ROLLED_BACK,
        ErrorReason.BURST_EXCEEDED,
        ErrorReason.WORKER_LEASE_LOST,
        ErrorReason.WINDOW_EXPIRED,
        ErrorReason.STORE_UNAVAILABLE,
        ErrorReason.SHUTTING_DOWN,
        ErrorReason.STREAM_STALLED,
        ErrorReason.UNREACHABLE,
        ErrorReason.STOCK_EMPTY,
    ),
    StatusCode.FAILED_PRECONDITION: (
        ErrorReason.TIMESTAMP_EXHAUSTED,
        ErrorReason.CLOCK_BEFORE_EPOCH,
        ErrorReason.NO_FREE_WORKER_ID,
        ErrorReason.LAYOUT_MISMATCH,
        ErrorReason.STORE_WENT_BACK,
        ErrorReason.INVALID_CONFIG,
        ErrorReason.SEQUENCE_DISABLED,
        ErrorReason.VALUES_EXHAUSTED,
        ErrorReason.PERIOD_CLOSED,
        ErrorReason.DEPLOYMENT_MISMATCH,
        ErrorReason.SCRIPT_ENDED,
    ),
    StatusCode.NOT_FOUND: (ErrorReason.SEQUENCE_NOT_FOUND,),
    StatusCode.ALREADY_EXISTS: (ErrorReason.SEQUENCE_EXISTS,),
    StatusCode.ABORTED: (ErrorReason.SEQUENCE_CHANGED,),
    StatusCode.DEADLINE_EXCEEDED: (ErrorReason.DEADLINE_EXCEEDED,),
    StatusCode.CANCELLED: (ErrorReason.CANCELLED, ErrorReason.CLIENT_CLOSED),
    StatusCode.INTERNAL: (ErrorReason.INVALID_RESPONSE,),
    StatusCode.UNKNOWN: (ErrorReason.RPC_FAILED,),
}
_CODE_OF_REASON = {reason: code for code, reasons in _CODES.items() for reason in reasons}

_CHUNK_SIZE_MAX = 65_536
_STREAM_COUNT_MAX = 10**9

_LASTING = frozenset(
    {
        StatusCode.INVALID_ARGUMENT,
        StatusCode.UNAUTHENTICATED,
        StatusCode.PERMISSION_DENIED,
        StatusCode.NOT_FOUND,
        StatusCode.ALREADY_EXISTS,
        StatusCode.FAILED_PRECONDITION,
        StatusCode.UNIMPLEMENTED,
    }
)


class SnowlaneError(Exception):
    """The one error of this client. Match on `reason`, never on the message.

    Attributes:
        reason: Why the call failed.
        code: The gRPC code.
        metadata: Every dynamic value of the message, with its unit in the key.
        retry_after_s: After how many seconds a retry may help; None if it cannot help, or no server named a time.
        endpoint: The endpoint that was asked last; None if none was.
    """

    def __init__(
        self,
        reason: ErrorReason | str,
        message: str,
        *,
        code: StatusCode | None = None,
        metadata: Mapping[str, object] | None = None,
        retry_after_s: float | None = None,
        endpoint: str | None = None,
    ) -> None:
        super().__init__(message)
        self.reason = ErrorReason(reason)
        self.code = _CODE_OF_REASON[self.reason] if code is None else code
        self.metadata: dict[str, str] = {key: str(value) for key, value in (metadata or {}).items()}
        self.retry_after_s = retry_after_s
        self.endpoint = endpoint

    @property
    def message(self) -> str:
        """What happened, as a text for people."""
        return str(self.args[0])

    def __str__(self) -> str:
        return f"{self.reason}: {self.message}" + (f" ({self.endpoint})" if self.endpoint else "")

    def __repr__(self) -> str:
        # This is what pytest, asyncio and %r show; the default lacks the reason.
        return f"{type(self).__name__}({self.reason}, {self.message!r}, endpoint={self.endpoint!r})"

    def __reduce__(self) -> tuple[object, ...]:
        # Exceptions cross process borders in pools; the default would call this class with the message alone.
        rest: dict[str, Any] = {
            "code": self.code,
            "metadata": self.metadata,
            "retry_after_s": self.retry_after_s,
            "endpoint": self.endpoint,
        }
        return (partial(SnowlaneError, **rest), (self.reason, self.message))

    def passes(self) -> bool:
        """Whether waiting can help: the same call may succeed later although no one changes anything."""
        return self.code not in _LASTING and not self.is_first_mistake()

    def is_absence(self) -> bool:
        """Whether no Snowlane server is where the client looks, or none that speaks as the client expects: table
        "connection mistakes" of docs/internals/client-contract.md. A closed connection is not such a sign, because a
        balancer without a server closes its connections, too.
        """
        return self.metadata.get("connection", CLOSED) != CLOSED

    def is_first_mistake(self) -> bool:
        """Whether never_answered returned this error."""
        return self.metadata.get("answered") == "never"

    def rethrown(self) -> SnowlaneError:
        """The same error for another caller: an exception that is raised twice would collect both tracebacks."""
        again = SnowlaneError(
            self.reason,
            self.message,
            code=self.code,
            metadata=self.metadata,
            retry_after_s=self.retry_after_s,
            endpoint=self.endpoint,
        )
        again.__cause__ = self
        return again


def as_snowlane_error(error: BaseException) -> SnowlaneError:
    """The error itself if it is a SnowlaneError, else one with the reason RPC_FAILED and the error as its cause."""
    if isinstance(error, SnowlaneError):
        return error
    wrapped = SnowlaneError(ErrorReason.RPC_FAILED, f"{type(error).__name__}: {error}")
    wrapped.__cause__ = error
    return wrapped


def never_answered(error: SnowlaneError) -> SnowlaneError:
    """The error of a call that failed before any server ever answered, because there is no server at any endpoint."""
    hint = ""
    if is_absent(error.metadata.get("connection")):
        hint = " Start a server there (snowlane serve), or correct the endpoints: none has answered this client yet."
    mistake = SnowlaneError(
        error.reason,
        f"{error.message}{hint}",
        code=error.code,
        metadata={**error.metadata, "answered": "never"},
        endpoint=error.endpoint,
    )
    mistake.__cause__ = error.__cause__
    return mistake


def check_count(count: int, count_max: int) -> None:
    """Raises SnowlaneError COUNT_OUT_OF_RANGE unless `count` is 1 to `count_max`; TypeError if it is not an int."""
    _check_range("count", count, 1, count_max, " Use stream() for more.")


def check_chunk_size(chunk_size: int) -> None:
    """Raises SnowlaneError COUNT_OUT_OF_RANGE unless `chunk_size` is 0 (the server chooses) to 65,536, which is the
    servers' limit; TypeError if it is not an int.
    """
    _check_range("chunk_size", chunk_size, 0, _CHUNK_SIZE_MAX)


def _check_range(field: str, value: int, least: int, most: int, hint: str = "") -> None:
    try:
        number = whole(value)
    except TypeError:
        raise TypeError(f"{field} is {value!r}; it must be an int from {least} to {most}.") from None
    if not least <= number <= most:
        if not most < number <= _STREAM_COUNT_MAX:
            hint = ""
        raise SnowlaneError(
            ErrorReason.COUNT_OUT_OF_RANGE,
            f"{field} is {value}; it must be from {least} to {most}.{hint}",
            metadata={field: value, f"{field}_max": most},
        )
