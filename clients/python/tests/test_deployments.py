"""Clients whose endpoints serve two deployments: IDs of two can be equal."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest
from call_errors import error_of
from scripted_server import ScriptedServer, fingerprint_of

from snowlane import AsyncIdClient, ErrorReason, IdClient, SnowlaneError, StatusCode
from snowlane._deployments import Deployments, MetServer, number_of_fingerprint
from snowlane._gen.v1 import id_service_pb2 as pb


@pytest.fixture(name="pair")
def _pair() -> Iterator[list[ScriptedServer]]:
    with ExitStack() as stack:
        yield [stack.enter_context(ScriptedServer(first_id)) for first_id in (1, 1_000_000)]


def urls_of(servers: list[ScriptedServer], *numbers: int) -> list[str]:
    for server, number in zip(servers, numbers, strict=True):
        server.deployment = number
    return [server.url for server in servers]


def calls_of(client: IdClient) -> list[Callable[[], object]]:
    """The calls that give IDs."""
    return [client.next_id, lambda: client.next_ids(1), lambda: list(client.stream(1)), client.prefetch().next_id]


async def aio_error_of(client: AsyncIdClient, which: int) -> SnowlaneError:
    async def stream() -> object:
        return [chunk async for chunk in client.stream(1)]

    calls: list[Any] = [client.next_id, lambda: client.next_ids(1), stream, client.prefetch().next_id]
    with pytest.raises(SnowlaneError) as caught:
        await calls[which]()
    return caught.value


@pytest.mark.parametrize("which", range(4))
def test_no_call_gives_an_id_where_the_endpoints_are_of_two_deployments_and_both_are_named(
    pair: list[ScriptedServer], which: int
) -> None:
    urls = urls_of(pair, 1, 2)
    with IdClient(urls) as client:
        errors = [error_of(calls_of(client)[which])]

    async def run() -> None:
        async with AsyncIdClient(urls) as client:
            errors.append(await aio_error_of(client, which))

    asyncio.run(run())
    for error in errors:
        assert (error.reason, error.code) == (
            ErrorReason.DEPLOYMENT_MISMATCH,
            StatusCode.FAILED_PRECONDITION,
        )
        assert all(url in str(error) for url in urls)


@pytest.mark.parametrize("which", range(4))
def test_the_answers_of_a_server_that_became_another_deployments_are_refused(
    server: ScriptedServer, which: int
) -> None:
    server.deployment = 1
    with IdClient(server.url, retry_max=0) as client:
        client.next_id()
        server.deployment = 2
        errors = [error_of(calls_of(client)[which])]

    async def run() -> None:
        server.deployment = 1
        async with AsyncIdClient(server.url, retry_max=0) as client:
            await client.next_id()
            server.deployment = 2
            errors.append(await aio_error_of(client, which))

    asyncio.run(run())
    for error in errors:
        assert error.reason is ErrorReason.DEPLOYMENT_MISMATCH
        assert error.metadata == {
            "deployment": "00000002",
            "expected_deployment": "00000001",
            "endpoint_first": server.url,
        }


def test_a_client_goes_on_with_the_first_deployment_when_another_joins_later(pair: list[ScriptedServer]) -> None:
    with IdClient(urls_of(pair, 1, 1)) as client:
        is_first = client.next_id() < 1_000_000
        urls_of(pair, *((2, 1) if is_first else (1, 2)))
        for _ in range(5):
            assert (client.next_id() < 1_000_000) != is_first


def test_only_the_deployments_of_the_option_are_used(pair: list[ScriptedServer]) -> None:
    with IdClient(urls_of(pair, 1, 2), deployments=[fingerprint_of(1), fingerprint_of(2)]) as client:
        assert client.next_id() > 0
    with IdClient(pair[1].url, deployments=[fingerprint_of(1)], retry_max=0) as client:
        assert error_of(client.next_id).reason is ErrorReason.DEPLOYMENT_MISMATCH
    for wrong in ("", "xyz", "1234567", "0" * 33):
        with pytest.raises(ValueError, match="deployments"):
            IdClient(deployments=[wrong])
    no_lists: list[Any] = ["12345678", [], 5]
    for wrong_list in no_lists:
        with pytest.raises(TypeError, match="deployments"):
            IdClient(deployments=wrong_list)


def test_the_first_id_comes_although_a_server_does_not_tell_its_deployment(pair: list[ScriptedServer]) -> None:
    urls = urls_of(pair, 1, 0)
    with IdClient(urls) as client:
        assert client.next_id() > 0
    pair[1].stop()
    with IdClient(urls) as client:
        assert client.next_id() > 0

    async def run() -> None:
        async with AsyncIdClient(urls) as client:
            assert await client.next_id() > 0

    asyncio.run(run())


def test_the_layout_is_asked_for_again_when_another_deployment_answers(server: ScriptedServer) -> None:
    deployments = [fingerprint_of(1), fingerprint_of(2)]
    with IdClient(server.url, deployments=deployments) as client:
        for deployment, asked in ((1, 1), (1, 1), (2, 2)):
            server.deployment = deployment
            client.next_id()
            client.layout()
            assert server.calls.count("GetInfo") == asked

    async def run() -> None:
        async with AsyncIdClient(server.url, deployments=deployments) as client:
            for deployment, asked in ((1, 3), (1, 3), (2, 4)):
                server.deployment = deployment
                await client.next_id()
                await client.layout()
                assert server.calls.count("GetInfo") == asked

    asyncio.run(run())


def info_of(
    *, name: str = "twitter", workers: tuple[int, int] | None = None, datacenters: tuple[int, ...] = ()
) -> pb.GetInfoResponse:
    binding = pb.WorkerBinding(datacenter_ids=datacenters)
    if workers is not None:
        binding.worker_ids.first, binding.worker_ids.last = workers
    return pb.GetInfoResponse(layout=pb.Layout(name=name), binding=binding)


@pytest.mark.parametrize(
    ("ours", "theirs", "goes_together"),
    [
        (info_of(datacenters=(1, 2)), info_of(datacenters=(3,)), True),
        (info_of(datacenters=(1, 2)), info_of(datacenters=(2, 3)), False),
        (info_of(workers=(0, 9)), info_of(workers=(10, 19)), True),
        (info_of(workers=(10, 19)), info_of(workers=(0, 9)), True),
        (info_of(workers=(0, 10)), info_of(workers=(10, 19)), False),
        (info_of(datacenters=(1,)), info_of(workers=(0, 9)), False),
        (info_of(datacenters=(1,)), info_of(), False),
        (info_of(datacenters=(1,)), info_of(name="other", datacenters=(2,)), False),
        (info_of(datacenters=(1,)), None, False),
    ],
)
def test_two_deployments_go_together_where_one_layout_is_bound_to_different_worker_ids(
    ours: pb.GetInfoResponse, theirs: pb.GetInfoResponse | None, goes_together: bool
) -> None:
    deployments = Deployments(None)
    deployments.meet_at_start(MetServer("http://a:1", 1, ours))
    deployments.meet_at_start(MetServer("http://b:1", 2, theirs))
    if goes_together:
        deployments.check_conflict()
        deployments.admit(MetServer("http://b:1", 2))
    else:
        assert error_of(deployments.check_conflict).endpoint == "http://b:1"


@pytest.mark.parametrize(("fingerprint", "number"), [("", 0), ("0" * 32, 1), ("9be01177" + "f" * 24, 0x9BE01177)])
def test_a_deployments_number_is_the_first_eight_digits_of_its_fingerprint(fingerprint: str, number: int) -> None:
    assert number_of_fingerprint(fingerprint) == number
