"""A host name with several addresses is as many endpoints."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import grpc
import pytest
from call_errors import error_of
from certificates import make_certificate
from scripted_server import ScriptedServer, fault, free_port
from stub_source import until

from snowlane import AsyncIdClient, IdClient, TlsOptions
from snowlane._channels import channel_options_of
from snowlane._client_options import ClientOptions, EndpointUrl
from snowlane._endpoints import Endpoints
from snowlane._errors import ErrorReason, SnowlaneError
from snowlane._names import Names
from snowlane.testing import FakeClock

NAME = "ids.test"
BOTH = ["127.0.0.2", "127.0.0.3"]


@pytest.fixture(name="pair")
def _pair() -> Iterator[list[ScriptedServer]]:
    """Two servers at one port, at an address each."""
    port = free_port()
    with ExitStack() as stack:
        yield [
            stack.enter_context(ScriptedServer(first_id, address=address, port=port))
            for first_id, address in zip((1, 1_000_000), BOTH, strict=True)
        ]


@pytest.fixture(autouse=True)
def _without_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("grpc_proxy", "https_proxy", "http_proxy", "no_grpc_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)


def url_of(pair: list[ScriptedServer], scheme: str = "http") -> str:
    return f"{scheme}://{NAME}:{pair[0].url.rpartition(':')[2]}"


def resolve(client: IdClient | AsyncIdClient, *found: str) -> None:
    """Lets the client's name have these addresses."""
    client._calls.look_up = lambda name: list(found)


def urls_of(client: IdClient | AsyncIdClient) -> list[str]:
    return sorted(client._calls._endpoints.urls())


def test_each_address_of_a_name_is_an_endpoint_and_is_named_in_errors(pair: list[ScriptedServer]) -> None:
    url = url_of(pair)
    with IdClient(url) as client:
        resolve(client, *BOTH)
        is_first = client.next_id() < 1_000_000
        assert urls_of(client) == [f"{url} [{address}]" for address in BOTH]
        used, other = pair if is_first else reversed(pair)
        used.script.append(fault(grpc.StatusCode.UNAVAILABLE, "SHUTTING_DOWN"))
        assert (client.next_id() < 1_000_000) != is_first
        other.script.append(fault(grpc.StatusCode.PERMISSION_DENIED, "METHOD_DENIED"))
        assert f"({url} [{other.address}])" in str(error_of(client.next_id))


def test_the_same_holds_on_an_event_loop(pair: list[ScriptedServer]) -> None:
    async def run() -> None:
        async with AsyncIdClient(url_of(pair)) as client:
            resolve(client, *BOTH)
            is_first = await client.next_id() < 1_000_000
            assert len(urls_of(client)) == 2
            used = pair[0] if is_first else pair[1]
            used.script.append(fault(grpc.StatusCode.UNAVAILABLE, "SHUTTING_DOWN"))
            assert (await client.next_id() < 1_000_000) != is_first

    asyncio.run(asyncio.wait_for(run(), 60))


def test_the_certificate_of_an_address_is_that_of_its_name(tmp_path: Path) -> None:
    made = make_certificate(tmp_path, NAME)
    port = free_port()
    with ExitStack() as stack:
        servers = [
            stack.enter_context(ScriptedServer(address=address, port=port, credentials=made.server()))
            for address in BOTH
        ]
        client = stack.enter_context(IdClient(url_of(servers, "https"), tls=TlsOptions(made.certificate)))
        resolve(client, *BOTH)
        assert client.next_id() == 1


def test_a_look_that_takes_too_long_or_fails_leaves_the_name_to_the_library(pair: list[ScriptedServer]) -> None:
    over = threading.Event()
    looked = threading.Event()

    def look_up(name: object) -> list[str]:
        over.wait(60)
        looked.set()
        return BOTH

    with IdClient(url_of(pair), timeout_s=60) as client:
        client._calls.look_up = look_up
        error = error_of(client.next_id)
        assert (error.reason, error.metadata["connection"]) == (ErrorReason.UNREACHABLE, "no_address")
        # Its late answer counts.
        over.set()
        assert looked.wait(60)
        until(lambda: len(urls_of(client)) == 2)
        assert client.next_id() > 0
    with IdClient(url_of(pair)) as client:
        resolve(client)
        assert error_of(client.next_id).metadata["connection"] == "no_address"


class Rig:
    """Looks of one name, by a clock that the test sets."""

    def __init__(self) -> None:
        self.clock = FakeClock()
        self.base = EndpointUrl(f"http://{NAME}:1", NAME, 1, is_tls=False)
        self.endpoints = Endpoints([self.base.url], self.clock.monotonic_s)
        self.names = Names([self.base], self.endpoints, self.clock.monotonic_s)

    def look(self, *found: str, after_s: float = 31) -> list[str]:
        """A lookup that is due; returns the addresses that are gone."""
        self.clock.advance(after_s)
        (name,) = self.names.due()
        return [url.partition(" ")[2] for url in self.names.take(name, found)]

    def addresses(self) -> set[str]:
        return {url.partition(" ")[2].strip("[]") for url in self.endpoints.urls()}

    def fail_all(self) -> None:
        for _ in range(self.endpoints.count):
            endpoint, _ = self.endpoints.choose()
            error = SnowlaneError(ErrorReason.SHUTTING_DOWN, "Going.", retry_after_s=1)
            self.endpoints.note_failure(endpoint, error)


def test_an_address_that_three_looks_did_not_find_is_gone_unless_it_is_in_use_and_answers() -> None:
    rig = Rig()
    assert rig.look("10.0.0.1", "10.0.0.2", after_s=0) == [""]
    rig.endpoints.note_success(rig.endpoints.choose()[0])
    in_use = rig.endpoints.choose()[0].url.partition(" ")[2]
    gone = [rig.look("10.0.0.3") for _ in range(3)]
    assert [len(each) for each in gone] == [0, 0, 1]
    assert in_use not in gone[2]
    assert len(rig.addresses()) == 2
    rig.endpoints.note_failure(rig.endpoints.choose()[0], SnowlaneError(ErrorReason.UNREACHABLE, "No answer."))
    assert rig.look("10.0.0.3") == [in_use]
    assert rig.addresses() == {"10.0.0.3"}


def test_an_address_that_is_found_now_and_then_stays() -> None:
    rig = Rig()
    rig.look("10.0.0.1", "10.0.0.2", "10.0.0.3", after_s=0)
    for number in range(9):
        assert rig.look(f"10.0.0.{number % 3 + 1}") == []
    assert rig.addresses() == {"10.0.0.1", "10.0.0.2", "10.0.0.3"}


def test_a_name_is_looked_up_every_30_s_and_after_5_where_one_of_its_addresses_is_down() -> None:
    rig = Rig()
    rig.look("10.0.0.1", "10.0.0.2", after_s=0)
    rig.clock.advance(29)
    assert rig.names.due() == []
    rig.look("10.0.0.1", "10.0.0.2", after_s=1)
    rig.clock.advance(4)
    rig.fail_all()
    assert rig.names.due() == []
    rig.clock.advance(0.9)
    assert rig.names.due() == []
    rig.fail_all()
    rig.clock.advance(0.1)
    assert len(rig.names.due()) == 1
    # While a look is on its way, no other begins.
    rig.clock.advance(60)
    assert rig.names.due() == []


@pytest.mark.parametrize("found", [["10.0.0.1"], [], ["::1", "127.0.0.1"], ["10.0.0.1", "10.0.0.1"]])
def test_one_address_none_and_one_of_each_family_are_left_to_the_library(found: list[str]) -> None:
    rig = Rig()
    assert rig.look(*found, after_s=0) == []
    assert rig.endpoints.urls() == [rig.base.url]


def test_the_other_family_is_used_when_all_of_the_first_are_down() -> None:
    rig = Rig()
    found = ["10.0.0.1", "10.0.0.2", "::1", "::2"]
    rig.look(*found, after_s=0)
    assert rig.addresses() == {"10.0.0.1", "10.0.0.2"}
    rig.clock.advance(31)
    (name,) = rig.names.due()
    rig.fail_all()
    rig.names.take(name, found)
    assert rig.addresses() == set(found)


def test_at_most_64_addresses_of_a_name_are_used() -> None:
    rig = Rig()
    rig.look(*(f"10.0.0.{number}" for number in range(100)), after_s=0)
    assert rig.endpoints.count == 64


def test_an_address_and_a_name_behind_a_proxy_are_never_looked_up(monkeypatch: pytest.MonkeyPatch) -> None:
    def due(host: str) -> int:
        base = EndpointUrl(f"http://{host}:1", host, 1, is_tls=False)
        clock = FakeClock()
        return len(Names([base], Endpoints([base.url], clock.monotonic_s), clock.monotonic_s).due())

    assert [due(host) for host in ("127.0.0.1", "::1", "", NAME)] == [0, 0, 0, 1]
    monkeypatch.setenv("https_proxy", "http://proxy.test:3128")
    assert due(NAME) == 0
    monkeypatch.setenv("no_proxy", "other.test, .test")
    assert due(NAME) == 1


def test_an_address_is_called_without_a_proxy_and_an_ipv6_one_in_brackets() -> None:
    base = EndpointUrl(f"https://{NAME}:7609", NAME, 7609, is_tls=True)
    assert base.at("::1").target == "ipv6:[::1]:7609"
    assert base.at("10.0.0.7").url == f"https://{NAME}:7609 [10.0.0.7]"
    options: dict[str, Any] = dict(channel_options_of(ClientOptions(), base.at("::1")))
    assert (options["grpc.default_authority"], options["grpc.enable_http_proxy"]) == (f"{NAME}:7609", 0)
    assert options["grpc.ssl_target_name_override"] == NAME
    assert "grpc.default_authority" not in dict(channel_options_of(ClientOptions(), base))
