import { createNodeClient } from "@snowlane/client/node";
const client = createNodeClient();
const ids = client.prefetch();
console.log(await ids.nextId());
client.close();
