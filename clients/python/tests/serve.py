"""A server in a process of its own, for tests that fork: gRPC's own server would be inside a call at every fork. Prints
its URL.
"""

from __future__ import annotations

import os
import sys

from scripted_server import ScriptedServer

with ScriptedServer(first_id=(os.getpid() << 32)) as server:
    print(server.url, flush=True)
    sys.stdin.read()
