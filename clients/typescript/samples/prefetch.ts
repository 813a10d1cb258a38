import { createNodeClient } from "@snowlane/client/node";

const client = createNodeClient({ endpoints: [process.env["SNOWLANE_URL"] ?? "http://127.0.0.1:7609"] });
const buffer = client.prefetch();
const ids: bigint[] = [];
while (ids.length < 100_000) {
  const id = buffer.nextId();
  // An ID from stock is there at once; waiting for it would cost ten times the ID.
  ids.push(typeof id === "bigint" ? id : await id);
}
console.log(`prefetch ${ids.length} ${ids[0]} ${ids.at(-1)}`);
console.log(`handed out ${buffer.stats().handedOut}`);
client.close();
