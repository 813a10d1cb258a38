"""The stock decides as that of every other client does: test/vectors/README.md in the repository has the steps."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from snowlane._moment import Moment
from snowlane._options import PrefetchOptions
from snowlane._outage_policy import OutagePolicy
from snowlane._refill_policy import RefillPolicy
from snowlane._run import IdRun, cut_runs
from snowlane._stock import Answer, Stock
from snowlane.testing import FakeClock

_PATH = Path(__file__).parents[3] / "test" / "vectors" / "stock.json"
_HISTORIES = json.loads(_PATH.read_text())["vectors"]


class History:
    """Plays a history by the pure parts of a buffer, without timers and without a source."""

    def __init__(self, options: dict[str, int]) -> None:
        outage_s = options["outageMs"] / 1000 or None
        self._options = PrefetchOptions(
            max_age_s=options["maxAgeMs"] / 1000,
            count_min=options["countMin"],
            count_max=options["countMax"],
            outage_s=outage_s,
            stock_max=options["stockMax"],
        )
        self.clock = FakeClock()
        self._policy = RefillPolicy(self._options)
        self._outage = OutagePolicy(self._options, outage_s) if outage_s else None
        self._stock = Stock(self._policy, self._options.age_limit_s, self.clock.monotonic_s)
        self._asked: dict[int, Moment] = {}
        self._answers: list[Answer] = []

    def step(self, what: str, at_ms: int, step: dict[str, Any]) -> dict[str, Any]:
        """Runs a step, and returns it with its result."""
        self.clock.advance(at_ms / 1000 - self.clock.monotonic_s())
        if what == "ask":
            self._note_asked(at_ms)
            return {"count": self._policy.size()}
        if what == "look":
            return self._look(at_ms)
        if what == "claim":
            ids = self._claim(step["count"])
            return {"count": step["count"], "ids": ids, "isDue": self._stock.is_refill_due}
        if what == "expire":
            return self._expire()
        self._answer(at_ms, step)
        return step

    def _note_asked(self, at_ms: int) -> None:
        self._policy.measured(self.clock.monotonic_s(), self._stock.handed_out)
        self._asked[at_ms] = Moment(self.clock)

    def _look(self, at_ms: int) -> dict[str, Any]:
        assert self._outage
        piece_size = self._policy.second_size()
        self._outage.note(self.clock.monotonic_s(), self._stock.handed_out)
        count = self._outage.size(self._stock.young(self._outage.young_s), self._stock.pieces, piece_size)
        if count:
            self._note_asked(at_ms)
        return {"pieceSize": piece_size, "count": count}

    def _answer(self, at_ms: int, step: dict[str, Any]) -> None:
        runs = [IdRun(int(first), count, stride) for first, count, stride in step["runs"]]
        asked = self._asked[step["askedAtMs"]]
        self._policy.answered((at_ms - step["askedAtMs"]) / 1000)
        if "pieceSize" in step:
            pieces = [Answer(piece, asked, is_of_reserve=True) for piece in cut_runs(runs, step["pieceSize"])]
            self._stock.add_reserve(pieces)
            self._answers += pieces
        else:
            self._answers.append(Answer(runs, asked))
            self._stock.add(self._answers[-1])

    def _claim(self, count: int) -> list[list[Any]]:
        stretches: list[list[Any]] = []
        last: list[int] = []
        for _ in range(count):
            found = self._stock.claim()
            if found is None:
                break
            if len(last) == 1 and found > last[0]:
                stretches[-1][1:] = [2, found - last[0]]
                last.append(found)
            elif len(last) > 1 and found == last[-1] + stretches[-1][2]:
                stretches[-1][1] += 1
                last.append(found)
            else:
                stretches.append([str(found), 1, 1])
                last = [found]
        return stretches

    def _expire(self) -> dict[str, Any]:
        dropped = self._stock.dropped
        for answer in list(self._answers):
            if answer.asked.elapsed_s() >= self._options.age_limit_s:
                self._answers.remove(answer)
                if self._stock.has(answer):
                    self._stock.drop(answer)
        return {"dropped": self._stock.dropped - dropped, "stock": self._stock.count}


@pytest.mark.parametrize("vector", _HISTORIES, ids=[vector["name"] for vector in _HISTORIES])
def test_the_stock_decides_as_in_every_language(vector: dict[str, Any]) -> None:
    history = History(vector["options"])
    for number, (what, at_ms, step) in enumerate(vector["steps"]):
        assert history.step(what, at_ms, step) == step, f"step {number}: {what} at {at_ms} ms"
