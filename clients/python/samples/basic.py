import os

from snowlane import IdClient

with IdClient(os.environ.get("SNOWLANE_URL", "http://127.0.0.1:7609")) as client:
    id = client.next_id()
    parsed = client.parse(id)
    created = parsed.create_time.isoformat(timespec="milliseconds").replace("+00:00", "Z")
    print(f"id {id}")
    print(f"created {created}")
    print(f"worker {parsed.worker_id}")
