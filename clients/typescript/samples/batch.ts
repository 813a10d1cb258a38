import { createNodeClient } from "@snowlane/client/node";

const client = createNodeClient({ endpoints: [process.env["SNOWLANE_URL"] ?? "http://127.0.0.1:7609"] });
const batch = await client.nextIds(10_000);
console.log(`batch ${batch.length} ${batch[0]} ${batch.at(-1)}`);

const streamed: bigint[] = [];
for await (const ids of client.stream(100_000)) streamed.push(...ids);
console.log(`stream ${streamed.length} ${streamed[0]} ${streamed.at(-1)}`);
client.close();
