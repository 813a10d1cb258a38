import { cpSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, type TestContext, test } from "vitest";
import { openStore } from "../../src/store/open-store.ts";
import { encodeWorkerRecord, parseWorkerRecord, workerKey } from "../../src/lease/records/worker-record.ts";
import { duplicatesOf } from "../support/processes/issuing-worker.ts";
import { startPostgres } from "../support/servers/postgres-server.ts";
import { type RemoteStoreServer, withPort } from "../support/servers/remote-stores.ts";
import { bundledProgram, bundleServer } from "../support/processes/server-bundle.ts";
import { type SnowlaneProcess, startSnowlane } from "../support/processes/snowlane-process.ts";
import { TcpProxy } from "../support/processes/tcp-proxy.ts";

/** Bounds for what a busy machine may be late with; nothing waits for them as a rule. */
const patience = { timeout: 90_000, interval: 100 };

/** The bundle starts in a third of the time: each test starts several servers, one after the other. */
const program = [process.execPath, bundledProgram];

let postgres: RemoteStoreServer;
beforeAll(async () => {
  await bundleServer();
  postgres = await startPostgres();
});
afterAll(() => postgres.stop());

/** Lives of one server, and its way to the store. */
interface Scene {
  readonly root: string;
  readonly folder: string;
  readonly namespace: string;
  /** Starts a life of it, on its folder or another one. */
  readonly serve: (folder?: string) => Promise<SnowlaneProcess>;
  /** Lets nothing through to the store and back. */
  readonly cutOff: () => void;
  readonly reconnect: () => void;
}

let namespaces = 0;

async function scene(context: TestContext, window: string): Promise<Scene> {
  const root = mkdtempSync(join(tmpdir(), "snowlane-resume-"));
  context.onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const proxy = await TcpProxy.start(postgres.port);
  context.onTestFinished(() => proxy.stop());
  const namespace = `resume-${(namespaces += 1)}`;
  const folder = join(root, "folder");
  const store = ["--store", withPort(postgres, proxy.port), "--namespace", namespace];
  const times = ["--window", window, "--window-max", window, "--renewal-period", "300ms", "--wait-max", "200ms"];
  return {
    root,
    folder,
    namespace,
    serve: async (resumeDir = folder) => {
      const named = ["--instance", "one", "--resume-dir", resumeDir, "--log-level", "debug"];
      const server = await startSnowlane({ args: [...store, ...times, ...named], program });
      context.onTestFinished(() => void server.child.kill("SIGKILL"));
      return server;
    },
    cutOff: () => {
      proxy.mode = "black-hole";
    },
    reconnect: () => {
      proxy.mode = "open";
      proxy.cut();
    },
  };
}

describe("a server", () => {
  test.concurrent("that is killed while the store is away serves again up to its window's end, then refuses, then goes on", async (context) => {
    const { expect } = context;
    const { serve, cutOff, reconnect } = await scene(context, "30s");
    const first = await serve();
    const before = await draw(first, 50);
    const deployment = await deploymentOf(first);
    expect(deployment).toMatch(/^[0-9a-f]{32}$/);
    cutOff();
    await first.stop("SIGKILL");
    const second = await serve();
    expect(placeOf(lineOf(second, "resumed"))).toEqual(placeOf(lineOf(first, "acquired")));
    const after = await draw(second, 50);
    // Not one ID beyond what was reserved: the window ends, and with it the answers.
    await expect.poll(() => ask(second), patience).toBe("unavailable");
    // What its record says of the layout is shown without the store, too.
    expect(await deploymentOf(second)).toBe(deployment);
    reconnect();
    await expect.poll(() => ask(second), patience).toMatch(/^\d+$/);
    const last = await draw(second, 50);
    expect(duplicatesOf(before, after, last)).toEqual([]);
    expect(linesOf(second, "grant-ended")).toMatchObject([{ end: "lapsed" }]);
    await second.stop("SIGTERM");
  });

  test.concurrent("that is killed again and again meanwhile never repeats an ID, and goes on when it answers", async (context) => {
    const { expect } = context;
    const { serve, cutOff, reconnect } = await scene(context, "120s");
    let server = await serve();
    const ids = [await draw(server, 50)];
    const first = placeOf(lineOf(server, "acquired"));
    cutOff();
    for (let life = 0; life < 3; life += 1) {
      await server.stop("SIGKILL");
      server = await serve();
      ids.push(await draw(server, 50));
    }
    reconnect();
    await expect.poll(() => linesOf(server, "store-answers-again").length, patience).toBeGreaterThan(0);
    ids.push(await draw(server, 50));
    expect(duplicatesOf(...ids)).toEqual([]);
    expect(placeOf(lineOf(server, "resumed"))).toEqual(first);
    expect([...linesOf(server, "acquired"), ...linesOf(server, "grant-ended")]).toEqual([]);
    await server.stop("SIGTERM");
  });

  test.concurrent("that went on is fenced where another took its worker ID over, and takes another", async (context) => {
    const { expect } = context;
    const { folder, namespace, serve, cutOff, reconnect } = await scene(context, "120s");
    const first = await serve();
    const before = await draw(first, 50);
    const { datacenterId, workerId } = placeOf(lineOf(first, "acquired"));
    cutOff();
    await first.stop("SIGKILL");
    await takeOver(postgres.url, namespace, datacenterId * 32 + workerId);
    const second = await serve();
    expect(placeOf(lineOf(second, "resumed"))).toEqual({ datacenterId, workerId });
    const between = await draw(second, 50);
    reconnect();
    await expect.poll(() => linesOf(second, "acquired").length, patience).toBeGreaterThan(0);
    expect(lineOf(second, "grant-ended")).toMatchObject({ end: "lost" });
    expect(placeOf(lineOf(second, "acquired"))).not.toEqual({ datacenterId, workerId });
    // The record of what is lost is gone, and that of the new grant is there.
    expect(recordsIn(folder)).toHaveLength(1);
    expect(duplicatesOf(before, between, await draw(second, 50))).toEqual([]);
  });

  test.concurrent("keeps its record to itself: a second one of its name on that folder gets another worker ID", async (context) => {
    const { expect } = context;
    const { serve, cutOff, reconnect } = await scene(context, "120s");
    const first = await serve();
    const before = await draw(first, 50);
    cutOff();
    await first.stop("SIGKILL");
    const second = await serve();
    const starting = serve();
    const between = await draw(second, 50);
    reconnect();
    const third = await starting;
    expect(linesOf(third, "resumed")).toEqual([]);
    expect(placeOf(lineOf(third, "acquired"))).not.toEqual(placeOf(lineOf(second, "resumed")));
    const last = await Promise.all([draw(second, 50), draw(third, 50)]);
    expect(duplicatesOf(before, between, ...last)).toEqual([]);
  });

  test.concurrent("and another one from a copy of its record: one of them alone passes its next renewal", async (context) => {
    const { expect } = context;
    const { root, folder, serve, cutOff, reconnect } = await scene(context, "120s");
    const first = await serve();
    cutOff();
    await first.stop("SIGKILL");
    const copy = join(root, "copy");
    cpSync(folder, copy, { recursive: true });
    const both = [await serve(), await serve(copy)];
    for (const server of both) expect(placeOf(lineOf(server, "resumed"))).toEqual(placeOf(lineOf(first, "acquired")));
    reconnect();
    await expect.poll(() => both.flatMap((server) => linesOf(server, "acquired")).length, patience).toBeGreaterThan(0);
    const fenced = both.filter((server) => linesOf(server, "grant-ended").length > 0);
    expect(fenced.map((server) => lineOf(server, "grant-ended"))).toMatchObject([{ end: "lost" }]);
    // From here on each has a worker ID of its own.
    expect(duplicatesOf(...(await Promise.all(both.map((server) => draw(server, 200)))))).toEqual([]);
  });

  test.concurrent("that was stopped in order leaves nothing to go on from", async (context) => {
    const { expect } = context;
    const { folder, serve } = await scene(context, "120s");
    const first = await serve();
    expect(recordsIn(folder)).toHaveLength(1);
    await first.stop("SIGTERM");
    expect(recordsIn(folder)).toEqual([]);
  });
});

interface Answer {
  readonly id?: string;
  readonly runs?: readonly { readonly firstId: string; readonly count: number; readonly stride: string }[];
  readonly code?: string;
  readonly deploymentFingerprint?: string;
}

async function call(
  { url }: SnowlaneProcess,
  method: "NextId" | "ReserveIds" | "GetInfo",
  request: object,
): Promise<Answer> {
  const response = await fetch(`${url}/snowlane.v1.IdService/${method}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(request),
    signal: AbortSignal.timeout(60_000),
  });
  return (await response.json()) as Answer;
}

async function deploymentOf(server: SnowlaneProcess): Promise<string | undefined> {
  return (await call(server, "GetInfo", {})).deploymentFingerprint;
}

/** An ID, or the code of the error. */
async function ask(server: SnowlaneProcess): Promise<string> {
  const { id, code = "neither ID nor code" } = await call(server, "NextId", {});
  return id ?? code;
}

/**
 * Takes that many IDs, the first by itself. On a busy machine the disk may be late with the record: then it is asked
 * again.
 */
async function draw(server: SnowlaneProcess, count: number): Promise<bigint[]> {
  const ids: bigint[] = [];
  const endMs = performance.now() + patience.timeout;
  while (ids.length < count) {
    const answer = await (ids.length === 0
      ? call(server, "NextId", {})
      : call(server, "ReserveIds", { count: count - ids.length }));
    if (answer.id !== undefined) ids.push(BigInt(answer.id));
    for (const run of answer.runs ?? []) {
      for (let index = 0; index < run.count; index += 1) {
        ids.push(BigInt(run.firstId) + BigInt(index) * BigInt(run.stride));
      }
    }
    if (performance.now() > endMs) throw new Error(`${ids.length} of ${count} IDs, then ${JSON.stringify(answer)}`);
  }
  return ids;
}

function linesOf({ log }: SnowlaneProcess, event: string): readonly SnowlaneProcess["log"][number][] {
  return log.filter((line) => line["event"] === event);
}

function lineOf(server: SnowlaneProcess, event: string): SnowlaneProcess["log"][number] {
  const [line] = linesOf(server, event);
  if (line === undefined) throw new Error(`no ${event} in ${JSON.stringify(server.log)}`);
  return line;
}

function placeOf(line: SnowlaneProcess["log"][number]): { readonly datacenterId: number; readonly workerId: number } {
  return { datacenterId: Number(line["datacenterId"]), workerId: Number(line["workerId"]) };
}

/** Names of the records, wherever in the folder. */
function recordsIn(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true })
    .map(String)
    .filter((name) => name.endsWith(".json"));
}

/** Writes what a takeover writes, as another process would once the holder's time is over. */
async function takeOver(url: string, namespace: string, workerIndex: number): Promise<void> {
  const other = await openStore(url, { namespace, callTimeoutMs: 30_000 });
  try {
    const key = workerKey(workerIndex);
    const { entry } = await other.read(key);
    const record = parseWorkerRecord(key, entry!.text);
    const next = {
      ...record,
      generation: record.generation + 1,
      token: "a".repeat(record.token.length),
      writeId: "b".repeat(record.writeId.length),
      markMs: record.markMs + 120_000,
      expiresMs: record.expiresMs + 120_000,
    };
    expect((await other.compareAndSet(key, entry, encodeWorkerRecord(next))).kind).toBe("applied");
  } finally {
    await other.close();
  }
}
