/** Principals with quotas, on a real server. */
import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { createConnectTransport, createGrpcTransport, createGrpcWebTransport } from "@connectrpc/connect-node";
import { describe, expect, test } from "vitest";
import { ErrorInfoSchema, RetryInfoSchema } from "../../src/gen/google/rpc/error_details_pb.ts";
import { IdService } from "../../src/gen/snowlane/v1/id_service_pb.ts";
import { SequenceService } from "../../src/gen/snowlane/v1/sequence_service_pb.ts";
import { bearer, principalsFile, type TestPrincipal } from "../support/processes/principals-file.ts";
import { runServer } from "../support/processes/running-server.ts";

const ids = { permissions: ["ids"] };

/** What a refused caller learns. */
function refusalOf(error: unknown) {
  const found = ConnectError.from(error);
  const [info] = found.findDetails(ErrorInfoSchema);
  const [retry] = found.findDetails(RetryInfoSchema);
  const delayMs = Number(retry?.retryDelay?.seconds ?? 0n) * 1_000 + (retry?.retryDelay?.nanos ?? 0) / 1e6;
  return { code: found.code, reason: info?.reason, metadata: info?.metadata, delayMs };
}

async function refusedCall(call: Promise<unknown>) {
  return call.then(
    () => {
      throw new Error("it was not refused");
    },
    (error: unknown) => refusalOf(error),
  );
}

async function serve(principals: readonly TestPrincipal[], flags: Readonly<Record<string, string>> = {}) {
  const file = principalsFile(principals);
  const running = await runServer({ principals: file.path, ...flags });
  const client = createClient(IdService, createGrpcTransport({ baseUrl: running.url }));
  return { ...running, ...file, client };
}

describe("in every protocol, on the hot way and on the general one", () => {
  const transports = [
    ["gRPC", (baseUrl: string) => createGrpcTransport({ baseUrl })],
    ["gRPC-Web over HTTP/1.1", (baseUrl: string) => createGrpcWebTransport({ baseUrl, httpVersion: "1.1" })],
    ["Connect over HTTP/1.1", (baseUrl: string) => createConnectTransport({ baseUrl, httpVersion: "1.1" })],
    ["Connect over HTTP/2", (baseUrl: string) => createConnectTransport({ baseUrl, httpVersion: "2" })],
  ] as const;
  const ways = [
    ["hot", {}],
    ["general", { textFormat: { form: 1 } }],
  ] as const;
  const cases = transports.flatMap(([name, make]) => ways.map(([way, request]) => ({ name, make, way, request })));

  test("single IDs beyond the quota are refused, and a reservation gets what is left", async () => {
    const names = cases.map((_, index) => `app${index}`);
    const { url } = await serve(
      names.flatMap((name) => [
        { ...ids, name, idsPerSecond: 1 },
        { ...ids, name: `${name}-bulk`, idsPerSecond: 50 },
      ]),
    );
    for (const [index, { name, make, way, request }] of cases.entries()) {
      const client = createClient(IdService, make(url));
      const headers = bearer(`app${index}`);
      await client.nextId(request, { headers });
      const refusal = await refusedCall(client.nextId(request, { headers }));
      expect([name, way, refusal]).toEqual([
        name,
        way,
        {
          code: Code.ResourceExhausted,
          reason: "QUOTA_EXCEEDED",
          metadata: { principal: `app${index}`, ids_per_second: "1" },
          delayMs: expect.any(Number),
        },
      ]);
      expect(refusal.delayMs).toBeGreaterThan(0);
      expect(refusal.delayMs).toBeLessThanOrEqual(1_000);
      // More than the server has ever in hand for it: the rest of the bucket, and no refusal.
      const { runs } = await client.reserveIds({ count: 100_000 }, { headers: bearer(`app${index}-bulk`) });
      const count = runs.reduce((sum, run) => sum + run.count, 0);
      expect([name, way, count]).toEqual([name, way, 50]);
    }
  });
});

/** The machine kept this test from running until the quota went unused. */
const stoodStillMs = 700;
const shapedMs = 10_000;

/** The best share of its rate that a caller had in hand at some moment of the second after {@link shapedMs}. */
function shapedShare(arrivals: readonly Arrival[], perSecond: number): number {
  let count = 0;
  let best = 0;
  for (const arrival of arrivals) {
    count += arrival.count;
    // IDs that are on their way come with a later chunk; those that were not handed out in time never come.
    if (arrival.afterMs >= shapedMs) best = Math.max(best, (count * 1_000) / (perSecond * arrival.afterMs));
  }
  return best;
}

/** IDs that came at a time. */
interface Arrival {
  readonly afterMs: number;
  readonly count: number;
}

test("the measure of a shaped caller sees IDs that are lost late (it missed them)", () => {
  const [perSecond, periodMs] = [10_000, 50];
  const share = (lostMs: number, length: number): number => {
    const arrivals = Array.from({ length: (shapedMs + 1_000) / periodMs }, (_, index) => {
      const afterMs = (index + 1) * periodMs;
      const isLost = afterMs > lostMs && afterMs <= lostMs + length;
      return { afterMs, count: isLost ? 0 : (perSecond * periodMs) / 1_000 };
    });
    return shapedShare(arrivals, perSecond);
  };
  expect(share(0, 0)).toBe(1);
  for (let lostMs = 0; lostMs + 300 <= shapedMs; lostMs += periodMs) expect(share(lostMs, 300)).toBeLessThan(0.98);
});

/** Counts what a caller takes from now on. */
function startTally() {
  const startMs = performance.now();
  const got = { startMs, count: 0, lastMs: startMs, longestGapMs: 0 };
  const take = (count: number): void => {
    const nowMs = performance.now();
    got.count += count;
    got.longestGapMs = Math.max(got.longestGapMs, nowMs - got.lastMs);
    got.lastMs = nowMs;
  };
  return { got, take };
}

/** Reserves as much as a principal may have, and waits as long as its refusals say. */
async function reserveWhile(
  goesOn: () => boolean,
  {
    client,
    name,
    take,
  }: Pick<Awaited<ReturnType<typeof serve>>, "client"> & { name: string; take: (count: number) => void },
): Promise<void> {
  while (goesOn()) {
    const call = client.reserveIds({ count: 3_000 }, { headers: bearer(name) });
    const answer = await call.catch((error: unknown) => refusalOf(error));
    if ("runs" in answer) take(answer.runs.reduce((sum, { count }) => sum + count, 0));
    else await new Promise((resolve) => setTimeout(resolve, answer.delayMs));
  }
}

test("one principal at ten times its quota leaves another one 95 per cent of its own", async () => {
  const [perSecond, others, besideMs] = [1_000, 5_000, 5_000];
  for (;;) {
    const { client, server } = await serve([
      { ...ids, name: "greedy", idsPerSecond: perSecond },
      { ...ids, name: "others", idsPerSecond: others },
    ]);
    const { got, take } = startTally();
    // By a timer, because a gap between two reservations may be what the greedy one did.
    const machine = startTally();
    const beat = setInterval(() => machine.take(0), 50);
    const greedy = { asked: 0, granted: 0, stop: false };
    const flooding = Array.from({ length: 4 }, async () => {
      while (!greedy.stop) {
        greedy.asked += perSecond;
        const call = client.reserveIds({ count: perSecond }, { headers: bearer("greedy") });
        const { runs } = await call.catch((error: unknown) => {
          expect(refusalOf(error).reason).toBe("QUOTA_EXCEEDED");
          return { runs: [] };
        });
        for (const { count } of runs) greedy.granted += count;
      }
    });
    await reserveWhile(() => performance.now() - got.startMs < besideMs, { client, name: "others", take });
    clearInterval(beat);
    const served = got.count;
    // It asks on until it has asked for ten times what it may have.
    await expect.poll(() => greedy.asked / greedy.granted).toBeGreaterThan(10);
    greedy.stop = true;
    await Promise.all(flooding);
    const elapsedS = (performance.now() - got.startMs) / 1_000;
    expect(greedy.granted).toBeLessThanOrEqual(perSecond * (elapsedS + 1) * 1.02);
    expect(server.source.status().counters.issued).toBeGreaterThanOrEqual(served + greedy.granted);
    if (machine.got.longestGapMs > stoodStillMs) continue;
    // What it had in hand at the start, and what came since.
    expect(served).toBeGreaterThanOrEqual(others * (1 + besideMs / 1_000) * 0.95);
    return;
  }
});

test.each(["reservations", "streams on the hot way", "streams on the general way"])(
  "%s are shaped to within two per cent of the quota",
  async (kind) => {
    const perSecond = 10_000;
    for (;;) {
      const { client } = await serve([{ ...ids, name: "app", idsPerSecond: perSecond }]);
      await client.getInfo({}, { headers: bearer("app") });
      // The IDs in hand are taken first: all that comes from then on came by the rate.
      const { got, take } = startTally();
      const { runs } = await client.reserveIds({ count: perSecond }, { headers: bearer("app") });
      expect(runs.reduce((sum, { count }) => sum + count, 0)).toBe(perSecond);
      const takenMs = performance.now();
      const arrivals: Arrival[] = [];
      const note = (count: number): void => {
        take(count);
        arrivals.push({ afterMs: got.lastMs - takenMs, count });
      };
      const abort = new AbortController();
      const goesOn = (): boolean => {
        if (got.lastMs - takenMs >= shapedMs + 1_000) abort.abort();
        return !abort.signal.aborted;
      };
      const options = { headers: bearer("app"), signal: abort.signal };
      const reserve = (): Promise<void> => reserveWhile(goesOn, { client, name: "app", take: note });
      const form = kind.endsWith("general way") ? { textFormat: { form: 1 as const } } : {};
      const read = async (): Promise<void> => {
        const chunks = client.batchNextIds({ count: 1_000_000_000n, chunkSize: 500, ...form }, options);
        try {
          for await (const chunk of chunks) {
            note(chunk.ids.length);
            goesOn();
          }
        } catch {
          expect(abort.signal.aborted).toBe(true);
        }
      };
      const caller = kind === "reservations" ? reserve : read;
      await Promise.all([caller(), caller()]);
      expect(got.count).toBeLessThanOrEqual(((perSecond * (got.lastMs - got.startMs)) / 1_000) * 1.02);
      if (got.longestGapMs > stoodStillMs) continue;
      expect(shapedShare(arrivals, perSecond)).toBeGreaterThanOrEqual(0.98);
      return;
    }
  },
);

test.each([
  ["hot", { count: 15_000n }],
  ["general", { count: 15_000n, textFormat: { form: 1 } }],
] as const)("a stream is paced, and comes to its end: %s", async (_way, request) => {
  const perSecond = 10_000;
  const { client } = await serve([{ ...ids, name: "app", idsPerSecond: perSecond }]);
  const startMs = performance.now();
  const seen = new Set<bigint>();
  for await (const chunk of client.batchNextIds(request, { headers: bearer("app") })) {
    for (const id of chunk.ids) seen.add(id);
    // Never more than the quota gives in the time, and the one second's worth in hand.
    expect(seen.size).toBeLessThanOrEqual(perSecond * ((performance.now() - startMs) / 1_000 + 1));
  }
  expect(seen.size).toBe(15_000);
});

test("a stream that waits for its quota ends with its deadline, and its caller may leave", async () => {
  const { client } = await serve([{ ...ids, name: "app", idsPerSecond: 1 }]);
  const headers = bearer("app");
  await client.nextId({}, { headers });
  const read = async (options: object): Promise<void> => {
    for await (const _ of client.batchNextIds({ count: 100n }, { headers, ...options }));
  };
  await expect(read({ timeoutMs: 100 })).rejects.toMatchObject({ code: Code.DeadlineExceeded });
  const abort = new AbortController();
  const leaving = read({ signal: abort.signal });
  abort.abort();
  await expect(leaving).rejects.toMatchObject({ code: Code.Canceled });
});

test("calls a second and streams at one time have limits, and other principals have theirs", async () => {
  const { client } = await serve([
    { ...ids, name: "app", callsPerSecond: 3 },
    { ...ids, name: "reader", streamsMax: 2 },
    { ...ids, name: "free" },
  ]);
  for (let count = 0; count < 3; count++) await client.getInfo({}, { headers: bearer("app") });
  const refusal = await refusedCall(client.getInfo({}, { headers: bearer("app") }));
  expect(refusal).toMatchObject({ reason: "QUOTA_EXCEEDED", metadata: { principal: "app", calls_per_second: "3" } });
  await expect.poll(() => client.getInfo({}, { headers: bearer("app") }).catch(() => undefined)).toBeDefined();
  const open = async (more: object) => {
    const abort = new AbortController();
    const options = { headers: bearer("reader"), signal: abort.signal };
    const stream = client.batchNextIds({ count: 1_000_000_000n, ...more }, options)[Symbol.asyncIterator]();
    await stream.next();
    return abort;
  };
  const first = await open({});
  const second = await open({ textFormat: { form: 1 } });
  expect(await refusedCall(open({}))).toMatchObject({ reason: "QUOTA_EXCEEDED", metadata: { streams_max: "2" } });
  await client.nextId({}, { headers: bearer("reader") });
  for (const closed of [first, second]) {
    closed.abort();
    let third: AbortController | undefined;
    await expect.poll(async () => (third = await open({}).catch(() => undefined))).toBeDefined();
    third?.abort();
  }
  for (let count = 0; count < 50; count++) await client.nextId({}, { headers: bearer("free") });
});

test("a file that is read again leaves what was used, and may change the limits", async () => {
  const { client, reload, write } = await serve([{ ...ids, name: "app", idsPerSecond: 1 }]);
  const call = () => client.nextId({}, { headers: bearer("app") });
  await call();
  write([
    { ...ids, name: "other" },
    { ...ids, name: "app", idsPerSecond: 1 },
  ]);
  reload();
  expect(await refusedCall(call())).toMatchObject({ reason: "QUOTA_EXCEEDED" });
  write([{ ...ids, name: "app" }]);
  reload();
  for (let count = 0; count < 20; count++) await call();
});

test("--quota-ids-per-second holds for principals whose entry says nothing", async () => {
  const principals = [
    { ...ids, name: "app" },
    { ...ids, name: "large", idsPerSecond: 1_000 },
  ];
  const { client } = await serve(principals, { quotaIdsPerSecond: "2" });
  const reserve = async (name: string) => {
    const { runs } = await client.reserveIds({ count: 10_000 }, { headers: bearer(name) });
    return runs.reduce((sum, { count }) => sum + count, 0);
  };
  expect([await reserve("app"), await reserve("large")]).toEqual([2, 1_000]);
});

test("values of sequences count as IDs do", async () => {
  const { url } = await serve([
    { permissions: ["all"], name: "admin" },
    { permissions: ["sequences"], name: "app", idsPerSecond: 20 },
    { permissions: ["sequences"], name: "one", idsPerSecond: 1 },
  ]);
  const client = createClient(SequenceService, createGrpcTransport({ baseUrl: url }));
  await client.createSequence({ sequence: { name: "orders" } }, { headers: bearer("admin") });
  const headers = bearer("app");
  const { runs } = await client.reserveValues({ name: "orders", count: 100 }, { headers });
  expect(runs.reduce((sum, { count }) => sum + count, 0)).toBe(20);
  let count = 0;
  for await (const chunk of client.batchNextValues({ name: "orders", count: 10n }, { headers }))
    count += chunk.values.length;
  expect(count).toBe(10);
  await client.nextValue({ name: "orders" }, { headers: bearer("one") });
  const refusal = await refusedCall(client.nextValue({ name: "orders" }, { headers: bearer("one") }));
  expect(refusal).toMatchObject({ code: Code.ResourceExhausted, reason: "QUOTA_EXCEEDED" });
});
