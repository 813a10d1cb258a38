import os

from snowlane import IdClient

with IdClient(os.environ.get("SNOWLANE_URL", "http://127.0.0.1:7609")) as client:
    batch = client.next_ids(10_000)
    print(f"batch {len(batch)} {batch[0]} {batch[-1]}")

    streamed: list[int] = []
    for ids in client.stream(100_000):
        streamed.extend(ids)
    print(f"stream {len(streamed)} {streamed[0]} {streamed[-1]}")
