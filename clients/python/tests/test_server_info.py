"""What a server says of itself, as records of this package."""

from __future__ import annotations

import asyncio
from datetime import datetime, timezone

from scripted_server import ScriptedServer

from snowlane import LAYOUTS, AsyncIdClient, IdClient, ServerInfo
from snowlane._gen.v1 import id_service_pb2 as pb


def test_info_says_what_a_server_is(server: ScriptedServer) -> None:
    response = pb.GetInfoResponse(
        version="1.2.3",
        deployment_fingerprint="1f00a3c2",
        datacenter_id=3,
        worker_id=7,
        rollback_policy=pb.ROLLBACK_POLICY_REUSE,
        ordering=pb.ORDERING_UNORDERED_WITHIN_REUSE_SPAN,
        limits=pb.Limits(reserve_count_max=9, batch_count_max=5_000_000_000, chunk_size_max=8, next_count_max=6),
    )
    response.layout.CopyFrom(server.layout())
    response.exhaustion_time.FromSeconds(4_000_000_000)
    server.info_script.extend([lambda request, context: response] * 2)

    async def ask() -> ServerInfo:
        async with AsyncIdClient(server.url) as client:
            return await client.info()

    with IdClient(server.url) as client:
        infos = [client.info(), asyncio.run(ask())]
    expected = ServerInfo(
        version="1.2.3",
        deployment_fingerprint="1f00a3c2",
        layout=LAYOUTS["twitter"],
        datacenter_id=3,
        worker_id=7,
        rollback_policy="reuse",
        ordering="unordered-within-reuse-span",
        exhaustion_time=datetime.fromtimestamp(4_000_000_000, timezone.utc),
        reserve_count_max=9,
        batch_count_max=5_000_000_000,
        chunk_size_max=8,
        next_count_max=6,
    )
    assert infos == [expected] * 2
