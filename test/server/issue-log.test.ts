import { join } from "node:path";
import { type Client, Code, ConnectError, createClient } from "@connectrpc/connect";
import { createConnectTransport, createGrpcTransport } from "@connectrpc/connect-node";
import { expect, test } from "vitest";
import { IdService, TextForm } from "../../src/gen/snowlane/v1/id_service_pb.ts";
import { idsOf } from "../../src/snowflake/run.ts";
import { IssuedRuns } from "../support/worlds/issued-runs.ts";
import { runServer, temporaryFolder } from "../support/processes/running-server.ts";

/** Draws IDs in every way there is. */
async function drawEverything(client: Client<typeof IdService>): Promise<bigint[]> {
  const ids: bigint[] = [];
  ids.push((await client.nextId({})).id);
  ids.push((await client.nextId({ textFormat: { form: TextForm.HEX } })).id);
  const unary = await Promise.all(Array.from({ length: 200 }, () => client.nextId({})));
  ids.push(...unary.map(({ id }) => id));
  ids.push(...idsOf((await client.reserveIds({ count: 3_000 })).runs));
  for await (const chunk of client.batchNextIds({ count: 5_000n, chunkSize: 999 })) ids.push(...chunk.ids);
  return ids;
}

for (const [layout, strideBits] of [
  ["twitter", 0],
  ["sonyflake", 16],
] as const) {
  test(`the issue log holds exactly the IDs that were given out, to any caller by any method: ${layout}`, async () => {
    const path = join(temporaryFolder(), "issued.log");
    const server = await runServer({ layout, issueLog: path });
    const received = new IssuedRuns();
    for (const transport of [
      createGrpcTransport({ baseUrl: server.url }),
      createConnectTransport({ baseUrl: server.url, httpVersion: "1.1" }),
    ]) {
      received.addIds(await drawEverything(createClient(IdService, transport)), strideBits);
    }
    const issued = new IssuedRuns();
    issued.addLog(path);
    expect(issued.idCount).toBe(received.idCount);
    expect([issued.countRepeated(), received.countRepeated()]).toEqual([0, 0]);
    expect([received.findMissingFrom(issued), issued.findMissingFrom(received)]).toEqual([undefined, undefined]);
  });
}

test("an ID that cannot be written down is not given out", async () => {
  // A device that is always full.
  const { url } = await runServer({ issueLog: "/dev/full" });
  const client = createClient(IdService, createGrpcTransport({ baseUrl: url }));
  const error = await client.nextId({}).catch((cause: unknown) => cause);
  expect(error).toBeInstanceOf(ConnectError);
  expect((error as ConnectError).code).toBe(Code.Internal);
});

test("an issue log that cannot be opened ends the start, and the message says which", async () => {
  const path = join(temporaryFolder(), "absent", "issued.log");
  await expect(runServer({ issueLog: path })).rejects.toMatchObject({
    reason: "INVALID_CONFIG",
    metadata: { setting: "issue_log", value: path },
  });
});
