/** NextIds, the list of IDs for callers without streams, on a real server. */
import { Code, createClient } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-node";
import { expect, test } from "vitest";
import { IdService, TextForm } from "../../src/gen/snowlane/v1/id_service_pb.ts";
import { idsOfMessage } from "../../src/service/message-bytes.ts";
import { runServer } from "../support/processes/running-server.ts";

const path = "/snowlane.v1.IdService/NextIds";

test("NextIds as plain JSON gives as many IDs as are asked for, each a string, in ascending order", async () => {
  const { url } = await runServer();
  const body = JSON.stringify({ count: 10_000 });
  const answer = await fetch(url + path, { method: "POST", headers: { "content-type": "application/json" }, body });
  const { ids } = (await answer.json()) as { readonly ids: readonly string[] };
  expect(ids.length).toBe(10_000);
  expect(ids.every((id) => typeof id === "string")).toBe(true);
  const numbers = ids.map(BigInt);
  expect(numbers.every((id, index) => index === 0 || id > numbers[index - 1]!)).toBe(true);
});

test("NextIds gives the texts of its IDs beside them, and keeps to the limit that GetInfo names", async () => {
  const { url } = await runServer();
  const client = createClient(IdService, createConnectTransport({ baseUrl: url, httpVersion: "1.1" }));
  const { ids, texts } = await client.nextIds({ count: 3, textFormat: { form: TextForm.TYPED, typePrefix: "order" } });
  expect(await Promise.all(texts.map(async (text) => client.parse({ source: { case: "text", value: text } })))).toEqual(
    ids.map((id) => expect.objectContaining({ id })),
  );
  const { limits } = await client.getInfo({});
  for (const count of [0, limits!.nextCountMax + 1]) {
    await expect(client.nextIds({ count })).rejects.toMatchObject({ code: Code.InvalidArgument });
  }
});

test("a stream of IDs with texts has messages of 1 MiB at most, and gives its exact count", async () => {
  const { url } = await runServer();
  const client = createClient(IdService, createConnectTransport({ baseUrl: url, httpVersion: "1.1" }));
  const counts: number[] = [];
  const textFormat = { form: TextForm.UUID };
  for await (const { ids, texts } of client.batchNextIds({ count: 30_000n, chunkSize: 65_536, textFormat })) {
    expect(texts.length).toBe(ids.length);
    counts.push(ids.length);
  }
  expect(counts.reduce((sum, count) => sum + count, 0)).toBe(30_000);
  expect(Math.max(...counts)).toBeLessThanOrEqual(idsOfMessage("ids and texts"));
});
