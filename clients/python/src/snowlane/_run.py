"""Runs of reserved IDs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ._errors import ErrorReason, SnowlaneError

ID_MAX = 2**63 - 1
"""The highest ID."""
ID_MIN = 1
"""The lowest ID that is accepted from a server: a message without an ID reads as 0."""


@dataclass(frozen=True, order=True)
class IdRun:
    """IDs in arithmetic progression: `first_id + i * stride` for i from 0 to `count - 1`.

    Attributes:
        first_id: The first ID, 0 to 2^63 - 1.
        count: How many IDs, at least 1.
        stride: The distance between neighbours, at least 1.
    """

    first_id: int
    count: int
    stride: int = 1

    def ids(self) -> range:
        """The IDs."""
        return range(self.first_id, self.first_id + self.count * self.stride, self.stride)


def cut_runs(runs: Sequence[IdRun], size: int) -> list[list[IdRun]]:
    """Cuts runs into pieces of `size` IDs; the last piece has the rest."""
    pieces: list[list[IdRun]] = []
    room = 0
    for run in runs:
        first, left = run.first_id, run.count
        while left > 0:
            if room == 0:
                pieces.append([])
                room = size
            taken = min(room, left)
            pieces[-1].append(IdRun(first, taken, run.stride))
            first += taken * run.stride
            left -= taken
            room -= taken
    return pieces


def count_ids(runs: Sequence[IdRun], asked: int) -> int:
    """Checks an answer to a reservation against its contract; returns how many IDs it holds.

    Args:
        asked: The most IDs that it may hold.

    Raises:
        SnowlaneError: INVALID_RESPONSE if it is empty or too large, a run is empty, has no stride or leaves 1 to 2^63 -
            1, or two runs overlap. One bad run makes the whole answer bad.
    """
    count = 0
    last_id = ID_MIN - 1
    for run in sorted(runs):
        if run.count < 1:
            raise _refused("a run's count is not 1 or more", run)
        if run.stride < 1:
            raise _refused("a run's stride is not 1 or more", run)
        if run.first_id < ID_MIN:
            raise _refused("an ID is 0", run)
        if run.first_id <= last_id:
            raise _refused("two runs overlap", run)
        last_id = run.first_id + (run.count - 1) * run.stride
        if last_id > ID_MAX:
            raise _refused("a run ends above 2^63 - 1", run)
        count += run.count
    if count == 0:
        raise SnowlaneError(ErrorReason.INVALID_RESPONSE, "The answer was refused: it holds no ID.")
    if count > asked:
        raise SnowlaneError(
            ErrorReason.INVALID_RESPONSE,
            f"The answer was refused: it holds {count} IDs, and at most {asked} were asked for.",
            metadata={"count": count, "asked_count": asked},
        )
    return count


def _refused(what: str, run: IdRun) -> SnowlaneError:
    metadata = {"first_id": run.first_id, "count": run.count, "stride": run.stride}
    return SnowlaneError(ErrorReason.INVALID_RESPONSE, f"The answer was refused: {what}.", metadata=metadata)
