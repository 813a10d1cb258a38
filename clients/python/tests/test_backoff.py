"""How long what has failed is left alone."""

from __future__ import annotations

import pytest

from snowlane import ErrorReason, SnowlaneError, StatusCode
from snowlane._backoff import back_off_s, quota_wait_s, refill_back_off_s


@pytest.fixture(name="_draws_most")
def _draws_the_most(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("random.uniform", lambda _, most: most)


@pytest.mark.usefixtures("_draws_most")
@pytest.mark.parametrize(
    ("failures", "retry_after_s", "most_s"),
    [(0, None, 0.1), (3, None, 0.8), (5, None, 2.0), (1_000, None, 2.0), (0, 0.4, 0.6), (0, 20, 1.5), (9, 20, 2.0)],
)
def test_a_back_off_is_at_most_two_seconds(failures: int, retry_after_s: float | None, most_s: float) -> None:
    assert back_off_s(failures, retry_after_s) == pytest.approx(most_s)


@pytest.mark.usefixtures("_draws_most")
@pytest.mark.parametrize(("retry_after_s", "most_s"), [(None, 0), (0.3, 0.45), (5, 7.5), (3_600, 7.5)])
def test_of_the_wait_for_a_quota_at_most_five_seconds_count(retry_after_s: float | None, most_s: float) -> None:
    assert quota_wait_s(retry_after_s) == pytest.approx(most_s)


def test_a_back_off_is_never_shorter_than_the_part_that_counts() -> None:
    assert all(1 <= back_off_s(0, 20) <= 1.5 for _ in range(100))
    assert all(0 <= back_off_s(0, None) <= 0.1 for _ in range(100))


@pytest.mark.usefixtures("_draws_most")
@pytest.mark.parametrize(
    ("code", "endpoint", "most_s"),
    [
        (StatusCode.UNAVAILABLE, "http://a", 0.1),
        (StatusCode.UNAVAILABLE, None, 2.0),
        (StatusCode.RESOURCE_EXHAUSTED, "http://a", 2.0),
    ],
)
def test_a_buffer_adds_at_most_a_tenth_of_a_second_to_the_back_off_of_a_server(
    code: StatusCode, endpoint: str | None, most_s: float
) -> None:
    error = SnowlaneError(ErrorReason.STORE_UNAVAILABLE, "x", code=code, retry_after_s=1, endpoint=endpoint)
    assert refill_back_off_s(5, error) == pytest.approx(most_s)


@pytest.mark.usefixtures("_draws_most")
def test_before_the_first_answer_a_buffer_waits_for_at_most_400_ms() -> None:
    mistake = SnowlaneError(ErrorReason.UNREACHABLE, "x", metadata={"answered": "never"}, endpoint="http://a")
    assert refill_back_off_s(5, mistake) == pytest.approx(0.4)
