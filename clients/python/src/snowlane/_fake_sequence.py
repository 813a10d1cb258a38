"""Sequences that follow a script: see snowlane.testing."""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Iterator, Sequence
from datetime import datetime

from ._errors import ErrorReason, SnowlaneError, check_chunk_size, check_count
from ._fake_script import Fault, Pause
from ._options import COUNT_MAX, STREAM_COUNT_MAX
from ._sequence import ReservedValues, SequenceValue, ValueRun, text_of

_CHUNK_SIZE = 4096

ValueStep = int | SequenceValue | ValueRun | Fault | Pause


class _ValueScript:
    """The rest of a script."""

    def __init__(self, steps: Iterable[ValueStep]) -> None:
        self._steps: deque[SequenceValue | ValueRun | Fault | Pause] = deque(
            SequenceValue(step) if isinstance(step, int) else step for step in steps
        )
        self.is_closed = False

    def take(self, count: int) -> list[SequenceValue] | Pause:
        """Takes up to `count` values of one period, up to the next fault or pause; or the pause that is next.

        Raises:
            SnowlaneError: The fault that is next; SCRIPT_ENDED; CLIENT_CLOSED.
        """
        if self.is_closed:
            raise SnowlaneError(ErrorReason.CLIENT_CLOSED, "The client is closed.")
        values: list[SequenceValue] = []
        while len(values) < count and self._steps:
            step = self._steps[0]
            if isinstance(step, ValueRun):
                taken = min(step.count, count - len(values))
                if values and values[0].period_key:
                    break
                values += [SequenceValue(value) for value in step.values()[:taken]]
                self._steps.popleft()
                if taken < step.count:
                    first_value = step.first_value + taken * step.increment
                    self._steps.appendleft(ValueRun(first_value, step.count - taken, step.increment))
            elif isinstance(step, SequenceValue):
                if values and values[0].period_key != step.period_key:
                    break
                values.append(step)
                self._steps.popleft()
            else:
                break
        return values or self._interlude()

    def _interlude(self) -> Pause:
        if not self._steps:
            message = "The script has ended: the code under test takes more values than it says."
            raise SnowlaneError(ErrorReason.SCRIPT_ENDED, message)
        step = self._steps.popleft()
        if isinstance(step, Fault):
            raise step.error.rethrown()
        assert isinstance(step, Pause)
        return step


def _reserved(values: Sequence[SequenceValue]) -> ReservedValues:
    return ReservedValues([ValueRun(value.value, 1) for value in values], values[0].period_key)


class FakeSequence:
    """A ValueSequence that follows a script. `pause` lets time pass."""

    def __init__(self, name: str, script: Iterable[ValueStep], pause: Callable[[float], None]) -> None:
        self.name = name
        self._script = _ValueScript(script)
        self._pause = pause

    def next_value(self, timeout_s: float | None = None, *, for_time: datetime | int | None = None) -> SequenceValue:
        """See ValueSequence."""
        return self._take(1)[0]

    def next_text(self, timeout_s: float | None = None, *, for_time: datetime | int | None = None) -> str:
        """See ValueSequence."""
        return text_of(self.name, self.next_value())

    def next_values(self, count: int, timeout_s: float | None = None) -> list[SequenceValue]:
        """See ValueSequence."""
        check_count(count, COUNT_MAX)
        return [value for values in self.stream(count) for value in values]

    def stream(
        self, count: int, *, timeout_s: float | None = None, chunk_size: int = 0, ordered: bool = False
    ) -> Iterator[Sequence[SequenceValue]]:
        """See ValueSequence."""
        check_count(count, STREAM_COUNT_MAX)
        check_chunk_size(chunk_size)
        return self._stream(count, chunk_size or _CHUNK_SIZE)

    def reserve(self, count: int, timeout_s: float | None = None) -> ReservedValues:
        """Returns the values of the script up to the next fault, pause, other period or its end; at most `count`."""
        check_count(count, COUNT_MAX)
        return _reserved(self._take(count))

    def close(self) -> None:
        """Ends it: further calls raise CLIENT_CLOSED."""
        self._script.is_closed = True

    def _take(self, count: int) -> list[SequenceValue]:
        while isinstance(step := self._script.take(count), Pause):
            self._pause(step.seconds)
        return step

    def _stream(self, count: int, chunk_size: int) -> Iterator[Sequence[SequenceValue]]:
        while count > 0:
            values = self._take(min(count, chunk_size))
            count -= len(values)
            yield values


class AsyncFakeSequence:
    """An AsyncValueSequence that follows a script. `pause` waits until time has passed."""

    def __init__(self, name: str, script: Iterable[ValueStep], pause: Callable[[float], Awaitable[None]]) -> None:
        self.name = name
        self._script = _ValueScript(script)
        self._pause = pause

    async def next_value(
        self, timeout_s: float | None = None, *, for_time: datetime | int | None = None
    ) -> SequenceValue:
        """See ValueSequence."""
        return (await self._take(1))[0]

    async def next_text(self, timeout_s: float | None = None, *, for_time: datetime | int | None = None) -> str:
        """See ValueSequence."""
        return text_of(self.name, await self.next_value())

    async def next_values(self, count: int, timeout_s: float | None = None) -> list[SequenceValue]:
        """See ValueSequence."""
        check_count(count, COUNT_MAX)
        return [value async for values in self.stream(count) for value in values]

    def stream(
        self, count: int, *, timeout_s: float | None = None, chunk_size: int = 0, ordered: bool = False
    ) -> AsyncGenerator[Sequence[SequenceValue], None]:
        """See ValueSequence."""
        check_count(count, STREAM_COUNT_MAX)
        check_chunk_size(chunk_size)
        return self._stream(count, chunk_size or _CHUNK_SIZE)

    async def reserve(self, count: int, timeout_s: float | None = None) -> ReservedValues:
        """See FakeSequence."""
        check_count(count, COUNT_MAX)
        return _reserved(await self._take(count))

    def close(self) -> None:
        """Ends it: further calls raise CLIENT_CLOSED."""
        self._script.is_closed = True

    async def _take(self, count: int) -> list[SequenceValue]:
        while isinstance(step := self._script.take(count), Pause):
            await self._pause(step.seconds)
        return step

    async def _stream(self, count: int, chunk_size: int) -> AsyncGenerator[Sequence[SequenceValue], None]:
        while count > 0:
            values = await self._take(min(count, chunk_size))
            count -= len(values)
            yield values
