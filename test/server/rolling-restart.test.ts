import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fromBinary } from "@bufbuild/protobuf";
import { createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { Client, credentials, type ServiceError } from "@grpc/grpc-js";
import { expect, onTestFinished, test } from "vitest";
import { IdService, NextIdResponseSchema } from "../../src/gen/snowlane/v1/id_service_pb.ts";
import { temporaryFolder } from "../support/processes/running-server.ts";
import { type SnowlaneProcess, startSnowlane } from "../support/processes/snowlane-process.ts";

const http2 = process.env["SNOWLANE_TEST_HTTP2"] ?? "engine";
const callers = 32;
const timeoutMs = 300_000;

async function start(store: string, listen?: string): Promise<SnowlaneProcess> {
  const args = ["--store", store, "--http2", http2];
  const server = await startSnowlane(listen === undefined ? { args } : { args, listen });
  onTestFinished(() => void server.child.kill("SIGKILL"));
  return server;
}

/** Calls NextId without a pause, many calls at once, on both servers in turn. */
class Callers {
  readonly ids: bigint[] = [];
  readonly failures: string[] = [];
  readonly #client: Client;
  readonly #loops: readonly Promise<void>[];
  #isOver = false;

  constructor(addresses: readonly string[]) {
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
      try {
        this.ids.push(await this.#nextId());
      } catch (error) {
        const { code, details } = error as ServiceError;
        this.failures.push(`${code}: ${details}`);
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
