import { create } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import {
  type GetInfoResponse,
  GetInfoResponseSchema,
  LayoutFieldKind,
  WorkerBindingSchema,
} from "../../../src/gen/snowlane/v1/id_service_pb.ts";
import { collect, connect, errorOf, startServer } from "../test/scripted-client.ts";
import { deploymentNumber, Deployments } from "./deployments.ts";

const fingerprint = (first8: string): string => first8.padEnd(32, "0");

interface Bound {
  readonly datacenterIds?: number[];
  readonly workerIds?: { readonly first: number; readonly last: number };
}

/** What a server says whose store is bound to some worker IDs. */
function infoOf(bound: Bound | undefined, bits = 10): GetInfoResponse {
  const layout = { name: "x", fields: [{ kind: LayoutFieldKind.WORKER, bits }] };
  return create(GetInfoResponseSchema, { layout, ...(bound && { binding: create(WorkerBindingSchema, bound) }) });
}

describe("which deployments go together", () => {
  const rows: readonly (readonly [string, boolean, GetInfoResponse | undefined, GetInfoResponse | undefined])[] = [
    ["servers that were not asked", false, undefined, undefined],
    ["a server that was not asked", false, infoOf({ datacenterIds: [1] }), undefined],
    ["stores that are not bound", false, infoOf(undefined), infoOf(undefined)],
    ["a store that is not bound", false, infoOf({ datacenterIds: [1] }), infoOf(undefined)],
    ["stores of different datacenters", true, infoOf({ datacenterIds: [1, 2] }), infoOf({ datacenterIds: [3] })],
    ["stores of one datacenter", false, infoOf({ datacenterIds: [1, 2] }), infoOf({ datacenterIds: [2, 3] })],
    [
      "stores of different worker IDs",
      true,
      infoOf({ workerIds: { first: 0, last: 9 } }),
      infoOf({ workerIds: { first: 10, last: 19 } }),
    ],
    [
      "stores of one worker ID",
      false,
      infoOf({ workerIds: { first: 0, last: 10 } }),
      infoOf({ workerIds: { first: 10, last: 19 } }),
    ],
    ["stores of different layouts", false, infoOf({ datacenterIds: [1] }), infoOf({ datacenterIds: [2] }, 9)],
    [
      "a store of datacenters and one of worker IDs",
      false,
      infoOf({ datacenterIds: [1] }),
      infoOf({ workerIds: { first: 10, last: 19 } }),
    ],
  ];

  test.each(rows)("%s: %s", (_, isTogether, a, b) => {
    const deployments = new Deployments(undefined);
    deployments.admit({ url: "http://a", number: 1, info: a });
    const second = { url: "http://b", number: 2, info: b };
    if (isTogether) deployments.admit(second);
    else expect(() => deployments.admit(second)).toThrow("00000002) than the one in use (00000001, first at http://a)");
    expect(deployments.knows(2)).toBe(isTogether);
    expect(deployments.current).toBe(isTogether ? 2 : 1);
  });

  test("a server that does not tell its deployment is used, and the number 0 is not a deployment", () => {
    const deployments = new Deployments(undefined);
    expect([0, 7].map((number) => deployments.knows(number))).toEqual([true, false]);
    expect([deploymentNumber(""), deploymentNumber("0".repeat(32))]).toEqual([0, 1]);
  });
});

describe("a client", () => {
  /** Servers of some deployments, by the number of each. */
  const startServers = (...numbers: readonly number[]) =>
    Promise.all(
      numbers.map(async (deployment, index) => {
        const server = await startServer();
        const ids = [BigInt(100 * (index + 1))];
        const deploymentFingerprint = fingerprint(deployment.toString(16).padStart(8, "0"));
        server.handlers = {
          nextId: () => ({ id: ids[0]!, deployment }),
          batchNextIds: async function* () {
            yield { ids, deployment };
          },
          reserveIds: () => ({ runs: [{ firstId: ids[0]!, count: 1, stride: 1n }], deployment }),
          getInfo: () => ({ deploymentFingerprint }),
        };
        return server;
      }),
    );

  test("gives no ID by any call where its endpoints are of two deployments, and names both", async () => {
    const servers = await startServers(1, 2);
    // A client waits half a second for them to say it, and the first call of a process takes longest.
    for (const server of servers) await connect([server]).info();
    const client = connect(servers);
    const buffer = client.prefetch();
    const calls = [
      () => client.nextId(),
      () => client.nextIds(1),
      () => collect(client.stream(1)),
      async () => buffer.nextId(),
    ];
    for (const call of calls) {
      const error = await errorOf(call());
      expect(error).toMatchObject({ reason: "DEPLOYMENT_MISMATCH", code: "FAILED_PRECONDITION" });
      for (const { url } of servers) expect(String(error)).toContain(url);
    }
  });

  test("refuses the answers of a server that became another deployment's, each of its calls", async () => {
    const [server] = await startServers(1);
    const client = connect([server!], { retryMax: 0 });
    expect(await client.nextId()).toBe(100n);
    const [other] = await startServers(2);
    server!.handlers = other!.handlers;
    const metadata = { deployment: "00000002", expected_deployment: "00000001", endpoint_first: server!.url };
    for (const call of [() => client.nextId(), () => client.reserve(1), () => collect(client.stream(1))])
      expect(await errorOf(call())).toMatchObject({ reason: "DEPLOYMENT_MISMATCH", metadata });
  });

  test("goes on with the first deployment when another one joins later", async () => {
    const servers = await startServers(1, 1);
    const client = connect(servers);
    const isFirst = (await client.nextId()) === 100n;
    const [other] = await startServers(2);
    servers[isFirst ? 0 : 1]!.handlers = other!.handlers;
    for (let count = 0; count < 5; count++) expect(await client.nextId()).toBe(isFirst ? 200n : 100n);
  });

  test("uses the deployments that its option lists, and no other", async () => {
    const servers = await startServers(1, 2);
    const both = [fingerprint("00000001"), fingerprint("00000002")];
    expect([100n, 200n]).toContain(await connect(servers, { deployment: both }).nextId());
    const client = connect([servers[1]!], { deployment: both[0]!, retryMax: 0 });
    const metadata = { deployment: "00000002", expected_deployment: "00000001" };
    expect(await errorOf(client.nextId())).toMatchObject({ reason: "DEPLOYMENT_MISMATCH", metadata });
  });

  test("gives its first ID although an endpoint does not say of which deployment it is", async () => {
    const [well, hanging] = await startServers(1, 1);
    hanging!.handlers = { ...hanging!.handlers, getInfo: () => new Promise(() => {}) };
    expect([100n, 200n]).toContain(await connect([well!, hanging!]).nextId());
  });

  test("asks for the layout again when another deployment answers", async () => {
    const [server] = await startServers(1);
    let asked = 0;
    let first8 = "00000001";
    const tick = { seconds: 0n, nanos: 1_000_000 };
    const fields = [LayoutFieldKind.TIMESTAMP, LayoutFieldKind.WORKER, LayoutFieldKind.SEQUENCE].map((kind, index) => ({
      kind,
      bits: [41, 10, 12][index]!,
    }));
    server!.handlers = {
      nextId: () => ({ id: 7n, deployment: Number.parseInt(first8, 16) }),
      getInfo: () => {
        asked++;
        const layout = { name: "x", epochTime: { seconds: 0n, nanos: 0 }, tick, fields };
        return { deploymentFingerprint: fingerprint(first8), layout };
      },
    };
    const client = connect([server!], { deployment: ["00000001", "00000002"] });
    await client.layout();
    await client.nextId();
    await client.layout();
    expect(asked).toBe(1);
    first8 = "00000002";
    await client.nextId();
    await client.layout();
    expect(asked).toBe(2);
  });

  test.each(["", "xyz", "1234567", "0".repeat(33), [], [1], 7])("refuses the option deployment %j", (deployment) => {
    expect(() => connect([], { endpoints: ["http://127.0.0.1:1"], deployment: deployment as string })).toThrow(
      TypeError,
    );
  });
});
