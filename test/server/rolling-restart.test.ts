import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fromBinary } from "@bufbuild/protobuf";
import { createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { Client, credentials, Metadata, type ServiceError, status } from "@grpc/grpc-js";
import { expect, onTestFinished, test } from "vitest";
import { IdService, NextIdResponseSchema } from "../../src/gen/snowlane/v1/id_service_pb.ts";
import { bearer, principalsFile } from "../support/processes/principals-file.ts";
import { temporaryFolder } from "../support/processes/running-server.ts";
import { type SnowlaneProcess, startSnowlane } from "../support/processes/snowlane-process.ts";

const http2 = process.env["SNOWLANE_TEST_HTTP2"] ?? "engine";
const callers = 32;
const timeoutMs = 300_000;

async function start(store: string, listen?: string, more: readonly string[] = []): Promise<SnowlaneProcess> {
  const args = ["--store", store, "--http2", http2, ...more];
  const server = await startSnowlane(listen === undefined ? { args } : { args, listen });
  onTestFinished(() => void server.child.kill("SIGKILL"));
  return server;
}

/** How {@link Callers} call. Default: without credentials, a pause or a second try. */
interface Manner {
  readonly fields?: Readonly<Record<string, string>>;
  /** Of all of them together. */
  readonly perSecond?: number;
  /** Tries of one call that is UNAVAILABLE, with pauses between them. */
  readonly triesMax?: number;
}

const pauseMs = 50;

/** Calls NextId, many calls at once, on both servers in turn. */
class Callers {
  readonly ids: bigint[] = [];
  readonly failures: string[] = [];
  /** Tries that failed, whatever became of their calls. */
  failedTries = 0;
  readonly #manner: Manner;
  readonly #metadata = new Metadata();
  #nextMs = performance.now();
  readonly #client: Client;
  readonly #loops: readonly Promise<void>[];
  #isOver = false;

  constructor(addresses: readonly string[], manner: Manner = {}) {
    this.#manner = manner;
    for (const [name, value] of Object.entries(manner.fields ?? {})) this.#metadata.set(name, value);
    const serviceConfig = JSON.stringify({ loadBalancingConfig: [{ round_robin: {} }] });
    this.#client = new Client(`ipv4:${addresses.join(",")}`, credentials.createInsecure(), {
      "grpc.service_config": serviceConfig,
      // A server that was restarted is looked for at once, not after a minute.
      "grpc.initial_reconnect_backoff_ms": 100,
      "grpc.max_reconnect_backoff_ms": 200,
    });
    this.#loops = Array.from({ length: callers }, () => this.#call());
  }

  async #call(): Promise<void> {
    while (!this.#isOver) {
      await this.#turn();
      try {
        this.ids.push(await this.#nextIdInTries());
      } catch (error) {
        const { code, details } = error as ServiceError;
        this.failures.push(`${code}: ${details}`);
      }
    }
  }

  /** Waits until the next call is due. Calls that were late are not made up for. */
  async #turn(): Promise<void> {
    const { perSecond } = this.#manner;
    if (perSecond === undefined) return;
    const dueMs = Math.max(this.#nextMs, performance.now());
    this.#nextMs = dueMs + 1_000 / perSecond;
    await sleep(Math.max(0, dueMs - performance.now()));
  }

  async #nextIdInTries(): Promise<bigint> {
    for (let triesLeft = this.#manner.triesMax ?? 1; ; triesLeft--) {
      try {
        return await this.#nextId();
      } catch (error) {
        this.failedTries += 1;
        if (triesLeft <= 1 || (error as ServiceError).code !== status.UNAVAILABLE) throw error;
        await sleep(pauseMs);
      }
    }
  }

  #nextId(): Promise<bigint> {
    return new Promise((resolve, reject) => {
      this.#client.makeUnaryRequest(
        "/snowlane.v1.IdService/NextId",
        () => Buffer.alloc(0),
        (bytes: Buffer) => fromBinary(NextIdResponseSchema, bytes).id,
        undefined,
        this.#metadata,
        (error, id) => (error === null ? resolve(id!) : reject(error)),
      );
    });
  }

  /** Waits for `count` IDs more. */
  async more(count: number): Promise<void> {
    const enough = this.ids.length + count;
    while (this.ids.length < enough) await sleep(10);
  }

  async end(): Promise<void> {
    this.#isOver = true;
    await Promise.all(this.#loops);
    this.#client.close();
  }
}

test("servers that are restarted one after the other, under load, fail no call and repeat no ID", {
  timeout: timeoutMs,
}, async () => {
  const store = `sqlite:${join(temporaryFolder(), "ids.db")}`;
  const servers = [await start(store), await start(store)];
  const callers = new Callers(servers.map(({ address }) => address));
  await callers.more(600);
  for (const [index, server] of servers.entries()) {
    expect(await server.stop("SIGTERM")).toBe(0);
    await callers.more(200);
    servers[index] = await start(store, server.address);
    await callers.more(600);
  }
  await callers.end();
  expect(callers.failures).toEqual([]);
  expect(new Set(callers.ids).size).toBe(callers.ids.length);
});

test("servers with guards, restarted at half of what they can do, fail no call after retries, and repeat no ID", {
  timeout: timeoutMs,
}, async () => {
  const store = `sqlite:${join(temporaryFolder(), "ids.db")}`;
  const quota = { idsPerSecond: 1_000_000, callsPerSecond: 1_000_000, streamsMax: 10 };
  const { path } = principalsFile([{ name: "shop", permissions: ["ids"], ...quota }]);
  const guards = ["--principals", path, "--quota-ids-per-second", "1000000", "--log-calls", "refused"];
  const servers = [await start(store, undefined, guards), await start(store, undefined, guards)];
  const addresses = servers.map(({ address }) => address);
  const fields = bearer("shop");

  const flatOut = new Callers(addresses, { fields });
  await flatOut.more(600);
  const [measured, beganMs] = [2_000, performance.now()];
  await flatOut.more(measured);
  const capacity = (measured * 1_000) / (performance.now() - beganMs);
  await flatOut.end();

  const callers = new Callers(addresses, { fields, perSecond: capacity / 2, triesMax: 5 });
  await callers.more(300);
  for (const [index, server] of servers.entries()) {
    expect(await server.stop("SIGTERM")).toBe(0);
    await callers.more(200);
    servers[index] = await start(store, server.address, guards);
    await callers.more(300);
  }
  await callers.end();
  const ids = [...flatOut.ids, ...callers.ids];
  process.stdout.write(
    `${Math.round(capacity / 2)} calls/s of ${Math.round(capacity)}: of ${callers.ids.length} calls ` +
      `${callers.failedTries} tries failed before retries, ${callers.failures.length} calls after them; ` +
      `${ids.length - new Set(ids).size} IDs twice\n`,
  );
  expect([flatOut.failures, callers.failures]).toEqual([[], []]);
  expect(new Set(ids).size).toBe(ids.length);
  // The guards were on: nobody else gets an ID.
  const stranger = new Callers(addresses);
  await expect.poll(() => stranger.failures.length).toBeGreaterThan(0);
  await stranger.end();
  expect(stranger.ids).toEqual([]);
});

test("a server that stops answers every call that it has taken, and refuses the rest unseen", {
  timeout: timeoutMs,
}, async () => {
  const store = `sqlite:${join(temporaryFolder(), "ids.db")}`;
  const server = await start(store);
  const client = createClient(IdService, createGrpcTransport({ baseUrl: server.url }));
  const ids: bigint[] = [];
  const failures: string[] = [];
  const call = async (): Promise<void> => {
    for (;;) {
      try {
        ids.push((await client.nextId({})).id);
      } catch (error) {
        // What the client could not even send, once nobody listens any more; and what it sent beyond the last stream of
        // GOAWAY, which says that nobody has looked at it.
        if (!/ECONNREFUSED|REFUSED_STREAM/.test(String(error))) failures.push(String(error));
        return;
      }
    }
  };
  const loops = Array.from({ length: callers }, call);
  while (ids.length < 600) await sleep(10);
  expect(await server.stop("SIGTERM")).toBe(0);
  // Each goes on until it is refused.
  await Promise.all(loops);
  expect(failures).toEqual([]);
  expect(new Set(ids).size).toBe(ids.length);
});
