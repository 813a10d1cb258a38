"""Reads why an attempt failed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import grpc

from ._connection_mistake import is_of_transport, mistake_of
from ._errors import ErrorReason, SnowlaneError
from ._status_code import StatusCode, status_code_of

_DOMAIN = "snowlane.dev"
"""The domain of a google.rpc.ErrorInfo whose reasons are Snowlane's."""
_DETAILS_KEY = "grpc-status-details-bin"
_SENT_REASONS = frozenset(list(ErrorReason)[: list(ErrorReason).index(ErrorReason.UNREACHABLE)])


@dataclass
class StatusDetails:
    """The parts of google.rpc.Status that this client uses."""

    reason: str | None = None
    metadata: dict[str, str] = field(default_factory=dict)
    retry_after_s: float | None = None


def error_of_rpc(error: BaseException, endpoint: str) -> SnowlaneError:
    """Reads the error of an attempt that its caller did not cancel. Errors of this package pass unchanged."""
    if isinstance(error, SnowlaneError):
        return error
    found = _read_error(error, endpoint)
    found.__cause__ = error
    return found


def _read_error(error: BaseException, endpoint: str) -> SnowlaneError:
    if not isinstance(error, grpc.RpcError) or not hasattr(error, "code"):
        message = f"{type(error).__name__}: {error}"
        return SnowlaneError(ErrorReason.RPC_FAILED, message, endpoint=endpoint)
    code = status_code_of(error.code())
    message = error.details() or code.name
    trailers = {key: value for key, value in error.trailing_metadata() or () if key == _DETAILS_KEY}
    details = read_status_details(trailers.get(_DETAILS_KEY, b""))
    if details.reason is not None:
        is_known = details.reason in _SENT_REASONS
        return SnowlaneError(
            details.reason if is_known else ErrorReason.RPC_FAILED,
            message,
            code=code,
            metadata=details.metadata if is_known else {**details.metadata, "reason": details.reason},
            retry_after_s=details.retry_after_s,
            endpoint=endpoint,
        )
    if code is StatusCode.DEADLINE_EXCEEDED:
        return SnowlaneError(ErrorReason.DEADLINE_EXCEEDED, message, endpoint=endpoint)
    # The caller did not cancel: the server, or a proxy that is shutting down, has dropped the call.
    if code in (StatusCode.UNAVAILABLE, StatusCode.CANCELLED):
        message, metadata = _describe_unreachable(message, is_tls=endpoint.startswith("https:"), details=details)
        return SnowlaneError(
            ErrorReason.UNREACHABLE,
            message,
            metadata=metadata,
            retry_after_s=details.retry_after_s,
            endpoint=endpoint,
        )
    return SnowlaneError(
        ErrorReason.RPC_FAILED, message, code=code, retry_after_s=details.retry_after_s, endpoint=endpoint
    )


def _describe_unreachable(message: str, *, is_tls: bool, details: StatusDetails) -> tuple[str, dict[str, str]]:
    """Explains why there is no answer. gRPC reports it only in its message."""
    message = " ".join(message.split())
    mistake = mistake_of(message, is_tls=is_tls)
    if mistake is not None:
        return mistake.text, {"connection": mistake.kind}
    if details.retry_after_s is None and is_of_transport(message):
        return f"The server does not answer: {message}", {}
    return f"The server cannot answer now: {message}", {}


def read_status_details(content: bytes) -> StatusDetails:
    """Reads ErrorInfo of our domain and RetryInfo out of an encoded google.rpc.Status; data that does not decode is
    ignored.

    They are decoded by hand, because the messages are small and their generated classes would be one more dependency.
    Fields: https://github.com/googleapis/googleapis/tree/master/google/rpc (status.proto, error_details.proto).
    """
    details = StatusDetails()
    try:
        for number, value in _fields(content):
            if number == 3 and isinstance(value, bytes):
                _read_detail(value, details)
    except ValueError:
        return StatusDetails()
    return details


def _read_detail(content: bytes, details: StatusDetails) -> None:
    packed = dict(_fields(content))
    url, value = packed.get(1, b""), packed.get(2, b"")
    if not isinstance(url, bytes) or not isinstance(value, bytes):
        raise ValueError("a malformed Any")
    name = url.rpartition(b"/")[2]
    if name == b"google.rpc.ErrorInfo":
        _read_error_info(value, details)
    elif name == b"google.rpc.RetryInfo":
        duration = dict(_fields(value)).get(1, b"")
        parts = dict(_fields(duration)) if isinstance(duration, bytes) else {}
        seconds, nanos = parts.get(1, 0), parts.get(2, 0)
        if isinstance(seconds, int) and isinstance(nanos, int) and seconds < 2**63 and nanos < 10**9:
            details.retry_after_s = seconds + nanos / 1e9


def _read_error_info(content: bytes, details: StatusDetails) -> None:
    texts: dict[int, str] = {}
    metadata: dict[str, str] = {}
    for number, value in _fields(content):
        if not isinstance(value, bytes):
            continue
        if number == 3:
            entry = {key: part.decode() for key, part in _fields(value) if isinstance(part, bytes)}
            metadata[entry.get(1, "")] = entry.get(2, "")
        else:
            texts[number] = value.decode()
    if texts.get(2) == _DOMAIN and details.reason is None:
        details.reason = texts.get(1, "")
        details.metadata = metadata


def _fields(content: bytes) -> Iterator[tuple[int, int | bytes]]:
    """The fields of an encoded message. https://protobuf.dev/programming-guides/encoding/"""
    at = 0
    while at < len(content):
        tag, at = _varint(content, at)
        number, kind = tag >> 3, tag & 7
        if kind == 0:
            value, at = _varint(content, at)
            yield number, value
            continue
        if kind == 2:
            length, at = _varint(content, at)
        elif kind in (1, 5):
            length = 8 if kind == 1 else 4
        else:
            raise ValueError(f"wire type {kind}")
        if at + length > len(content):
            raise ValueError("a field that is cut off")
        yield number, content[at : at + length]
        at += length


def _varint(content: bytes, at: int) -> tuple[int, int]:
    value = 0
    for shift in range(0, 70, 7):
        if at >= len(content):
            raise ValueError("a number that is cut off")
        byte = content[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
    raise ValueError("a number of more than 64 bits")
