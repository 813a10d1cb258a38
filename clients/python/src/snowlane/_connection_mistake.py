"""Explains why no Snowlane server answers on a connection."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class ConnectionMistake:
    """One kind of mistake, and the text that a user reads about it.

    Attributes:
        pattern: Finds it in the message of gRPC, which reports it in no other way.
    """

    kind: str
    text: str
    pattern: str


CLOSED = "closed"
_ABSENT = ("refused", "no_address")
"""The kinds that starting a server fixes."""

_MISTAKES = (
    ConnectionMistake(
        "refused", "The connection was refused: no server listens there.", "Connection refused|WSAECONNREFUSED"
    ),
    ConnectionMistake("refused", "There is no such socket: no server listens there.", "No such file or directory"),
    ConnectionMistake(
        "no_address", "The host name has no address.", "DNS resolution failed|Domain name not found|errors resolving"
    ),
    ConnectionMistake(
        "not_tls", "The server does not speak TLS: begin the endpoint with http://.", "WRONG_VERSION_NUMBER"
    ),
    ConnectionMistake(
        "not_grpc",
        "Something other than a gRPC server answers there.",
        r"Failed parsing HTTP/2|http1\.x server|selected ALPN|NO_APPLICATION_PROTOCOL",
    ),
    ConnectionMistake(
        "wrong_host",
        "The certificate of the server is for another host: correct the endpoint, or the option tls.",
        "Hostname Verification Check failed|is not verified for|not match",
    ),
    ConnectionMistake(
        "expired",
        "The certificate of the server has expired, or is not valid yet.",
        "certificate has expired|is not yet valid",
    ),
    ConnectionMistake(
        "untrusted",
        "The certificate of the server is not trusted: give the option tls the authority that signed it.",
        "CERTIFICATE_VERIFY_FAILED",
    ),
    ConnectionMistake(
        "needs_certificate",
        "The server requires a client certificate that it trusts: give the option tls one with its key.",
        "CERTIFICATE_REQUIRED|ALERT_BAD_CERTIFICATE|ALERT_UNKNOWN_CA|ALERT_CERTIFICATE",
    ),
)
_CLOSED_TEXT = (
    "The connection was closed before any answer: if the server speaks TLS, begin the endpoint with https://."
)
_CLOSED_PATTERN = re.compile("failed to connect to all addresses.*(Socket closed|Connection reset)")
_HANDSHAKE_PATTERN = re.compile("failed to connect to all addresses.*(Socket closed|Unwrap failed)")


def mistake_of(details: str, *, is_tls: bool) -> ConnectionMistake | None:
    """Finds the mistake in a message of gRPC; None if there is none."""
    for mistake in _MISTAKES:
        if re.search(mistake.pattern, details):
            return mistake
    # After a handshake that succeeded, a server closes or sends an alert at once where it misses a certificate of the
    # client; gRPC cannot read the alert any more.
    if is_tls:
        return _MISTAKES[-1] if _HANDSHAKE_PATTERN.search(details) else None
    if _CLOSED_PATTERN.search(details):
        return ConnectionMistake(CLOSED, _CLOSED_TEXT, "")
    return None


def is_absent(kind: str | None) -> bool:
    """Whether a mistake of this kind says that no server is there at all."""
    return kind in _ABSENT


_OF_TRANSPORT = re.compile(
    "^(failed to connect|connections to all|errors? resolving|DNS |Socket closed|Stream removed|GOAWAY|recvmsg|sendmsg|"
    "Broken pipe|Connection |Cancelling all|Channel closed|Endpoint |Transport |keepalive|ping|Received http2|"
    "Received RST_STREAM|RST_STREAM|Failed |FD |UNKNOWN:|UNAVAILABLE:|empty address list|CANCELLED|UNAVAILABLE$)",
    re.IGNORECASE,
)


def is_of_transport(details: str) -> bool:
    """Whether gRPC wrote a message itself, without an answer from a server."""
    return bool(_OF_TRANSPORT.search(details))
