"""A TCP link to a server whose open connections can be swallowed, as by a proxy that forgot them."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from types import TracebackType
from typing import Any
from urllib.parse import urlsplit


class SwallowingLink:
    """Forwards bytes on a port of loopback, on a thread of its own."""

    def __init__(self, url: str) -> None:
        self._to = urlsplit(url).port
        self._generation = 0
        self.accepted = 0
        """Connections so far."""
        self._tasks: set[asyncio.Task[None]] = set()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever)
        self._thread.start()
        self._server: asyncio.Server = self._run(asyncio.start_server(self._accept, "127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    def swallow(self) -> None:
        """From now on, connections that are open stay open and carry nothing. New ones work."""
        self._generation += 1

    def close(self) -> None:
        self._run(self._end())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def __enter__(self) -> SwallowingLink:
        return self

    def __exit__(
        self, error_type: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def _run(self, work: Coroutine[Any, Any, Any]) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(60)

    async def _end(self) -> None:
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.accepted += 1
        server_reader, server_writer = await asyncio.open_connection("127.0.0.1", self._to)
        for source, sink in ((reader, server_writer), (server_reader, writer)):
            task = self._loop.create_task(self._forward(source, sink, self._generation))
            self._tasks.add(task)

    async def _forward(self, source: asyncio.StreamReader, sink: asyncio.StreamWriter, generation: int) -> None:
        try:
            while content := await source.read(65_536):
                if generation == self._generation:
                    sink.write(content)
        except ConnectionError:
            pass
        finally:
            sink.close()
