"""The counters of a buffer."""

from __future__ import annotations

from dataclasses import dataclass

from ._refiller import Refiller


@dataclass(frozen=True)
class BufferStats:
    """The counters of a buffer. `reserved` is `handed_out` + `dropped` + `stock`.

    Attributes:
        handed_out: IDs given to callers.
        reserved: IDs taken into stock.
        dropped: IDs dropped unused, too old or at the end.
        refills: Answers taken into stock.
        refill_failures: Reservations that failed, or whose answer was refused or too late.
        waits: Calls that found nothing in stock and waited.
        stock: IDs that callers can get without waiting.
        rate_per_second: The rate at which IDs were handed out, as last measured.
        mean_rtt_s: The mean round trip of successful reservations, in which the latest weigh most.
        outage_left_s: How long the stock lasts at the measured rate, at most `max_age_s`.
    """

    handed_out: int
    reserved: int
    dropped: int
    refills: int
    refill_failures: int
    waits: int
    stock: int
    rate_per_second: float
    mean_rtt_s: float
    outage_left_s: float


def stats_of(refiller: Refiller, waits: int) -> BufferStats:
    """A snapshot."""
    stock = refiller.stock
    # One reading of the slice for both figures, so that they agree.
    left = stock.count
    return BufferStats(
        handed_out=stock.reserved - stock.dropped - left,
        reserved=stock.reserved,
        dropped=stock.dropped,
        refills=refiller.refills,
        refill_failures=refiller.failures,
        waits=waits,
        stock=left,
        rate_per_second=refiller.policy.rate_per_second,
        mean_rtt_s=refiller.policy.mean_rtt_s,
        outage_left_s=refiller.outage_left_s(left),
    )
