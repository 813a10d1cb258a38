"""Makes gRPC survive os.fork. Imported before anything that imports grpc, which reads the environment once.

Without GRPC_ENABLE_FORK_SUPPORT a forked child of a process that has used gRPC hangs in its first call. With it, gRPC
still gives up on a fork that happens while another thread is inside a call
(https://github.com/grpc/grpc/blob/master/doc/fork_support.md); so a fork waits here until the calls of this package are
over, and calls wait until the fork is. That wait must come before gRPC's own hook, which halts the threads that bring
the answers to streams: a call that waits for one would then never be over. A call that outlasts the wait is cut off,
with the connections of its client, and tried again: left in the midst of it, gRPC can hang in the child.

grpc.aio has a thread that is inside gRPC as long as a channel of it exists, closed or not. A closed one can be kept by
an exception whose traceback names it, and those of cancelled tasks lie in cycles; so a fork collects garbage first.

docs/adr/0055, docs/adr/0058 and docs/adr/0074 have the reasons.
"""

from __future__ import annotations

import gc
import os
import sys
import threading
import time
import weakref
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Protocol

_VARIABLE = "GRPC_ENABLE_FORK_SUPPORT"
_CUT_AFTER_S = 3.0
"""How long a fork waits for calls on their way; it cuts off those that take longer."""
_POLLER_ENDS_MAX_S = 2.0
"""How long a fork waits for the thread of grpc.aio, once no channel of it is left."""
_FORK_MAX_S = 10.0
"""The longest time that calls wait for a fork."""

if "grpc" not in sys.modules:
    os.environ.setdefault(_VARIABLE, "1")

is_supported = os.environ.get(_VARIABLE, "").lower() in {"1", "t", "true", "y", "yes"}
"""Whether a child can use gRPC although its parent has used it."""


_parents_channels: list[object] = []
_lost_because: str | None = None
_POLLER_NAME = "(_poll_wrapper)"
"""How the name of grpc.aio's thread ends: threading names a thread after its target."""


def leave_to_parent(channels: Iterable[object]) -> None:
    """In a forked child: forgets the channels that its parent has open. They are kept forever, because closing them
    here can hang.
    """
    global _lost_because  # noqa: PLW0603
    before = len(_parents_channels)
    _parents_channels.extend(channels)
    if len(_parents_channels) > before and not is_supported:
        _lost_because = f"grpc was imported there without {_VARIABLE}=1: set it, or import snowlane before grpc"


def lost_because() -> str | None:
    """Why the first call of this process would hang; None if it would not."""
    return _lost_because


class _Gate:
    """A gate that lets many calls through, or one fork."""

    def __init__(self) -> None:
        self.changed = threading.Condition()
        self.forking = 0
        self.calls: dict[int, int] = {}
        self.leaves_call = False
        """Whether the fork at hand did not wait for all calls."""
        self.leaves_poller = False
        """Whether the fork at hand leaves a thread of grpc.aio inside gRPC."""

    def others(self) -> int:
        """How many calls run on other threads: a thread that forks in the midst of a call of its own cannot wait for
        that call.
        """
        own = threading.get_ident()
        return sum(count for thread, count in self.calls.items() if thread != own)

    def wait_for_others(self) -> bool:
        """Whether the calls were over in time."""
        with self.changed:
            return self.changed.wait_for(lambda: self.others() == 0, _CUT_AFTER_S)


_gate = _Gate()


@contextmanager
def grpc_call() -> Iterator[None]:
    """A context for each blocking call into gRPC."""
    gate, thread = _gate, threading.get_ident()
    with gate.changed:
        # A call inside a call does not wait: a fork waits for it already.
        if thread not in gate.calls:
            gate.changed.wait_for(lambda: gate.forking == 0, _FORK_MAX_S)
        gate.calls[thread] = gate.calls.get(thread, 0) + 1
    try:
        yield
    finally:
        with gate.changed:
            gate.calls[thread] -= 1
            if gate.calls[thread] == 0:
                del gate.calls[thread]
            gate.changed.notify_all()


class Caller(Protocol):
    """Something whose threads call gRPC."""

    def _cut_calls(self) -> None:
        """Ends the calls that are on their way. They are tried again like those of a connection that broke."""


_callers: weakref.WeakSet[Caller] = weakref.WeakSet()
_is_waiting_before_forks = False


def wait_before_forks(caller: Caller) -> None:
    """Must be called after a channel was made, because gRPC then registers its own hook: before a fork, hooks run in
    the reverse order of their registration, so that this one runs first.
    """
    global _is_waiting_before_forks  # noqa: PLW0603
    _callers.add(caller)
    if _is_waiting_before_forks or not hasattr(os, "register_at_fork"):
        return
    _is_waiting_before_forks = True
    os.register_at_fork(before=_await_calls, after_in_parent=_let_calls_go_on)


def _await_calls() -> None:
    with _gate.changed:
        _gate.forking += 1
    if not _gate.wait_for_others():
        for caller in list(_callers):
            caller._cut_calls()
        _gate.leaves_call = not _gate.wait_for_others()


def _let_calls_go_on() -> None:
    with _gate.changed:
        _gate.forking -= 1
        _gate.leaves_call = False
        _gate.changed.notify_all()


def _before_fork() -> None:
    _gate.leaves_poller = False
    if not _has_poller():
        return
    gc.collect()
    # The collected objects make the thread end, which takes it a moment.
    until_s = time.monotonic() + _POLLER_ENDS_MAX_S
    while _has_poller() and time.monotonic() < until_s:
        time.sleep(0.001)
    _gate.leaves_poller = _has_poller()


def _has_poller() -> bool:
    return any(thread.name.endswith(_POLLER_NAME) for thread in threading.enumerate())


def _after_fork_in_child() -> None:
    global _gate, _lost_because  # noqa: PLW0603
    if _gate.leaves_call:
        _lost_because = "a call that was on its way there could not be cut off"
    if _gate.leaves_poller:
        _lost_because = "an AsyncIdClient was open there, which gRPC cannot bring through a fork: close it before"
    _gate = _Gate()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_child=_after_fork_in_child)
