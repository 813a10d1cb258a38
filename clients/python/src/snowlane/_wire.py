"""Turns messages into the values of this package, and checks them against the contract."""

from __future__ import annotations

import operator
from itertools import islice

from ._errors import ErrorReason, SnowlaneError
from ._gen.v1 import id_service_pb2 as pb
from ._layout import Layout, LayoutField, LayoutFieldKind
from ._run import ID_MAX, ID_MIN, IdRun, count_ids

_KINDS: dict[int, LayoutFieldKind] = {
    pb.LAYOUT_FIELD_KIND_TIMESTAMP: "timestamp",
    pb.LAYOUT_FIELD_KIND_DATACENTER: "datacenter",
    pb.LAYOUT_FIELD_KIND_WORKER: "worker",
    pb.LAYOUT_FIELD_KIND_SEQUENCE: "sequence",
}


def id_of(response: pb.NextIdResponse) -> int:
    """Raises SnowlaneError INVALID_RESPONSE."""
    if not ID_MIN <= response.id <= ID_MAX:
        raise invalid_response("The server sent an ID that is 0 or has bit 63 set.", id=response.id)
    return response.id


def runs_of(response: pb.ReserveIdsResponse, asked: int) -> list[IdRun]:
    """Raises SnowlaneError INVALID_RESPONSE."""
    runs = [IdRun(run.first_id, run.count, run.stride) for run in response.runs]
    count_ids(runs, asked)
    return runs


def layout_of(message: pb.Layout) -> Layout:
    """Reads the layout that a server reports.

    Raises:
        SnowlaneError: INVALID_RESPONSE, INVALID_LAYOUT, if it is not a Snowlane server.
    """
    if not message.HasField("epoch_time") or not message.HasField("tick"):
        raise invalid_response("The server did not send its layout.")
    fields = []
    for field in message.fields:
        kind = _KINDS.get(field.kind)
        if kind is None:
            raise invalid_response(f"The server's layout has a field of kind {field.kind}.")
        fields.append(LayoutField(kind, field.bits))
    epoch_ms = message.epoch_time.seconds * 1_000 + message.epoch_time.nanos // 1_000_000
    tick_ns = message.tick.seconds * 1_000_000_000 + message.tick.nanos
    return Layout(message.name or "custom", epoch_ms, tick_ns, tuple(fields))


class ChunkCheck:
    """Checks the chunks of one server's stream: none may be empty, all IDs must rise, at most as many as asked for."""

    def __init__(self, count: int) -> None:
        self._left = count
        self._last_id = ID_MIN - 1

    def take(self, response: pb.BatchNextIdsResponse) -> list[int]:
        """Returns the IDs of a chunk.

        Raises:
            SnowlaneError: INVALID_RESPONSE.
        """
        # A list is quicker to read than what protobuf has; and no loop of Python's own, for chunks are long.
        ids = list(response.ids)
        if not 1 <= len(ids) <= self._left:
            raise invalid_response("The server sent an impossible chunk.", count=len(ids))
        first, last = ids[0], ids[-1]
        rises = all(map(operator.lt, ids, islice(ids, 1, None)))
        if not rises or first <= self._last_id or last > ID_MAX:
            raise invalid_response(
                "The server sent IDs that are not in ascending order.",
                first_id=first,
                last_id=last,
                previous_id=self._last_id,
            )
        self._left -= len(ids)
        self._last_id = last
        return ids

    def end(self) -> None:
        """Raises SnowlaneError INVALID_RESPONSE if the stream ended too early."""
        if self._left:
            raise invalid_response(f"The server's stream ended {self._left} IDs early.", missing_count=self._left)


def invalid_response(message: str, **metadata: object) -> SnowlaneError:
    """Makes an INVALID_RESPONSE error."""
    return SnowlaneError(ErrorReason.INVALID_RESPONSE, message, metadata=metadata)
