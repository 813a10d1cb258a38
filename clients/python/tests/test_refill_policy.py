"""How much a buffer reserves."""

from snowlane import PrefetchOptions
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
