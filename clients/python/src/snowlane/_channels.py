"""How channels are made."""

from __future__ import annotations

import grpc
import grpc.aio

from ._client_options import ClientOptions, EndpointUrl, Tls, TlsOptions
from ._errors import ErrorReason, SnowlaneError
from ._fork import forget_after_fork
from ._gen.v1.id_service_pb2_grpc import IdServiceStub
from ._gen.v1.sequence_service_pb2_grpc import SequenceServiceStub
from ._grpc_fork import is_supported, leave_to_parent, lost_because
from ._status_code import StatusCode
from ._version import version

# The fields that a call sends: pairs of a name and a value.
Metadata = tuple[tuple[str, str], ...]

_CHANNEL_OPTIONS: tuple[tuple[str, object], ...] = (
    ("grpc.primary_user_agent", f"snowlane-python/{version}"),
    # This client counts the attempts, by the rules that all clients share.
    ("grpc.enable_retries", 0),
    # A server that restarts is reconnected soon; the attempts decide how often it is tried.
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.max_reconnect_backoff_ms", 1_000),
    # A forked child must not find its parent's connections.
    ("grpc.use_local_subchannel_pool", 1),
    # This notices a connection that died silently while calls wait on it.
    ("grpc.keepalive_time_ms", 30_000),
    ("grpc.keepalive_timeout_ms", 5_000),
)


def channel_options_of(options: ClientOptions, endpoint: EndpointUrl) -> tuple[tuple[str, object], ...]:
    """The options of a channel: the user's, except those that this client has to set itself."""
    own = _CHANNEL_OPTIONS
    if endpoint.address:
        # It is called by its address, but verified by its name.
        own += (("grpc.default_authority", f"{endpoint.host}:{endpoint.port}"), ("grpc.enable_http_proxy", 0))
        if endpoint.is_tls:
            own += (("grpc.ssl_target_name_override", endpoint.host),)
    names = {name for name, _ in own}
    return tuple(pair for pair in options.channel_options if pair[0] not in names) + own


class Stubs:
    """The services of one channel."""

    def __init__(self, channel: grpc.Channel | grpc.aio.Channel) -> None:
        self.ids = IdServiceStub(channel)  # type: ignore[no-untyped-call]
        self.sequences = SequenceServiceStub(channel)  # type: ignore[no-untyped-call]


def credentials_of(endpoint: EndpointUrl, tls: Tls | None) -> grpc.ChannelCredentials | None:
    """The TLS credentials; None for plaintext."""
    if not endpoint.is_tls:
        return None
    tls = (tls() if callable(tls) else tls) or TlsOptions()
    return grpc.ssl_channel_credentials(tls.roots, tls.key, tls.certificate)


class _Keeper:
    """Keeps an unused channel open, so that gRPC does not shut down when the last of the others closes: in a child that
    was forked during such a shutdown, gRPC would hang.
    """

    def __init__(self) -> None:
        self._channel: grpc.Channel | None = None

    def keep(self) -> None:
        if self._channel is None and is_supported:
            self._channel = grpc.insecure_channel("dns:///localhost:1", _CHANNEL_OPTIONS)
            forget_after_fork(self)

    def _after_fork_in_child(self) -> None:
        leave_to_parent([self._channel])
        self._channel = None


_keeper = _Keeper()


def prepare_process() -> None:
    """Must be called before a channel is made, so that this process and its children can call.

    Raises:
        SnowlaneError: RPC_FAILED, with the code FAILED_PRECONDITION, if the first call of a forked child would hang.
    """
    why = lost_because()
    if why is not None:
        message = f"This process was forked from one that had used gRPC, and {why}, or fork before the first call."
        raise SnowlaneError(ErrorReason.RPC_FAILED, message, code=StatusCode.FAILED_PRECONDITION)
    _keeper.keep()
