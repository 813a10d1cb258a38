"""For users' own tests: a source of IDs that follows a script, without a server and without real time passing."""

from __future__ import annotations

import asyncio
import heapq
import itertools
import threading
from collections import deque
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from types import TracebackType
from typing import TYPE_CHECKING

from ._aio_buffer import AsyncPrefetchBuffer
from ._buffer import PrefetchBuffer
from ._errors import ErrorReason, SnowlaneError, check_chunk_size, check_count
from ._fake_script import Fault, Pause, delay, fail
from ._fake_sequence import AsyncFakeSequence, FakeSequence, ValueStep
from ._layout import Layout
from ._offline import OfflineIds
from ._options import COUNT_MAX, COUNT_MAX_DEFAULT, COUNT_MIN_DEFAULT, STOCK_MAX_DEFAULT, STREAM_COUNT_MAX
from ._parse import IdRange, ParsedId, id_range
from ._presets import LAYOUTS
from ._run import IdRun
from ._sequence import AsyncValueSequence, ValueSequence
from ._status_code import StatusCode
from ._text import TextForm, TextFormat

if TYPE_CHECKING:
    from .arrays import IdArray

__all__ = ["AsyncFakeIdClient", "FakeClock", "FakeIdClient", "Fault", "Pause", "Step", "ValueStep", "delay", "fail"]

_CHUNK_SIZE = 4096
_ABSENT = (fail(ErrorReason.SEQUENCE_NOT_FOUND, code=StatusCode.NOT_FOUND),)


@dataclass(eq=False)
class _FakeTimer:
    due_s: float
    number: int
    task: Callable[[], object] | None

    def cancel(self) -> None:
        self.task = None


class FakeClock:
    """A clock for tests: time moves by `advance`, and where a thread waits, by itself to the next thing that is due."""

    def __init__(self, now_ms: int = 0) -> None:
        self._start_ms = now_ms
        self._now_s = 0.0
        self._timers: list[tuple[float, int, _FakeTimer]] = []
        self._numbers = itertools.count()
        self._lock = threading.RLock()

    def monotonic_s(self) -> float:
        """Seconds since the clock was made."""
        return self._now_s

    def now_ms(self) -> int:
        """Unix milliseconds."""
        return self._start_ms + round(self._now_s * 1000)

    def uptime_s(self) -> float | None:
        """Not known."""
        return None

    def after(self, delay_s: float, task: Callable[[], object]) -> _FakeTimer:
        """Runs `task` once time has moved that far."""
        with self._lock:
            timer = _FakeTimer(self._now_s + max(delay_s, 0), next(self._numbers), task)
            heapq.heappush(self._timers, (timer.due_s, timer.number, timer))
            return timer

    def spawn(self, task: Callable[[], object]) -> None:
        """Runs `task` at once, on this thread."""
        task()

    def wait(self, condition: threading.Condition, timeout_s: float) -> None:
        """Lets time pass until something happens, for at most the given time."""
        until_s = self._now_s + timeout_s
        if not self._run_next(until_s):
            self._now_s = max(self._now_s, until_s)

    def advance(self, seconds: float) -> None:
        """Lets time pass: runs the timers that fall due, in order."""
        until_s = self._now_s + seconds
        while self._run_next(until_s):
            pass
        self._now_s = max(self._now_s, until_s)

    def _run_next(self, until_s: float) -> bool:
        with self._lock:
            while self._timers and self._timers[0][2].task is None:
                heapq.heappop(self._timers)
            if not self._timers or self._timers[0][0] > until_s:
                return False
            due = heapq.heappop(self._timers)[2]
            self._now_s = max(self._now_s, due.due_s)
            task, due.task = due.task, None
        if task is not None:
            task()
        return True


Step = int | IdRun | Fault | Pause


class _Script:
    """The rest of a script."""

    def __init__(self, steps: Iterable[Step]) -> None:
        self._steps = deque(steps)
        self.is_closed = False

    def take(self, count: int) -> list[IdRun] | Pause:
        """Takes up to `count` IDs, up to the next fault or pause; or the pause that is next.

        Raises:
            SnowlaneError: The fault that is next; SCRIPT_ENDED; CLIENT_CLOSED.
        """
        if self.is_closed:
            raise SnowlaneError(ErrorReason.CLIENT_CLOSED, "The client is closed.")
        if not self._steps:
            message = "The script has ended: the code under test takes more IDs than it says."
            raise SnowlaneError(ErrorReason.SCRIPT_ENDED, message)
        step = self._steps[0]
        if isinstance(step, Fault | Pause):
            self._steps.popleft()
            if isinstance(step, Fault):
                raise step.error.rethrown()
            return step
        runs: list[IdRun] = []
        while count > 0 and self._steps and not isinstance(self._steps[0], Fault | Pause):
            runs.append(self._cut(count))
            count -= runs[-1].count
        return runs

    def _cut(self, count: int) -> IdRun:
        step = self._steps.popleft()
        run = IdRun(step, 1, 1) if isinstance(step, int) else step
        assert isinstance(run, IdRun)
        if run.count <= count:
            return run
        self._steps.appendleft(IdRun(run.first_id + count * run.stride, run.count - count, run.stride))
        return IdRun(run.first_id, count, run.stride)


class FakeIdClient:
    """Replaces IdClient in tests: an IdSource that hands out the IDs of its script.

    Args:
        script: Steps, taken one for each attempt to issue: an ID, an IdRun, a fault (`fail`), or a pause (`delay`)
            before the step that follows. Once the script has ended, calls raise SCRIPT_ENDED, because a test that needs
            more IDs than its script has is wrong.
        clock: The clock, whose time moves only by pauses and `FakeClock.advance`. None: a clock of its own.
        layout: For offline work. None: `twitter`.
        sequences: The scripts of sequences by name: values, SequenceValues, ValueRuns, faults and pauses. Any other
            sequence raises SEQUENCE_NOT_FOUND.
    """

    def __init__(
        self,
        script: Iterable[Step],
        clock: FakeClock | None = None,
        *,
        layout: Layout | None = None,
        namespace: str = "default",
        sequences: Mapping[str, Iterable[ValueStep]] | None = None,
    ) -> None:
        self.clock = clock or FakeClock()
        self._script = _Script(script)
        self._layout = layout or LAYOUTS["twitter"]
        self._offline = OfflineIds(namespace)
        self._buffers: list[PrefetchBuffer] = []
        self._lock = threading.RLock()
        self._sequences = {
            name: FakeSequence(name, steps, self.clock.advance) for name, steps in (sequences or {}).items()
        }

    def next_id(self, timeout_s: float | None = None) -> int:
        """See IdClient."""
        return self._take(1)[0].first_id

    def next_ids(self, count: int, timeout_s: float | None = None) -> list[int]:
        """See IdClient."""
        return [id for run in self._take_all(count) for id in run.ids()]

    def ids_array(self, count: int, timeout_s: float | None = None) -> IdArray:
        """See IdClient."""
        from .arrays import array_of  # noqa: PLC0415

        return array_of([run.ids() for run in self._take_all(count)])

    def stream(
        self, count: int, *, timeout_s: float | None = None, chunk_size: int = 0, ordered: bool = False
    ) -> Iterator[Sequence[int]]:
        """See IdClient."""
        check_count(count, STREAM_COUNT_MAX)
        check_chunk_size(chunk_size)
        return self._stream(count, chunk_size or _CHUNK_SIZE)

    def reserve(self, count: int, timeout_s: float | None = None) -> Sequence[IdRun]:
        """Returns the IDs and runs of the script up to the next fault, pause or its end; at most `count` IDs."""
        check_count(count, COUNT_MAX)
        return self._take(count)

    def layout(self) -> Layout:
        """See IdClient."""
        return self._layout

    def parse(self, id_or_text: int | str, form: TextForm | None = None, *, utc_offset_minutes: int = 0) -> ParsedId:
        """See IdClient."""
        return self._offline.parse(self._layout, id_or_text, form, utc_offset_minutes)

    def id_range(self, start: datetime | int, end: datetime | int) -> IdRange:
        """See IdClient."""
        return id_range(self._layout, start, end)

    def format(self, id: int, format: TextFormat | TextForm) -> str:
        """See IdClient."""
        return self._offline.format(self._layout, id, format)

    def prefetch(
        self,
        *,
        max_age_s: float | None = None,
        count_min: int = COUNT_MIN_DEFAULT,
        count_max: int = COUNT_MAX_DEFAULT,
        timeout_s: float | None = None,
        outage_s: float | None = None,
        stock_max: int = STOCK_MAX_DEFAULT,
    ) -> PrefetchBuffer:
        """A real buffer over the script and the clock."""
        buffer = PrefetchBuffer(
            self,
            max_age_s=max_age_s,
            count_min=count_min,
            count_max=count_max,
            timeout_s=timeout_s,
            outage_s=outage_s,
            stock_max=stock_max,
            clock=self.clock,
        )
        self._buffers.append(buffer)
        return buffer

    def sequence(self, name: str) -> ValueSequence:
        """The sequence of that name, which follows its script."""
        return self._sequences.get(name) or FakeSequence(name, _ABSENT, self.clock.advance)

    def close(self) -> None:
        """See IdClient."""
        self._script.is_closed = True
        for sequence in self._sequences.values():
            sequence.close()
        for buffer in self._buffers:
            buffer.close()

    def __enter__(self) -> FakeIdClient:
        return self

    def __exit__(
        self, error_type: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def _take(self, count: int) -> list[IdRun]:
        while True:
            with self._lock:
                step = self._script.take(count)
            if not isinstance(step, Pause):
                return step
            self.clock.advance(step.seconds)

    def _take_all(self, count: int) -> list[IdRun]:
        check_count(count, COUNT_MAX)
        runs: list[IdRun] = []
        while count > 0:
            for run in self._take(count):
                runs.append(run)
                count -= run.count
        return runs

    def _stream(self, count: int, chunk_size: int) -> Iterator[Sequence[int]]:
        while count > 0:
            ids = [id for run in self._take(min(count, chunk_size)) for id in run.ids()]
            count -= len(ids)
            yield ids


class AsyncFakeIdClient:
    """Like FakeIdClient, in place of AsyncIdClient. A pause ends when the test moves the clock by `advance`."""

    def __init__(
        self,
        script: Iterable[Step],
        clock: FakeClock | None = None,
        *,
        layout: Layout | None = None,
        namespace: str = "default",
        sequences: Mapping[str, Iterable[ValueStep]] | None = None,
    ) -> None:
        self.clock = clock or FakeClock()
        self._script = _Script(script)
        self._layout = layout or LAYOUTS["twitter"]
        self._offline = OfflineIds(namespace)
        self._buffers: list[AsyncPrefetchBuffer] = []
        self._sequences = {
            name: AsyncFakeSequence(name, steps, self._pause) for name, steps in (sequences or {}).items()
        }

    async def next_id(self, timeout_s: float | None = None) -> int:
        """See AsyncIdClient."""
        return (await self._take(1))[0].first_id

    async def next_ids(self, count: int, timeout_s: float | None = None) -> list[int]:
        """See AsyncIdClient."""
        return [id for run in await self._take_all(count) for id in run.ids()]

    async def ids_array(self, count: int, timeout_s: float | None = None) -> IdArray:
        """See AsyncIdClient."""
        from .arrays import array_of  # noqa: PLC0415

        return array_of([run.ids() for run in await self._take_all(count)])

    def stream(
        self, count: int, *, timeout_s: float | None = None, chunk_size: int = 0, ordered: bool = False
    ) -> AsyncGenerator[Sequence[int], None]:
        """See AsyncIdClient."""
        check_count(count, STREAM_COUNT_MAX)
        check_chunk_size(chunk_size)
        return self._stream(count, chunk_size or _CHUNK_SIZE)

    async def reserve(self, count: int, timeout_s: float | None = None) -> Sequence[IdRun]:
        """See FakeIdClient."""
        check_count(count, COUNT_MAX)
        return await self._take(count)

    async def layout(self) -> Layout:
        """See AsyncIdClient."""
        return self._layout

    async def parse(
        self, id_or_text: int | str, form: TextForm | None = None, *, utc_offset_minutes: int = 0
    ) -> ParsedId:
        """See AsyncIdClient."""
        return self._offline.parse(self._layout, id_or_text, form, utc_offset_minutes)

    async def id_range(self, start: datetime | int, end: datetime | int) -> IdRange:
        """See AsyncIdClient."""
        return id_range(self._layout, start, end)

    async def format(self, id: int, format: TextFormat | TextForm) -> str:
        """See AsyncIdClient."""
        return self._offline.format(self._layout, id, format)

    def prefetch(
        self,
        *,
        max_age_s: float | None = None,
        count_min: int = COUNT_MIN_DEFAULT,
        count_max: int = COUNT_MAX_DEFAULT,
        timeout_s: float | None = None,
        outage_s: float | None = None,
        stock_max: int = STOCK_MAX_DEFAULT,
    ) -> AsyncPrefetchBuffer:
        """A real buffer over the script and the clock."""
        buffer = AsyncPrefetchBuffer(
            self,
            max_age_s=max_age_s,
            count_min=count_min,
            count_max=count_max,
            timeout_s=timeout_s,
            outage_s=outage_s,
            stock_max=stock_max,
            clock=self.clock,
        )
        self._buffers.append(buffer)
        return buffer

    def sequence(self, name: str) -> AsyncValueSequence:
        """The sequence of that name, which follows its script."""
        return self._sequences.get(name) or AsyncFakeSequence(name, _ABSENT, self._pause)

    async def close(self) -> None:
        """See AsyncIdClient."""
        self._script.is_closed = True
        for sequence in self._sequences.values():
            sequence.close()
        for buffer in self._buffers:
            await buffer.close()

    async def __aenter__(self) -> AsyncFakeIdClient:
        return self

    async def __aexit__(
        self, error_type: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.close()

    async def _take(self, count: int) -> list[IdRun]:
        while True:
            step = self._script.take(count)
            if not isinstance(step, Pause):
                return step
            await self._pause(step.seconds)

    async def _pause(self, seconds: float) -> None:
        passed = asyncio.Event()
        self.clock.after(seconds, passed.set)
        await passed.wait()

    async def _take_all(self, count: int) -> list[IdRun]:
        check_count(count, COUNT_MAX)
        runs: list[IdRun] = []
        while count > 0:
            for run in await self._take(count):
                runs.append(run)
                count -= run.count
        return runs

    async def _stream(self, count: int, chunk_size: int) -> AsyncGenerator[Sequence[int], None]:
        while count > 0:
            ids = [id for run in await self._take(min(count, chunk_size)) for id in run.ids()]
            count -= len(ids)
            yield ids
