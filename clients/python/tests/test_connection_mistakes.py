"""Mistakes that show when a connection is made: each fails at once, and says what to correct."""

from __future__ import annotations

import asyncio
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import grpc
import pytest
from call_errors import error_of
from certificates import Certificate, make_certificate
from scripted_server import ScriptedServer, fault

from snowlane import AsyncIdClient, ErrorReason, IdClient, SnowlaneError, TlsOptions
from snowlane._connection_mistake import mistake_of

_CONTRACT = Path(__file__).parents[3] / "docs" / "internals" / "client-contract.md"


@pytest.fixture(name="folder", scope="module")
def _folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("certificates")


@pytest.fixture(name="right", scope="module")
def _right(folder: Path) -> Certificate:
    return make_certificate(folder, "127.0.0.1")


@pytest.fixture(name="stack")
def _stack() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


@pytest.fixture(name="web")
def _web() -> Iterator[int]:
    """The port of a web server that speaks HTTP/1.1 alone."""
    with ThreadingHTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler) as server:
        serving = threading.Thread(target=server.serve_forever)
        serving.start()
        yield server.server_address[1]
        server.shutdown()
        serving.join()


def url_of(server: ScriptedServer, scheme: str = "https") -> str:
    """By its address: gRPC says why the last of a name's addresses failed, and localhost has two."""
    return f"{scheme}://127.0.0.1:{server.url.rpartition(':')[2]}"


def expect(kind: str, url: str, tls: TlsOptions | None = None) -> None:
    """Calls at once, by both clients."""
    options: dict[str, Any] = {"tls": tls, "timeout_s": 60, "attempt_timeout_s": 60}
    with IdClient(url, **options) as client:
        errors = [error_of(client.next_id), error_of(client.prefetch().next_id)]

    async def run() -> None:
        async with AsyncIdClient(url, **options) as client:
            with pytest.raises(SnowlaneError) as caught:
                await client.next_id()
            errors.append(caught.value)

    asyncio.run(asyncio.wait_for(run(), 60))
    for error in errors:
        assert (error.reason, error.metadata) == (
            ErrorReason.UNREACHABLE,
            {"connection": kind, "answered": "never"},
        ), str(error)
        assert not error.passes()
        assert texts()[kind] in error.message
        assert "\n" not in str(error)
        assert "OPENSSL" not in str(error)


def texts() -> dict[str, str]:
    """What the contract says of each kind."""
    rows = re.findall(r"^\| `(\w+)` \| ([^|]+) \| (?:yes|no) \|$", _CONTRACT.read_text(), re.MULTILINE)
    assert len(rows) == 9
    return dict(rows)


def test_tls_to_a_plain_port(server: ScriptedServer, right: Certificate) -> None:
    expect("not_tls", url_of(server), TlsOptions(right.certificate))


def test_something_else_than_a_grpc_server(web: int) -> None:
    expect("not_grpc", f"http://127.0.0.1:{web}")


def test_a_certificate_of_an_unknown_authority(stack: ExitStack, right: Certificate, folder: Path) -> None:
    server = stack.enter_context(ScriptedServer(credentials=right.server()))
    expect("untrusted", url_of(server))
    expect("untrusted", url_of(server), TlsOptions(make_certificate(folder, "other.example").certificate))


def test_a_certificate_for_another_host(stack: ExitStack, folder: Path) -> None:
    other = make_certificate(folder, "other.example")
    server = stack.enter_context(ScriptedServer(credentials=other.server()))
    expect("wrong_host", url_of(server), TlsOptions(other.certificate))


def test_a_certificate_that_has_expired(stack: ExitStack, folder: Path) -> None:
    past = make_certificate(folder, "127.0.0.1", -1)
    server = stack.enter_context(ScriptedServer(credentials=past.server()))
    expect("expired", url_of(server), TlsOptions(past.certificate))


def test_a_server_that_wants_a_client_certificate(stack: ExitStack, right: Certificate, folder: Path) -> None:
    ours = make_certificate(folder, "client.example")
    server = stack.enter_context(ScriptedServer(credentials=right.server(ours)))
    expect("needs_certificate", url_of(server), TlsOptions(right.certificate))
    with IdClient(url_of(server), tls=TlsOptions(right.certificate, ours.certificate, ours.key)) as client:
        assert client.next_id() > 0


def test_plaintext_to_a_tls_port_says_so_and_waits_because_a_balancer_does_the_same(
    stack: ExitStack, right: Certificate
) -> None:
    server = stack.enter_context(ScriptedServer(credentials=right.server()))
    with IdClient(url_of(server, "http")) as client:
        error = error_of(client.next_id)
    assert (error.reason, error.metadata) == (ErrorReason.UNREACHABLE, {"connection": "closed"})
    assert error.message == texts()["closed"]
    assert error.passes()


def test_after_the_first_answer_a_mistake_is_tried_again(right: Certificate) -> None:
    with (
        ScriptedServer(credentials=right.server()) as server,
        IdClient(url_of(server), tls=TlsOptions(right.certificate)) as client,
    ):
        client.next_id()
        server.stop()
        assert "answered" not in error_of(client.next_id).metadata


def test_an_unavailable_of_the_server_is_told_from_one_without_an_answer(server: ScriptedServer) -> None:
    def busy(request: Any, context: grpc.ServicerContext) -> Any:
        context.abort(grpc.StatusCode.UNAVAILABLE, "busy")

    server.script.append(busy)
    with IdClient(server.url, retry_max=0) as client:
        assert error_of(client.next_id).message == "The server cannot answer now: busy"
        server.script.append(fault(grpc.StatusCode.UNAVAILABLE, "SHUTTING_DOWN"))
        assert error_of(client.next_id).message == "scripted SHUTTING_DOWN"


@pytest.mark.parametrize(
    "kind",
    ["refused", "no_address", "not_tls", "not_grpc", "untrusted", "wrong_host", "expired", "needs_certificate"],
)
def test_every_kind_has_the_sentence_of_the_contract(kind: str) -> None:
    messages = {
        "refused": "Failed to connect to remote host: Connection refused",
        "no_address": "errors resolving nosuch.invalid:1: Domain name not found",
        "not_tls": "SSL routines:OPENSSL_internal:WRONG_VERSION_NUMBER",
        "not_grpc": "Failed parsing HTTP/2 (Expected SETTINGS frame as the first frame, got frame type 79)",
        "untrusted": "CERTIFICATE_VERIFY_FAILED: self signed certificate",
        "wrong_host": "Hostname Verification Check failed.",
        "expired": "CERTIFICATE_VERIFY_FAILED: certificate has expired",
        "needs_certificate": "failed to connect to all addresses; last error: Unwrap failed (TSI_DATA_CORRUPTED)",
    }
    found = mistake_of(messages[kind], is_tls=True)
    assert found is not None
    assert (found.kind, found.text) == (kind, texts()[kind])


def test_tls_material_and_tokens_may_change_while_a_client_runs(right: Certificate, folder: Path) -> None:
    later = make_certificate(folder, "127.0.0.1", 31)
    current = [right]
    made: list[TlsOptions] = []

    def tls() -> TlsOptions:
        made.append(TlsOptions(current[0].certificate))
        return made[-1]

    with ScriptedServer(credentials=right.server()) as server:

        def change(to: Certificate) -> None:
            server.stop()
            server._credentials = to.server()
            server.start()
            current[0] = to

        with IdClient(url_of(server), tls=tls, token=lambda: f"t{len(made)}", timeout_s=60) as client:
            assert client.next_id() == 1
            assert client.next_id() == 2
            assert len(made) == 1
            change(later)
            assert client.next_id() == 3
            assert made[-1].roots == later.certificate
        assert server.tokens[-1] == f"Bearer t{len(made) - 1}"

        async def run() -> None:
            async with AsyncIdClient(url_of(server), tls=tls, timeout_s=60) as client:
                assert await client.next_id() == 4
                await asyncio.to_thread(change, right)
                assert await client.next_id() == 5

        asyncio.run(asyncio.wait_for(run(), 120))


def test_what_is_no_tls_material_is_refused_when_it_is_given(right: Certificate) -> None:
    wrong: list[Callable[[], object]] = [
        lambda: TlsOptions(roots=b"nothing"),
        lambda: TlsOptions(roots=right.certificate.decode()),  # type: ignore[arg-type]
        lambda: TlsOptions(certificate=right.certificate, key=b"x"),
    ]
    for make in wrong:
        with pytest.raises(ValueError, match="is not PEM: give the bytes of the file"):
            make()
    with pytest.raises(TypeError, match="tls is neither"):
        IdClient(tls=5)  # type: ignore[arg-type]
