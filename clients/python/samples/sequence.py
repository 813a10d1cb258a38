import os

from snowlane import IdClient

with IdClient(os.environ.get("SNOWLANE_URL", "http://127.0.0.1:7609")) as client:
    orders = client.sequence("orders")
    print("value", orders.next_value().value)

    values = orders.next_values(1_000)
    print("values", len(values), values[0].value, values[-1].value)
    print("text", client.sequence("invoices").next_text())
