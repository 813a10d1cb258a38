"""The fake: code under test takes it in place of a client."""

from __future__ import annotations

import asyncio

import pytest

from snowlane import AsyncIdSource, ErrorReason, IdRun, IdSource, SnowlaneError
from snowlane.testing import AsyncFakeIdClient, FakeClock, FakeIdClient, delay, fail


def reason_of(caught: pytest.ExceptionInfo[SnowlaneError]) -> ErrorReason:
    return caught.value.reason


def test_a_script_gives_ids_runs_and_faults_in_order() -> None:
    client = FakeIdClient([7, IdRun(100, 5, 2), fail("STORE_UNAVAILABLE", retry_after_s=1.5), 9])
    source: IdSource = client
    assert source.next_id() == 7
    assert source.next_id() == 100
    assert source.next_ids(2) == [102, 104]
    assert source.reserve(10) == [IdRun(106, 2, 2)]
    with pytest.raises(SnowlaneError) as caught:
        source.next_id()
    assert (reason_of(caught), caught.value.retry_after_s) == (ErrorReason.STORE_UNAVAILABLE, 1.5)
    assert list(source.stream(1)) == [[9]]
    with pytest.raises(SnowlaneError) as caught:
        source.next_id()
    assert reason_of(caught) is ErrorReason.SCRIPT_ENDED
    client.close()
    with pytest.raises(SnowlaneError) as caught:
        client.next_id()
    assert reason_of(caught) is ErrorReason.CLIENT_CLOSED


def test_a_pause_moves_the_clock() -> None:
    clock = FakeClock(now_ms=1_700_000_000_000)
    client = FakeIdClient([delay(2.5), 1], clock)
    assert client.next_id() == 1
    assert clock.now_ms() == 1_700_000_002_500


def test_a_buffer_over_a_fake_expires_by_the_fake_clock() -> None:
    client = FakeIdClient([IdRun(1, 32), IdRun(1000, 32), delay(0.5), IdRun(2000, 1000)])
    with client.prefetch(max_age_s=5, count_min=32) as buffer:
        assert [buffer.next_id() for _ in range(3)] == [1, 2, 3]
        client.clock.advance(4.99)
        assert buffer.next_id() == 4
        client.clock.advance(0.02)
        assert buffer.next_id() == 1000
        assert buffer.stats().dropped == 28


def test_a_buffer_waits_out_a_back_off_without_real_time() -> None:
    client = FakeIdClient([fail("BURST_EXCEEDED", retry_after_s=3), IdRun(1, 32)])
    buffer = client.prefetch(timeout_s=10)
    assert buffer.next_id() == 1
    # Of the 3 s, one counts.
    assert 1 <= client.clock.monotonic_s() < 3
    client.close()
    with pytest.raises(SnowlaneError) as caught:
        buffer.next_id()
    assert reason_of(caught) is ErrorReason.CLIENT_CLOSED


def test_a_buffer_gives_up_at_its_deadline_without_real_time() -> None:
    client = FakeIdClient([fail("STORE_UNAVAILABLE")] * 100)
    with client.prefetch(timeout_s=20) as buffer:
        with pytest.raises(SnowlaneError) as caught:
            buffer.next_id()
        assert reason_of(caught) is ErrorReason.STORE_UNAVAILABLE
        assert client.clock.monotonic_s() >= 20


def test_offline_work_needs_no_script() -> None:
    client = FakeIdClient([])
    assert client.parse(client.format(1541815603606036480, "serial")).worker_id == 26
    assert client.id_range(1_700_000_000_000_000_000, 1_700_000_001_000_000_000).first_id > 0
    assert client.layout().name == "twitter"


def test_timers_run_in_order_and_not_when_cancelled() -> None:
    clock = FakeClock()
    ran: list[str] = []
    clock.after(2, lambda: ran.append("second"))
    clock.after(1, lambda: clock.after(0.5, lambda: ran.append("first")))
    clock.after(1, lambda: ran.append("never")).cancel()
    clock.advance(1.2)
    assert ran == []
    clock.advance(10)
    assert ran == ["first", "second"]


def test_the_fake_for_asyncio() -> None:
    async def main() -> None:
        client = AsyncFakeIdClient([7, IdRun(100, 4), fail("QUOTA_EXCEEDED"), delay(2), 9, IdRun(1000, 64)])
        source: AsyncIdSource = client
        assert await source.next_id() == 7
        assert await source.next_ids(3) == [100, 101, 102]
        assert [list(chunk) async for chunk in source.stream(1)] == [[103]]
        with pytest.raises(SnowlaneError):
            await source.next_id()
        waiting = asyncio.create_task(source.next_id())
        await asyncio.sleep(0)
        client.clock.advance(1.9)
        await asyncio.sleep(0)
        assert not waiting.done()
        client.clock.advance(0.2)
        assert await waiting == 9
        async with source.prefetch(count_min=32) as buffer:
            assert await buffer.next_id() == 1000
            assert buffer.next_id_now() == 1001
            client.clock.advance(6)
            assert buffer.stats().dropped == 30
        assert (await source.parse(1541815603606036480)).worker_id == 26
        await client.close()
        with pytest.raises(SnowlaneError) as caught:
            await source.next_id()
        assert reason_of(caught) is ErrorReason.CLIENT_CLOSED

    asyncio.run(main())
