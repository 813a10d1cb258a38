"""The load of README.md by grpcio."""

import asyncio
import json
import sys

import grpc
from snowlane.gen.v1 import id_service_pb2 as messages
from snowlane.gen.v1 import id_service_pb2_grpc as stubs


class Load:
    def __init__(self, channel: grpc.aio.Channel) -> None:
        self.stub = stubs.IdServiceStub(channel)
        self.count = 0
        self.ids: set[int] = set()
        self.streams = 0
        self.problems: list[str] = []

    async def ask_once(self, turn: int) -> None:
        kind = turn % 8
        timeout = (1 + turn % 4) / 1000 if kind == 1 else 90 + turn / 1000
        call = self.stub.NextId(messages.NextIdRequest(), timeout=timeout)
        if kind == 0:
            asyncio.get_running_loop().call_later((turn % 3) / 1000, call.cancel)
        allowed = {0: grpc.StatusCode.CANCELLED, 1: grpc.StatusCode.DEADLINE_EXCEEDED}.get(kind)
        try:
            self.take([(await call).id])
        except asyncio.CancelledError:
            if kind != 0:
                self.problems.append(f"unary {kind}: cancelled")
        except grpc.aio.AioRpcError as error:
            if error.code() != allowed:
                self.problems.append(f"unary {kind}: {error}")

    def take(self, ids: list[int]) -> None:
        self.count += len(ids)
        self.ids.update(ids)

    async def ask_all(self, caller: int) -> None:
        for turn in range(150):
            await self.ask_once(caller * 150 + turn)

    async def stream(self, index: int) -> None:
        call = self.stub.BatchNextIds(messages.BatchNextIdsRequest(count=20_000, chunk_size=2_000))
        received = 0
        async for answer in call:
            self.take(list(answer.ids))
            received += len(answer.ids)
            if index % 4 == 0:
                call.cancel()
                return
            if index % 4 == 1:
                await asyncio.sleep(0.005)
        if received == 20_000:
            self.streams += 1
        else:
            self.problems.append(f"stream {index}: {received} IDs")

    async def upload(self) -> None:
        try:
            await self.stub.Parse(messages.ParseRequest(text="x" * 200_000), timeout=120)
            self.problems.append("upload: taken")
        except grpc.aio.AioRpcError as error:
            if error.code() != grpc.StatusCode.RESOURCE_EXHAUSTED:
                self.problems.append(f"upload: {error}")


async def main(address: str) -> None:
    async with grpc.aio.insecure_channel(address) as channel:
        load = Load(channel)
        await asyncio.gather(
            *(load.ask_all(caller) for caller in range(64)),
            *(load.stream(index) for index in range(40)),
            *(load.upload() for _ in range(20)),
        )
    result = {"count": load.count, "distinct": len(load.ids), "streams": load.streams, "problems": load.problems}
    print(json.dumps(result))


asyncio.run(main(sys.argv[1]))
