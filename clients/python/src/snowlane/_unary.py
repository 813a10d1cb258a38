"""Calls of one answer: what each sends, and how its answer is read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any, Generic, TypeVar

from ._channels import Stubs
from ._errors import check_count
from ._gen.v1 import id_service_pb2 as pb
from ._gen.v1 import sequence_service_pb2 as sequence_pb
from ._options import COUNT_MAX
from ._parse import check_times
from ._run import IdRun
from ._sequence import ReservedValues, SequenceValue
from ._sequence_wire import reserved_of, value_of
from ._wire import id_of, runs_of

Answer = TypeVar("Answer")


@dataclass(frozen=True)
class UnarySpec(Generic[Answer]):
    """A call of one answer.

    Attributes:
        rpc: The method of the stubs that takes the request.
        read: Reads the answer, once its deployment is known to be the client's. Raises SnowlaneError INVALID_RESPONSE.
    """

    method: str
    rpc: Callable[[Stubs], Any]
    request: Any
    read: Callable[[Any], Answer]


def _unchanged(response: pb.GetInfoResponse) -> pb.GetInfoResponse:
    return response


NEXT_ID = UnarySpec("NextId", lambda stubs: stubs.ids.NextId, pb.NextIdRequest(), id_of)
INFO = UnarySpec("GetInfo", lambda stubs: stubs.ids.GetInfo, pb.GetInfoRequest(), _unchanged)


def reservation(count: int) -> UnarySpec[list[IdRun]]:
    """Raises SnowlaneError COUNT_OUT_OF_RANGE."""
    check_count(count, COUNT_MAX)
    request = pb.ReserveIdsRequest(count=count)
    return UnarySpec("ReserveIds", lambda stubs: stubs.ids.ReserveIds, request, partial(runs_of, asked=count))


def next_value(name: str, for_time: datetime | int | None) -> UnarySpec[SequenceValue]:
    """The next value of a sequence, of the period of a time.

    Raises:
        TypeError: It is not a time.
        ValueError: It has no time zone.
    """
    request = sequence_pb.NextValueRequest(name=name)
    if for_time is not None:
        check_times(for_time)
        if isinstance(for_time, int):
            request.for_time.FromNanoseconds(for_time)
        else:
            request.for_time.FromDatetime(for_time)
    return UnarySpec("NextValue", lambda stubs: stubs.sequences.NextValue, request, value_of)


def value_reservation(name: str, count: int) -> UnarySpec[ReservedValues]:
    """Raises SnowlaneError COUNT_OUT_OF_RANGE."""
    check_count(count, COUNT_MAX)
    request = sequence_pb.ReserveValuesRequest(name=name, count=count)
    return UnarySpec(
        "ReserveValues", lambda stubs: stubs.sequences.ReserveValues, request, partial(reserved_of, asked=count)
    )
