"""Host names among the endpoints: a name with several addresses counts as that many endpoints."""

from __future__ import annotations

import contextlib
import ipaddress
import os
import random
import socket
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from ._client_options import EndpointUrl
from ._endpoints import Endpoint, Endpoints

LOOK_WAIT_S = 0.5
"""The longest time that the first call waits for a name; after it, gRPC looks the name up."""
_LOOK_AGAIN_S = 30.0
"""A name is looked up again after this time,"""
_LOOK_SOON_S = 5.0
"""or after this time where one of its addresses is down."""
_MISSED_LOOKS_MAX = 3
"""An address counts as gone once this many lookups in a row did not return it: some name services answer with only a
part of their addresses.
"""
_ADDRESSES_MAX = 64
"""The most addresses of a name that a client uses."""


@dataclass(eq=False)
class Name:
    """One name.

    Attributes:
        endpoints: Its addresses by their text; under the empty text, the name itself as gRPC looks it up.
        known: Set after the first lookup.
    """

    base: EndpointUrl
    endpoints: dict[str, Endpoint]
    missed_looks: dict[str, int] = field(default_factory=dict)
    is_looking: bool = False
    looked_s: float = float("-inf")
    known: threading.Event = field(default_factory=threading.Event)


class Names:
    """Decides when to look a name up, and makes endpoints of its addresses. A name with one address or none is left to
    gRPC, and so is one that is reached through a proxy.

    Safe for any number of threads. Attempts 15 of docs/internals/client-contract.md in the repository has the rule.
    """

    def __init__(self, bases: Sequence[EndpointUrl], endpoints: Endpoints, monotonic_s: Callable[[], float]) -> None:
        self._endpoints = endpoints
        self._monotonic_s = monotonic_s
        self._lock = threading.Lock()
        self._bases = {base.url: base for base in bases}
        self._names = [
            Name(base, {"": endpoint})
            for base in self._bases.values()
            if _is_name(base.host) and not _has_proxy(base.host) and (endpoint := endpoints.find(base.url))
        ]

    def due(self) -> list[Name]:
        """The names that the caller must look up now, and pass to `take`."""
        if not self._names:
            return []
        with self._lock:
            now_s = self._monotonic_s()
            due = [name for name in self._names if self._is_due(name, now_s)]
            for name in due:
                name.is_looking = True
                name.looked_s = now_s
            return due

    def unknown(self) -> list[Name]:
        """The names whose first lookup has not ended."""
        return [name for name in self._names if not name.known.is_set()]

    def take(self, name: Name, found: Sequence[str]) -> list[str]:
        """Records which addresses a lookup has found, in the order in which to try them; none if it failed.

        Returns:
            The URLs of the endpoints that are gone.
        """
        with self._lock:
            gone = self._take(name, list(dict.fromkeys(found)))
            name.is_looking = False
            name.known.set()
            return gone

    def _is_due(self, name: Name, now_s: float) -> bool:
        is_down = self._endpoints.are_down(name.endpoints.values(), some=True)
        return not name.is_looking and now_s - name.looked_s >= (_LOOK_SOON_S if is_down else _LOOK_AGAIN_S)

    def _take(self, name: Name, found: list[str]) -> list[str]:
        is_single = "" in name.endpoints
        is_any_family = not is_single and self._endpoints.are_down(name.endpoints.values())
        found = [each for each in found if is_any_family or (":" in each) == (":" in found[0])]
        if not found or (is_single and len(found) == 1):
            return []
        gone: list[str] = []
        for address in name.endpoints:
            missed = 0 if address in found else name.missed_looks.get(address, 0) + 1
            name.missed_looks[address] = missed
            if missed >= _MISSED_LOOKS_MAX or address == "":
                gone.append(address)
        random.shuffle(found)
        stay_count = len(name.endpoints) - len(gone)
        come = [each for each in found if each not in name.endpoints][: max(0, _ADDRESSES_MAX - stay_count)]
        made = {address: Endpoint(name.base.at(address).url) for address in come}
        stays = self._endpoints.replace(
            [name.endpoints[address] for address in gone], list(made.values()), may_stay=not is_single
        )
        name.endpoints.update(made)
        left: list[str] = []
        for address in gone:
            if name.endpoints[address] is not stays:
                left.append(name.endpoints.pop(address).url)
                name.missed_looks.pop(address, None)
        return left

    def place_of(self, url: str) -> EndpointUrl:
        """Where an endpoint is, by its URL."""
        base, _, address = url.partition(" [")
        return self._bases[base].at(address.rstrip("]")) if address else self._bases[base]


def look_up(name: Name) -> list[str]:
    """The addresses of a name by the system's own function; none where it fails."""
    with contextlib.suppress(OSError, UnicodeError):
        found = socket.getaddrinfo(name.base.host, name.base.port, type=socket.SOCK_STREAM)
        return [str(place[0]) for *_, place in found]
    return []


def _is_name(host: str) -> bool:
    if host == "":
        return False
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return True
    return False


def _has_proxy(host: str) -> bool:
    """Whether gRPC goes through a proxy, by the variables that it reads."""
    if not any(os.environ.get(name) for name in ("grpc_proxy", "https_proxy", "http_proxy")):
        return False
    excluded = next(filter(None, map(os.environ.get, ("no_grpc_proxy", "no_proxy"))), "")
    return not any(host.endswith(end.strip()) for end in excluded.split(",") if end.strip())
