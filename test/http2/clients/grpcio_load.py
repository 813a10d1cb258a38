"""The load of README.md by grpcio."""

import asyncio
import json
import os
import sys

import grpc
from snowlane._gen.v1 import id_service_pb2 as messages
from snowlane._gen.v1 import id_service_pb2_grpc as stubs

# The load takes some three seconds. A call that never ends must be a problem with a name, not a test that hangs.
LOAD_MAX_SECONDS = 60
# grpcio 1.85 loses some calls whose deadlines pass while they wait for a free stream: they never end, though only their
# client watches the deadline. Its own server, with fewer streams than callers, shows the same. They are given up.
LOST_AFTER_SECONDS = 5


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
        if kind == 1:
            asyncio.get_running_loop().call_later(LOST_AFTER_SECONDS, call.cancel)
        allowed = {0: grpc.StatusCode.CANCELLED, 1: grpc.StatusCode.DEADLINE_EXCEEDED}.get(kind)
        try:
            self.take([(await call).id])
        except asyncio.CancelledError:
            if kind > 1:
                self.problems.append(f"unary {kind}: cancelled")
        except grpc.aio.AioRpcError as error:
            if error.code() != allowed:
                self.problems.append(f"unary {kind}: {error}")

    def take(self, ids: list[int]) -> None:
        self.count += len(ids)
        self.ids.update(ids)

    async def ask_all(self, caller: int) -> None:
        for turn in range(caller * 150, caller * 150 + 150):
            asyncio.current_task().set_name(f"unary {turn % 8}, turn {turn}")
            await self.ask_once(turn)

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
    channel = grpc.aio.insecure_channel(address)
    load = Load(channel)
    tasks = [
        *(asyncio.create_task(load.ask_all(caller)) for caller in range(64)),
        *(asyncio.create_task(load.stream(index), name=f"stream {index}") for index in range(40)),
        *(asyncio.create_task(load.upload(), name=f"upload {index}") for index in range(20)),
    ]
    done, pending = await asyncio.wait(tasks, timeout=LOAD_MAX_SECONDS)
    load.problems += [f"{task.get_name()}: {task.exception()!r}" for task in done if task.exception() is not None]
    load.problems += [f"{task.get_name()}: has not ended" for task in pending]
    result = {"count": load.count, "distinct": len(load.ids), "streams": load.streams, "problems": load.problems}
    print(json.dumps(result), flush=True)
    # grpcio may hang while it shuts its poller down: https://github.com/grpc/grpc/pull/40989.
    os._exit(0)


asyncio.run(main(sys.argv[1]))
