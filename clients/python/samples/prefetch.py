import os

from snowlane import IdClient

url = os.environ.get("SNOWLANE_URL", "http://127.0.0.1:7609")
with IdClient(url) as client, client.prefetch() as buffer:
    ids = [buffer.next_id() for _ in range(100_000)]
    print(f"prefetch {len(ids)} {ids[0]} {ids[-1]}")
    print(f"handed out {buffer.stats().handed_out}")
