"""How much a buffer reserves."""

from snowlane import PrefetchOptions
from snowlane._refill_policy import RefillPolicy


def test_a_time_below_10_ms_counts_as_10_ms_so_that_a_short_burst_does_not_make_a_huge_reservation() -> None:
    policy = RefillPolicy(PrefetchOptions())
    policy.measured(24, 0.0005)
    assert policy.rate_per_second == 2400
    policy.measured(24, 0.01)
    assert policy.rate_per_second == 2400
    policy.measured(24, 0.1)
    assert policy.rate_per_second == 1200
