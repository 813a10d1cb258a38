import { createNodeClient } from "@snowlane/client/node";

const client = createNodeClient({ endpoints: [process.env["SNOWLANE_URL"] ?? "http://127.0.0.1:7609"] });
const orders = client.sequence("orders");
const { value } = await orders.nextValue();
console.log(`value ${value}`);

const values = await orders.nextValues(1_000);
console.log(`values ${values.length} ${values[0]?.value} ${values.at(-1)?.value}`);
console.log(`text ${await client.sequence("invoices").nextText()}`);
client.close();
