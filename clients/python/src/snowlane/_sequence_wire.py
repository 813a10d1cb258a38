"""Turns messages of SequenceService into values, and checks them against the contract."""

from __future__ import annotations

from ._gen.v1 import sequence_service_pb2 as pb
from ._run import IdRun, count_ids
from ._sequence import ReservedValues, SequenceValue, ValueRun
from ._wire import invalid_response


def value_of(response: pb.NextValueResponse) -> SequenceValue:
    """Raises SnowlaneError INVALID_RESPONSE."""
    _check(response.value)
    return SequenceValue(response.value, response.text, response.period_key)


def reserved_of(response: pb.ReserveValuesResponse, asked: int) -> ReservedValues:
    """Checks the runs by the rules for runs of IDs. Raises SnowlaneError INVALID_RESPONSE."""
    runs = [ValueRun(run.first_value, run.count, run.increment) for run in response.runs]
    count_ids([IdRun(run.first_value, run.count, run.increment) for run in runs], asked)
    return ReservedValues(runs, response.period_key)


class ValueReader:
    """Reads and checks the chunks of one server's stream. No chunk may be empty, there must be no more values than were
    asked for, and either all values have a text or none has.

    Values of several databases do not rise, so the order is not checked.
    """

    def __init__(self, count: int) -> None:
        self._left = count

    def take(self, response: pb.BatchNextValuesResponse) -> list[SequenceValue]:
        """Returns the values of a chunk.

        Raises:
            SnowlaneError: INVALID_RESPONSE.
        """
        values, texts, period_key = list(response.values), list(response.texts), response.period_key
        if not 1 <= len(values) <= self._left or len(texts) not in {0, len(values)}:
            raise invalid_response("The server sent an impossible chunk.", count=len(values), text_count=len(texts))
        _check(min(values))
        self._left -= len(values)
        if not texts:
            return [SequenceValue(value, "", period_key) for value in values]
        return [SequenceValue(value, text, period_key) for value, text in zip(values, texts, strict=True)]

    def end(self) -> None:
        """Raises SnowlaneError INVALID_RESPONSE if the stream ended too early."""
        if self._left:
            raise invalid_response(f"The server's stream ended {self._left} values early.", missing_count=self._left)


def _check(value: int) -> None:
    """Checks the lower end of a value's range; the upper end is that of its type."""
    if value < 1:
        raise invalid_response("The server sent a value below 1.", value=value)
