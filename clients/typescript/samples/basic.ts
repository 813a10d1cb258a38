import { createNodeClient } from "@snowlane/client/node";

const client = createNodeClient({ endpoints: [process.env["SNOWLANE_URL"] ?? "http://127.0.0.1:7609"] });
const id = await client.nextId();
const { createTimeMs, workerId } = await client.parse(id);
console.log(`id ${id}`);
console.log(`created ${new Date(createTimeMs).toISOString()}`);
console.log(`worker ${workerId}`);
client.close();
