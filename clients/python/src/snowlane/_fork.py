"""What a forked child has to forget."""

from __future__ import annotations

import os
import weakref
from typing import Protocol

from ._clock import SYSTEM_CLOCK


class Forkable(Protocol):
    """Something that holds IDs, locks, threads or connections that are the parent's after a fork."""

    def _after_fork_in_child(self) -> None:
        """Forgets them. No other thread runs yet; locks may be held by threads that do not exist here."""


# A hook cannot be removed again, so there is only one, for all objects that are still in use.
_in_use: weakref.WeakSet[Forkable] = weakref.WeakSet()


def forget_after_fork(forkable: Forkable) -> None:
    """Calls `_after_fork_in_child` in every forked child, before any code of the child itself runs."""
    _in_use.add(forkable)


def _after_fork_in_child() -> None:
    SYSTEM_CLOCK.after_fork_in_child()
    for forkable in list(_in_use):
        forkable._after_fork_in_child()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork_in_child)
