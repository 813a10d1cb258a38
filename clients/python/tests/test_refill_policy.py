"""How much a buffer reserves."""

from snowlane._options import PrefetchOptions
from snowlane._refill_policy import RefillPolicy


def test_the_rate_is_measured_over_a_second_at_least_so_that_a_short_burst_makes_no_huge_reservation() -> None:
    policy = RefillPolicy(PrefetchOptions())
    policy.measured(0, 0)
    policy.measured(0.0005, 200)
    assert policy.rate_per_second == 200
    policy.measured(2, 200)
    assert policy.rate_per_second == 100
    policy.measured(2.5, 250)
    assert policy.rate_per_second == 100


def test_at_2000_ids_a_second_a_reservation_asks_for_2000_with_the_marks_that_the_example_says() -> None:
    def measured(rtt_s: float | None = None) -> RefillPolicy:
        policy = RefillPolicy(PrefetchOptions(count_min=32))
        policy.measured(0, 0)
        policy.measured(1, 2_000)
        if rtt_s is not None:
            policy.answered(rtt_s)
        return policy

    first = RefillPolicy(PrefetchOptions(count_min=32))
    first.measured(0, 0)
    assert first.size() == 32
    policy = measured()
    assert policy.size() == 2_000
    assert [measured(rtt_s).mark(2_000) for rtt_s in (0.005, 0.05, 0.1)] == [500, 800, 1_600]
    rates = []
    for second in range(6):
        policy.measured(2 + second, 2_000)
        rates.append(policy.rate_per_second)
    assert rates == [1_000, 500, 250, 125, 62.5, 31.25]
    assert policy.size() == 32


def test_a_mark_that_is_met_within_250_ms_doubles_the_next_reservation() -> None:
    policy = RefillPolicy(PrefetchOptions(count_min=32))
    policy.met_mark(32, 0.25)
    assert policy.size() == 64
    policy.met_mark(32, 0.251)
    assert policy.size() == 32
