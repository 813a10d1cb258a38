"""gunicorn, which loads a program with a client and a buffer, and then forks its workers."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

PROGRAM = """
import json, multiprocessing, os
from django.conf import settings
settings.configure(SNOWLANE={"endpoints": os.environ["SNOWLANE_URL"], "timeout_s": 60})
from snowlane.django import ids
taken = [ids().next_id() for _ in range(100)]
everybody = multiprocessing.Barrier(4)

def application(environ, start_response):
    mine = [*taken, *(ids().next_id() for _ in range(1_000))]
    taken.clear()
    # Each request has a worker of its own: none ends before all four are there.
    everybody.wait(120)
    start_response("200 OK", [("content-type", "application/json")])
    return [json.dumps([os.getpid(), mine]).encode()]
"""


def test_workers_that_gunicorn_forks_after_it_has_loaded_the_program_repeat_no_id(url: str, tmp_path: Path) -> None:
    (tmp_path / "shop.py").write_text(PROGRAM)
    listener = socket.create_server(("127.0.0.1", 0))
    address = f"http://127.0.0.1:{listener.getsockname()[1]}/"
    options = ["--preload", "--workers", "4", "--timeout", "300", "--pythonpath", str(tmp_path)]
    environment = {**os.environ, "SNOWLANE_URL": url}
    environment.pop("GRPC_ENABLE_FORK_SUPPORT", None)
    server = subprocess.Popen(
        [sys.executable, "-m", "gunicorn", *options, "--bind", f"fd://{listener.fileno()}", "shop:application"],
        env=environment,
        pass_fds=[listener.fileno()],
    )

    def ask(_: int) -> tuple[int, list[int]]:
        # The listener takes connections already, so this waits for a worker.
        with urllib.request.urlopen(address, timeout=240) as response:
            worker, ids = json.load(response)
        return worker, ids

    try:
        with ThreadPoolExecutor(4) as pool:
            answers = list(pool.map(ask, range(4)))
    finally:
        server.terminate()
        server.wait(120)
        listener.close()
    assert len({worker for worker, _ in answers} - {server.pid}) == 4
    # Each worker has those that were taken before the forks.
    before = set.intersection(*(set(ids) for _, ids in answers))
    assert len(before) == 100
    own = [id for _, ids in answers for id in ids if id not in before]
    assert len(set(own)) == len(own) == 4_000
