"""An ID service that follows a test's script, for faults that a real server cannot be made to show at will.

docs/adr/0223 says what is tested by it, and what by the conformance program.
"""

from __future__ import annotations

import random
import socket
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from concurrent import futures
from typing import Any, NoReturn, TypeVar

import grpc
from google.protobuf import any_pb2, duration_pb2  # type: ignore[import-untyped]
from google.rpc import error_details_pb2, status_pb2  # type: ignore[import-untyped]
from grpc_status import rpc_status  # type: ignore[import-untyped]

from snowlane._gen.v1 import id_service_pb2 as pb
from snowlane._gen.v1.id_service_pb2_grpc import IdServiceServicer, add_IdServiceServicer_to_server
from snowlane._gen.v1.sequence_service_pb2_grpc import (
    SequenceServiceServicer,
    add_SequenceServiceServicer_to_server,
)

T = TypeVar("T")
Step = Callable[[Any, grpc.ServicerContext], Any]


def fault(
    code: grpc.StatusCode,
    reason: str | None = None,
    *,
    retry_after_s: float | None = None,
    metadata: dict[str, str] | None = None,
    domain: str = "snowlane.dev",
) -> Step:
    """A step that ends with an error such as our servers send."""
    status = status_pb2.Status(code=code.value[0], message=f"scripted {reason}")
    if reason is not None:
        info = error_details_pb2.ErrorInfo(reason=reason, domain=domain, metadata=metadata or {})
        status.details.append(_packed(info))
    if retry_after_s is not None:
        whole = int(retry_after_s)
        delay = duration_pb2.Duration(seconds=whole, nanos=round((retry_after_s - whole) * 1e9))
        status.details.append(_packed(error_details_pb2.RetryInfo(retry_delay=delay)))

    def step(request: Any, context: grpc.ServicerContext) -> Any:
        context.abort_with_status(rpc_status.to_status(status))

    return step


def fingerprint_of(number: int) -> str:
    """The fingerprint of a deployment with that number."""
    return f"{number:08x}".ljust(32, "0")


def free_port() -> int:
    """A free port of loopback, below those that systems give to outgoing connections: on those, a server that comes
    back may find its port taken by one of them, even by one that was calling it.
    """
    while not is_free(port := random.randint(10_000, 32_000)):
        pass
    return port


def is_free(port: int) -> bool:
    """Whether a server can listen there."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
        return True


def _unscripted() -> NoReturn:
    raise AssertionError("The script says nothing of this call.")


def _packed(message: Any) -> any_pb2.Any:
    packed = any_pb2.Any()
    packed.Pack(message)
    return packed


class ScriptedServer(IdServiceServicer, SequenceServiceServicer):
    """Counts up from `first_id`, unless the script says otherwise for the next call. On a free port of loopback."""

    def __init__(
        self,
        first_id: int = 1,
        *,
        credentials: grpc.ServerCredentials | None = None,
        address: str = "127.0.0.1",
        port: int | None = None,
    ) -> None:
        self.script: deque[Step] = deque()
        self.info_script: deque[Step] = deque()
        """For GetInfo, which a client with several endpoints calls by itself."""
        self.calls: list[str] = []
        self.tokens: list[str | None] = []
        self.metadata: list[list[tuple[str, str]]] = []
        self.deployment = 0
        """The number that it reports; 0: none."""
        self.binding: pb.WorkerBinding | None = None
        self._lock = threading.Lock()
        self._next_id = first_id
        self._credentials = credentials
        self.address = address
        self._port = port or free_port()
        self.start()

    @property
    def url(self) -> str:
        return f"{'http' if self._credentials is None else 'https'}://localhost:{self._port}"

    def start(self) -> None:
        """Listens, on the same port each time."""
        # gRPC may close the sockets of a server some time after it has stopped.
        until_s = time.monotonic() + 60
        while not is_free(self._port):
            assert time.monotonic() < until_s, f"port {self._port} does not become free"
            time.sleep(0.02)
        self._server = grpc.server(futures.ThreadPoolExecutor(16), options=[("grpc.so_reuseport", 0)])
        add_IdServiceServicer_to_server(self, self._server)  # type: ignore[no-untyped-call]
        add_SequenceServiceServicer_to_server(self, self._server)  # type: ignore[no-untyped-call]
        address = f"{self.address}:{self._port}"
        if self._credentials is None:
            self._server.add_insecure_port(address)
        else:
            self._server.add_secure_port(address, self._credentials)
        self._server.start()

    def stop(self) -> None:
        """Cuts every call and connection."""
        self._server.stop(0).wait()

    def __enter__(self) -> ScriptedServer:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def NextId(self, request: pb.NextIdRequest, context: grpc.ServicerContext) -> pb.NextIdResponse:  # noqa: N802
        return self._run(
            "NextId", request, context, lambda: pb.NextIdResponse(id=self._take(1), deployment=self.deployment)
        )

    def ReserveIds(  # noqa: N802
        self, request: pb.ReserveIdsRequest, context: grpc.ServicerContext
    ) -> pb.ReserveIdsResponse:
        def count() -> pb.ReserveIdsResponse:
            granted = min(request.count, 20_000)
            run = pb.IdRun(first_id=self._take(granted), count=granted, stride=1)
            return pb.ReserveIdsResponse(runs=[run], deployment=self.deployment)

        return self._run("ReserveIds", request, context, count)

    def BatchNextIds(  # noqa: N802
        self, request: pb.BatchNextIdsRequest, context: grpc.ServicerContext
    ) -> Iterator[pb.BatchNextIdsResponse]:
        return self._run("BatchNextIds", request, context, lambda: self.chunks(request))

    @staticmethod
    def layout() -> pb.Layout:
        """The layout that it says is its own: twitter."""
        layout = pb.Layout(name="twitter")
        layout.epoch_time.FromMilliseconds(1288834974657)
        layout.tick.FromMilliseconds(1)
        kinds = (pb.LAYOUT_FIELD_KIND_TIMESTAMP, pb.LAYOUT_FIELD_KIND_DATACENTER, pb.LAYOUT_FIELD_KIND_WORKER)
        for kind, bits in zip((*kinds, pb.LAYOUT_FIELD_KIND_SEQUENCE), (41, 5, 5, 12), strict=True):
            layout.fields.add(kind=kind, bits=bits)
        return layout

    def GetInfo(self, request: pb.GetInfoRequest, context: grpc.ServicerContext) -> pb.GetInfoResponse:  # noqa: N802
        fingerprint = fingerprint_of(self.deployment) if self.deployment else ""
        info = pb.GetInfoResponse(layout=self.layout(), deployment_fingerprint=fingerprint, binding=self.binding)
        return self._run("GetInfo", request, context, lambda: info)

    def NextValue(self, request: Any, context: grpc.ServicerContext) -> Any:  # noqa: N802
        return self._run("NextValue", request, context, _unscripted)

    def ReserveValues(self, request: Any, context: grpc.ServicerContext) -> Any:  # noqa: N802
        return self._run("ReserveValues", request, context, _unscripted)

    def BatchNextValues(self, request: Any, context: grpc.ServicerContext) -> Any:  # noqa: N802
        return self._run("BatchNextValues", request, context, _unscripted)

    def chunks(self, request: pb.BatchNextIdsRequest) -> Iterator[pb.BatchNextIdsResponse]:
        """The whole stream that a request asks for."""
        left = request.count
        while left > 0:
            size = min(left, request.chunk_size or 4096)
            first = self._take(size)
            left -= size
            yield pb.BatchNextIdsResponse(ids=range(first, first + size), deployment=self.deployment)

    def _take(self, count: int) -> int:
        with self._lock:
            first = self._next_id
            self._next_id += count
            return first

    def _run(self, method: str, request: Any, context: grpc.ServicerContext, count: Callable[[], T]) -> T:
        self.calls.append(method)
        self.metadata.append([(key, value) for key, value in context.invocation_metadata()])
        self.tokens.append(dict(context.invocation_metadata()).get("authorization"))
        script = self.info_script if method == "GetInfo" else self.script
        step = script.popleft() if script else None
        result: T = count() if step is None else step(request, context)
        return result
