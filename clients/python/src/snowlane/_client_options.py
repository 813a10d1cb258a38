"""The options of a client."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import SplitResult, urlsplit

from ._clock import Clock
from ._errors import ErrorReason, SnowlaneError
from ._layout import Layout
from ._observer import ClientObserver
from ._options import TIMEOUT_END_S, check_number, check_whole
from ._status_code import StatusCode

ENDPOINT_DEFAULT = "http://127.0.0.1:7609"
TIMEOUT_DEFAULT_S = 5.0
ATTEMPT_TIMEOUT_DEFAULT_S = 2.0
RETRY_MAX = 3

Token = str | Callable[[], str]
AsyncToken = str | Callable[[], str | Awaitable[str]]


@dataclass(frozen=True)
class TlsOptions:
    """Certificates for `https` endpoints, as PEM. None: the system's roots, and no certificate of this client."""

    roots: bytes | None = None
    certificate: bytes | None = None
    key: bytes | None = None

    def __post_init__(self) -> None:
        if (self.certificate is None) != (self.key is None):
            raise ValueError("A certificate needs its key, and a key its certificate.")
        for name in ("roots", "certificate", "key"):
            content = getattr(self, name)
            if content is not None and (not isinstance(content, bytes) or b"-----BEGIN " not in content):
                raise ValueError(f"{name} is not PEM: give the bytes of the file.")


_KINDS: dict[str, type] = {"observer": ClientObserver, "layout": Layout, "namespace": str, "insecure_token": bool}

Tls = TlsOptions | Callable[[], TlsOptions]


@dataclass(frozen=True)
class ClientOptions:
    """The options of a client, beside its endpoints.

    Attributes:
        tls: For endpoints that begin with https; or a function that returns it for each new connection, so that
            certificates may change while the client runs.
        token: A bearer token, or a function that returns one for each attempt (for AsyncIdClient, it may be awaited).
            White space around it is dropped, because a file often ends in a line break. Refused over plaintext to a
            host that is not loopback, unless `insecure_token` is true.
        timeout_s: Deadline of a call whose caller sets none; it covers all attempts and waits.
        attempt_timeout_s: The longest that one attempt may take.
        retry_max: The most attempts after the first, 0 to 3.
        observer: The metrics hook.
        interceptors: Client interceptors of grpc, or of grpc.aio for AsyncIdClient, such as OpenTelemetry's.
        channel_options: gRPC options for each channel; those that the client sets itself are ignored.
        deployments: Fingerprints of the deployments whose IDs may be used, as `snowlane doctor` shows them. List
            several only if their IDs are known to differ. None: the first that answers.
        layout: The deployment's layout, for offline work. None: a server is asked for it once.
        namespace: The deployment's namespace, for offline work: it marks the UUIDs.
        clock: For tests.
    """

    tls: Tls | None = None
    token: AsyncToken | None = None
    insecure_token: bool = False
    timeout_s: float = TIMEOUT_DEFAULT_S
    attempt_timeout_s: float = ATTEMPT_TIMEOUT_DEFAULT_S
    retry_max: int = RETRY_MAX
    observer: ClientObserver | None = None
    interceptors: Sequence[Any] = ()
    channel_options: Sequence[tuple[str, Any]] = ()
    deployments: Sequence[str] | None = None
    layout: Layout | None = None
    namespace: str = "default"
    clock: Clock | None = None

    def __post_init__(self) -> None:
        if self.token is not None and not isinstance(self.token, str) and not callable(self.token):
            raise TypeError("token is neither a string nor a function.")
        if self.tls is not None and not isinstance(self.tls, TlsOptions) and not callable(self.tls):
            raise TypeError("tls is neither TlsOptions nor a function that gives them.")
        for name, kind in _KINDS.items():
            value = getattr(self, name)
            if value is not None and not isinstance(value, kind):
                raise TypeError(f"{name} is {value!r}: it must be a {kind.__name__}.")
        if self.clock is not None and not callable(getattr(self.clock, "monotonic_s", None)):
            raise TypeError(f"clock is {self.clock!r}: it must be a Clock.")
        for name in ("interceptors", "channel_options"):
            value = getattr(self, name)
            if not isinstance(value, list | tuple):
                raise TypeError(f"{name} is {value!r}: it must be a list.")
        if not all(isinstance(pair, tuple) and len(pair) == 2 for pair in self.channel_options):
            raise TypeError("channel_options has an entry that is not a pair of a name and a value.")
        for name in ("timeout_s", "attempt_timeout_s"):
            value = getattr(self, name)
            check_number(name, value)
            if not 0 < value < TIMEOUT_END_S:
                raise ValueError(f"{name} is {value}; it must be above 0 and below 2^31.")
        if self.deployments is not None:
            _check_deployments(self.deployments)
        check_whole("retry_max", self.retry_max)
        if self.retry_max not in range(RETRY_MAX + 1):
            raise ValueError(f"retry_max is {self.retry_max}; it must be 0, 1, 2 or 3.")


def _check_deployments(deployments: object) -> None:
    if isinstance(deployments, str) or not isinstance(deployments, Sequence) or not deployments:
        raise TypeError("deployments must be a list of at least one fingerprint.")
    for fingerprint in deployments:
        if not isinstance(fingerprint, str) or not re.fullmatch("[0-9A-Fa-f]{8,32}", fingerprint):
            raise ValueError(f"deployments has {fingerprint!r}; a fingerprint has 8 to 32 hexadecimal digits.")


# "unix:" and the room for a path in Linux' sockaddr_un, without its last byte.
_SOCKET_URL_MAX = 5 + 107


@dataclass(frozen=True)
class EndpointUrl:
    """The address of an endpoint; for a Unix socket, the host is empty.

    Attributes:
        address: The IP address of the host, if the client looked it up; empty: gRPC looks it up.
    """

    url: str
    host: str
    port: int
    is_tls: bool
    address: str = ""

    def at(self, address: str) -> EndpointUrl:
        """The same endpoint, called by one of the addresses of its host."""
        return replace(self, url=f"{self.url} [{address}]", address=address)

    @property
    def target(self) -> str:
        """The target, as gRPC names it."""
        if self.host == "":
            return self.url
        if ":" in self.address:
            return f"ipv6:[{self.address.replace('%', '%25')}]:{self.port}"
        if self.address:
            return f"ipv4:{self.address}:{self.port}"
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"dns:///{host}:{self.port}"


def read_endpoints(endpoints: str | Sequence[str], options: ClientOptions) -> list[EndpointUrl]:
    """Checks endpoints.

    Raises:
        TypeError, ValueError: One of them is wrong, or a token would travel in plaintext.
    """
    if not isinstance(endpoints, str | Iterable):
        raise TypeError(f"endpoints is {endpoints!r}: it must be a string or a list of strings.")
    urls = [endpoints] if isinstance(endpoints, str) else list(endpoints)
    if not urls:
        raise ValueError("There is no endpoint: give at least one.")
    return [_read_endpoint(url, options) for url in urls]


def _read_endpoint(url: str, options: ClientOptions) -> EndpointUrl:
    if isinstance(url, str) and url.startswith("unix:/") and url.isprintable() and len(url.encode()) <= _SOCKET_URL_MAX:
        return EndpointUrl(url, "", 0, is_tls=False)
    parts = _split(url)
    if parts is None:
        # The part before an @ may be a password.
        shown = url.rpartition("@")[2] if isinstance(url, str) else url
        raise ValueError(f"The endpoint {shown!r} is neither http://HOST:PORT, https://HOST:PORT nor unix:/PATH.")
    assert parts.hostname
    if "@" in parts.netloc or parts.path not in ("", "/") or parts.query or parts.fragment:
        raise ValueError(f"The endpoint {parts.scheme}://{parts.hostname} has more than scheme, host and port.")
    is_tls = parts.scheme == "https"
    if options.token is not None and not is_tls and not options.insecure_token and not _is_loopback(parts.hostname):
        raise ValueError(f"A token would go to {url} in plaintext: use https, or set insecure_token.")
    port = parts.port or (443 if is_tls else 80)
    return EndpointUrl(url.rstrip("/"), parts.hostname, port, is_tls)


def _split(url: object) -> SplitResult | None:
    """Reads an endpoint; None if it has no known scheme, no host, or no valid port."""
    if not isinstance(url, str) or not url.isprintable() or " " in url:
        return None
    try:
        parts = urlsplit(url)
        is_good = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:
        return None
    return parts if is_good else None


def bearer_of(token: object) -> str:
    """The value that is sent for a token. A token from a file often ends in a line break, which a header cannot
    contain.

    Raises:
        SnowlaneError: RPC_FAILED, if it is not a valid token.
    """
    text = token.strip() if isinstance(token, str) else ""
    if not text or not text.isascii() or not text.isprintable():
        message = "The token is not one line of printable ASCII characters."
        raise SnowlaneError(ErrorReason.RPC_FAILED, message, code=StatusCode.UNAUTHENTICATED)
    return f"Bearer {text}"


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
