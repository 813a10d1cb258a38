"""The stock that a buffer keeps for an outage, by the fake clock."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from stub_source import StubSource

from snowlane import AsyncPrefetchBuffer, ErrorReason, IdRun, PrefetchBuffer, SnowlaneError
from snowlane._options import PrefetchOptions
from snowlane.testing import FakeClock

MINUTE_S = 60.0
MINUTE_S_IN_STEPS = 1200
"""Of 50 ms."""


class MortalSource(StubSource):
    """Grants ever new IDs, and fails while it is dead."""

    def __init__(self) -> None:
        super().__init__(run_max=1 << 20)
        self.asked: list[int] = []
        self.is_dead = False
        self.clock: FakeClock | None = None
        self._granted: list[tuple[int, float]] = []

    def age_s(self, id: int, now_s: float) -> float:
        """How long ago an ID was granted."""
        return now_s - next(at_s for first, at_s in reversed(self._granted) if first <= id)

    def reserve(self, count: int, timeout_s: float | None = None) -> Sequence[IdRun]:
        self.asked.append(count)
        if self.is_dead:
            raise SnowlaneError(ErrorReason.UNREACHABLE, "It is dead.")
        runs = super().reserve(count, timeout_s)
        if self.clock:
            self._granted.append((runs[0].first_id, self.clock.monotonic_s()))
        return runs


class AsyncMortalSource:
    """The same, awaited."""

    def __init__(self) -> None:
        self.source = MortalSource()

    async def reserve(self, count: int, timeout_s: float | None = None) -> Sequence[IdRun]:
        return self.source.reserve(count, timeout_s)


class Trial:
    """A buffer whose IDs are taken at an even rate."""

    def __init__(self, **options: Any) -> None:
        self.source = MortalSource()
        self.clock = self.source.clock = FakeClock()
        self.buffer = PrefetchBuffer(self.source, clock=self.clock, **options)
        self.taken: set[int] = set()

    def run(self, seconds: float, per_second: int) -> None:
        run_evenly(seconds, per_second, lambda count, step_s: self.take(self.buffer.next_ids(count), step_s))

    def take(self, ids: list[int], step_s: float) -> None:
        before = len(self.taken)
        self.taken.update(ids)
        assert len(self.taken) == before + len(ids)
        self.clock.advance(step_s)


def run_evenly(seconds: float, per_second: int, take: Callable[[int, float], None]) -> None:
    step_s = max(0.25, 1 / per_second)
    for _ in range(round(seconds / step_s)):
        take(round(per_second * step_s), step_s)


def test_a_thousand_ids_a_second_go_on_for_ten_minutes_without_any_server() -> None:
    trial = Trial(outage_s=10 * MINUTE_S)
    trial.run(3 * MINUTE_S, 1000)
    before = trial.buffer.stats()
    assert 10 * MINUTE_S < before.outage_left_s <= 20 * MINUTE_S
    trial.source.is_dead = True
    trial.run(10 * MINUTE_S, 1000)
    trial.source.is_dead = False
    trial.run(2 * MINUTE_S, 1000)
    after = trial.buffer.stats()
    assert after.waits == before.waits
    assert after.refill_failures > 0
    assert after.reserved == after.handed_out + after.dropped + after.stock


def test_the_same_holds_on_an_event_loop() -> None:
    async def run() -> None:
        source = AsyncMortalSource()
        clock = FakeClock()
        buffer = AsyncPrefetchBuffer(source, outage_s=10 * MINUTE_S, clock=clock)
        taken: set[int] = set()
        waits = 0
        for step in range(4 * 15 * 60):
            source.source.is_dead = 4 * 3 * 60 <= step < 4 * 13 * 60
            if step == 4 * 3 * 60:
                waits = buffer.stats().waits
            taken.update(await buffer.next_ids(250))
            clock.advance(0.25)
            # A refill is a task of its own.
            await asyncio.sleep(0)
            await asyncio.sleep(0)
        stats = buffer.stats()
        assert len(taken) == 15 * 60 * 1000
        assert stats.waits == waits
        assert stats.refill_failures > 0
        await buffer.close()

    asyncio.run(run())


def test_it_is_filled_gently_and_dropped_at_the_end() -> None:
    trial = Trial(outage_s=10 * MINUTE_S)
    trial.run(2 * MINUTE_S, 1000)
    stock = trial.buffer.stats().stock
    assert 0.95 * 610_000 < stock < 1.05 * 610_000
    assert max(trial.source.asked) < 28_000
    trial.buffer.close()
    assert (trial.buffer.stats().stock, trial.buffer.stats().dropped) == (0, stock)


def test_with_servers_that_are_well_ids_are_as_fresh_as_without_it() -> None:
    trial = Trial(outage_s=10)
    trial.run(MINUTE_S, 100)
    before = trial.buffer.stats()
    ages = []
    for _ in range(MINUTE_S_IN_STEPS):
        found = trial.buffer.next_ids(5)
        ages += [trial.source.age_s(id, trial.clock.monotonic_s()) for id in found]
        trial.take(found, 0.05)
    assert sorted(ages)[len(ages) * 99 // 100] <= 1.3
    after = trial.buffer.stats()
    assert after.reserved - before.reserved < 2.3 * (after.handed_out - before.handed_out)


def test_it_follows_the_rate_and_a_buffer_that_nobody_uses_goes_to_sleep() -> None:
    trial = Trial(outage_s=10)
    trial.run(2 * MINUTE_S, 100)
    trial.run(2 * MINUTE_S, 1)
    assert trial.buffer.stats().stock < 128
    trial.clock.advance(3 * MINUTE_S)
    asked = len(trial.source.asked)
    trial.clock.advance(10 * MINUTE_S)
    assert len(trial.source.asked) == asked
    assert trial.buffer.stats().outage_left_s == 0
    trial.buffer.next_id()


def test_stock_max_bounds_the_young_ids_that_it_aims_at() -> None:
    trial = Trial(outage_s=10 * MINUTE_S, stock_max=20_000)
    trial.run(4 * MINUTE_S, 1000)
    assert 18_000 < trial.buffer.stats().stock <= 20_000 + 1250


def test_options_out_of_range_are_refused() -> None:
    for outage_s, max_age_s, stock_max in (
        (0.9, None, 1),
        (1801, None, 1),
        (60, 59, 1),
        (60, 3601, 1),
        (60, None, 0),
        (None, 61, 1),
    ):
        with pytest.raises(ValueError, match=r"outage_s|max_age_s|stock_max"):
            PrefetchOptions(outage_s=outage_s, max_age_s=max_age_s, stock_max=stock_max)
    assert PrefetchOptions(outage_s=1800).age_limit_s == 3600
