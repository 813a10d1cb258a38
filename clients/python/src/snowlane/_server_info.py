"""The description of a server."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta, timezone

from ._gen.v1 import id_service_pb2 as pb
from ._layout import Layout
from ._wire import layout_of


@dataclass(frozen=True)
class ServerInfo:
    """The description of a server.

    Attributes:
        deployment_fingerprint: 32 hexadecimal digits, the same at all servers of a deployment; empty if the server
            reports none.
        layout: The layout of its IDs.
        datacenter_id: The datacenter ID in its IDs; 0 if the layout has no such field. The same holds for the worker
            ID.
        rollback_policy: Its policy for a wall clock that moves back: advance, reject, wait, logical or reuse.
        ordering: rising-per-worker, or unordered-within-reuse-span.
        exhaustion_time: When the layout has no further ticks, in UTC.
        reserve_count_max: The most IDs of one reservation.
        batch_count_max: The most IDs of one stream.
        chunk_size_max: The most IDs of one chunk of a stream.
        next_count_max: The most IDs of one list.
    """

    version: str
    deployment_fingerprint: str
    layout: Layout
    datacenter_id: int
    worker_id: int
    rollback_policy: str
    ordering: str
    exhaustion_time: datetime
    reserve_count_max: int
    batch_count_max: int
    chunk_size_max: int
    next_count_max: int


def server_info_of(info: pb.GetInfoResponse) -> ServerInfo:
    """Reads a server's description of itself.

    Raises:
        SnowlaneError: INVALID_RESPONSE, INVALID_LAYOUT.
    """
    end, limits = info.exhaustion_time, info.limits
    unix_epoch = datetime(1970, 1, 1, tzinfo=timezone.utc)
    return ServerInfo(
        version=info.version,
        deployment_fingerprint=info.deployment_fingerprint,
        layout=layout_of(info.layout),
        datacenter_id=info.datacenter_id,
        worker_id=info.worker_id,
        rollback_policy=_word(pb.RollbackPolicy.items(), info.rollback_policy, "ROLLBACK_POLICY_"),
        ordering=_word(pb.Ordering.items(), info.ordering, "ORDERING_"),
        exhaustion_time=unix_epoch + timedelta(seconds=end.seconds, microseconds=end.nanos // 1_000),
        reserve_count_max=limits.reserve_count_max,
        batch_count_max=limits.batch_count_max,
        chunk_size_max=limits.chunk_size_max,
        next_count_max=limits.next_count_max,
    )


def _word(names: list[tuple[str, int]], value: int, prefix: str) -> str:
    """The name of an enum value, as the command line writes it."""
    name = next((name for name, number in names if number == value), "UNRECOGNIZED")
    return name.removeprefix(prefix).lower().replace("_", "-")
