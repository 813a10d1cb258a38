"""Which deployments a client uses: the IDs of two deployments can be equal."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ._errors import ErrorReason, SnowlaneError
from ._gen.v1 import id_service_pb2 as pb
from ._status_code import StatusCode

MEET_TIMEOUT_S = 0.5
"""The longest time that the first ID waits for all endpoints to say which deployment they belong to."""


@dataclass(frozen=True)
class MetServer:
    """A server, the number of its deployment (never 0), and its description of itself; None: it was not asked."""

    url: str
    number: int
    info: pb.GetInfoResponse | None = None


def number_of_fingerprint(fingerprint: str) -> int:
    """The number of a deployment as answers carry it: its first 8 digits, where 00000000 counts as 1. 0: unknown."""
    return max(int(fingerprint[:8], 16), 1) if fingerprint else 0


def number_of_response(response: Any) -> int:
    """The number that an answer carries; 0 where it carries none."""
    if isinstance(response, pb.GetInfoResponse):
        return number_of_fingerprint(response.deployment_fingerprint)
    number: int = getattr(response, "deployment", 0)
    return number


def database_of_response(response: Any) -> int:
    """The number of the database of sequences that counts the values of an answer; 0 where it carries none."""
    number: int = getattr(response, "database", 0)
    return number


@dataclass(frozen=True)
class _Noun:
    """The kind of thing that a number identifies, in texts and metadata."""

    key: str
    name: str
    items: str


_DEPLOYMENT = _Noun("deployment", "deployment", "IDs")
_DATABASE = _Noun("database", "database of sequences", "values")


class Deployments:
    """The deployments whose IDs a client uses: the first that it meets, and others whose IDs certainly differ from
    those of the first.

    Safe for any number of threads. Attempts 14 of docs/internals/client-contract.md in the repository has the rule.
    """

    def __init__(self, fingerprints: Sequence[str] | None, noun: _Noun = _DEPLOYMENT) -> None:
        """None: the first deployment that is met is used. Otherwise only those that are listed."""
        self._noun = noun
        self._listed = None if fingerprints is None else [number_of_fingerprint(each) for each in fingerprints]
        self._used: dict[int, MetServer] = {}
        self._conflict: SnowlaneError | None = None
        self.current = 0
        """The number in the last answer; 0 before the first one that has a number."""
        self._lock = threading.Lock()

    @classmethod
    def of_databases(cls) -> Deployments:
        """The databases of sequences whose values a client uses: the first that it meets, and no other."""
        return cls(None, _DATABASE)

    def after_fork_in_child(self) -> None:
        """The parent's deployment stays the child's. The lock may be held by a thread that does not exist here."""
        self._lock = threading.Lock()

    def check_conflict(self) -> None:
        """
        Raises:
            SnowlaneError: DEPLOYMENT_MISMATCH, where two deployments were met before the first ID.
        """
        if self._conflict is not None:
            raise self._conflict.rethrown()

    def meet_at_start(self, server: MetServer) -> bool:
        """Adds a server that was met before the first ID. Returns False if its deployment must not be mixed with one
        before: then no call gets an ID.
        """
        with self._lock:
            if self._join(server):
                return True
            self._conflict = self._conflict or self._mismatch(server)
            return False

    def knows(self, number: int) -> bool:
        """Whether an answer with this number may be used as it is."""
        return number == 0 or number in self._used

    def admit(self, server: MetServer) -> None:
        """Checks the number of an answer, before any ID of it is read.

        Raises:
            SnowlaneError: DEPLOYMENT_MISMATCH: the answer must be dropped whole.
        """
        self.check_conflict()
        with self._lock:
            if not self._join(server):
                raise self._mismatch(server)
            self.current = server.number

    def _join(self, server: MetServer) -> bool:
        if server.number in self._used:
            return True
        if self._listed is None:
            goes_together = all(_are_disjoint(used.info, server.info) for used in self._used.values())
        else:
            goes_together = server.number in self._listed
        if goes_together:
            self._used[server.number] = server
        return goes_together

    def _mismatch(self, server: MetServer) -> SnowlaneError:
        first = next(iter(self._used.values()), None)
        numbers = self._listed or ([first.number] if first else [])
        expected = ", ".join(f"{number:08x}" for number in numbers)
        in_use = f"{expected}, first at {first.url}" if first else expected
        key, name, items = self._noun.key, self._noun.name, self._noun.items
        metadata = {key: f"{server.number:08x}", f"expected_{key}": expected}
        if first:
            metadata["endpoint_first"] = first.url
        return SnowlaneError(
            ErrorReason.DEPLOYMENT_MISMATCH,
            f"This server is of another {name} ({server.number:08x}) than the one in use ({in_use}): their {items} can "
            "be equal. Correct the endpoints, or restart this process if the change is meant.",
            code=StatusCode.FAILED_PRECONDITION,
            metadata=metadata,
            endpoint=server.url,
        )


def _are_disjoint(a: pb.GetInfoResponse | None, b: pb.GetInfoResponse | None) -> bool:
    """Whether two stores of one layout are bound to different worker IDs, so that their IDs differ."""
    if a is None or b is None or not a.HasField("layout") or a.layout != b.layout:
        return False
    if a.binding.HasField("worker_ids") and b.binding.HasField("worker_ids"):
        return a.binding.worker_ids.last < b.binding.worker_ids.first or (
            b.binding.worker_ids.last < a.binding.worker_ids.first
        )
    ours, theirs = set(a.binding.datacenter_ids), set(b.binding.datacenter_ids)
    return bool(ours and theirs) and not ours & theirs
