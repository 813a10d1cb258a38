"""Sequences: what both clients and both fakes give for one."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple, Protocol

from ._errors import ErrorReason, SnowlaneError


class SequenceValue(NamedTuple):
    """One value of a sequence.

    Attributes:
        value: 1 to 2^63 - 1. It is unique within its sequence and `period_key`.
        text: The value as the sequence's template writes it; empty if it has none.
        period_key: The period of the value: `2026`, `2026-11` or `2026-11-22`; empty if the sequence has none.
    """

    value: int
    text: str = ""
    period_key: str = ""


@dataclass(frozen=True)
class ValueRun:
    """Values in arithmetic progression: `first_value + i * increment` for i from 0 to `count - 1`.

    Attributes:
        first_value: The first value, 1 to 2^63 - 1.
        count: How many values, at least 1.
        increment: The distance between neighbours, at least 1.
    """

    first_value: int
    count: int
    increment: int = 1

    def values(self) -> range:
        """The values."""
        return range(self.first_value, self.first_value + self.count * self.increment, self.increment)


@dataclass(frozen=True)
class ReservedValues:
    """Values that belong to the caller, used or not.

    Attributes:
        runs: At least one run.
        period_key: The period of all of them; empty if the sequence has none.
    """

    runs: Sequence[ValueRun]
    period_key: str = ""


class ValueSequence(Protocol):
    """One sequence of the deployment, for threads.

    Each call goes to a server: values are kept in stock there, and nowhere in the client. A value that was not received
    is a gap, and a retry gets another value.

    Every method may raise SnowlaneError SEQUENCE_NOT_FOUND, SEQUENCE_DISABLED, VALUES_EXHAUSTED, STORE_WENT_BACK, and
    the errors of calls for IDs. `timeout_s` is as for IdClient.next_id.
    """

    @property
    def name(self) -> str:
        """The sequence's name."""

    def next_value(self, timeout_s: float | None = None, *, for_time: datetime | int | None = None) -> SequenceValue:
        """Takes one value.

        Args:
            timeout_s: As for IdClient.next_id.
            for_time: Takes a value of the period that this time is in: a datetime with a time zone, or an int of Unix
                nanoseconds. Only for periodic sequences.

        Raises:
            SnowlaneError: PERIOD_CLOSED if that period has not begun, or ended longer ago than the sequence allows.
        """

    def next_text(self, timeout_s: float | None = None, *, for_time: datetime | int | None = None) -> str:
        """Takes one value and returns its text.

        Raises:
            SnowlaneError: INVALID_SEQUENCE if the sequence has no template; the value is then a gap.
        """

    def next_values(self, count: int, timeout_s: float | None = None) -> list[SequenceValue]:
        """Takes `count` values, 1 to 1,048,576, by a stream."""

    def stream(
        self, count: int, *, timeout_s: float | None = None, chunk_size: int = 0, ordered: bool = False
    ) -> Iterator[Sequence[SequenceValue]]:
        """Takes `count` values, 1 to 10^9, in chunks: exactly that many, or an error. Closing the iterator cancels it.

        A stream that breaks is continued by another, whose values may start lower, unless `ordered` is set.
        """

    def reserve(self, count: int, timeout_s: float | None = None) -> ReservedValues:
        """Reserves 1 to `count` values, at most 1,048,576, as runs; a server grants what it has without waiting."""


class AsyncValueSequence(Protocol):
    """One sequence for asyncio: like ValueSequence, but awaited."""

    @property
    def name(self) -> str:
        """See ValueSequence."""

    async def next_value(
        self, timeout_s: float | None = None, *, for_time: datetime | int | None = None
    ) -> SequenceValue:
        """See ValueSequence."""

    async def next_text(self, timeout_s: float | None = None, *, for_time: datetime | int | None = None) -> str:
        """See ValueSequence."""

    async def next_values(self, count: int, timeout_s: float | None = None) -> list[SequenceValue]:
        """See ValueSequence."""

    def stream(
        self, count: int, *, timeout_s: float | None = None, chunk_size: int = 0, ordered: bool = False
    ) -> AsyncGenerator[Sequence[SequenceValue], None]:
        """See ValueSequence. contextlib.aclosing cancels at once where a loop is left early."""

    async def reserve(self, count: int, timeout_s: float | None = None) -> ReservedValues:
        """See ValueSequence."""


def text_of(name: str, value: SequenceValue) -> str:
    """Returns the text of a value.

    Raises:
        SnowlaneError: INVALID_SEQUENCE, if it has none.
    """
    if value.text:
        return value.text
    message = f"The sequence {name} has no text template, so its values have no text. Call next_value() instead."
    metadata = {"name": name, "value": value.value, "field": "text_template"}
    raise SnowlaneError(ErrorReason.INVALID_SEQUENCE, message, metadata=metadata)
