from snowlane import IdClient

client = IdClient()
ids = client.prefetch()
print(ids.next_id())
