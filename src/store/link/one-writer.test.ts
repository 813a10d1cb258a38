import { beforeEach, afterEach, expect, test, vi } from "vitest";
import { OneWriter } from "./one-writer.ts";
import type { ServerAnswer } from "./watched-server.ts";
import { WriterChoice } from "./writer-choice.ts";

const primary: ServerAnswer = { kind: "writer", role: { server: "primary" } };
const other: ServerAnswer = { kind: "other", problem: "it is a standby" };

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] }));
afterEach(() => void vi.useRealTimers());

/** A route to servers whose answers the test sets. */
class World {
  readonly answers: Record<string, () => Promise<ServerAnswer>> = {
    a: async () => primary,
    b: async () => other,
  };
  readonly asked: string[] = [];
  connections = 0;
  prepare = async (): Promise<void> => {};

  route(hosts: readonly string[], callTimeoutMs = 400): OneWriter<{ readonly host: string }> {
    return new OneWriter(
      {
        servers: hosts.map((host) => ({ host, port: 1 })),
        callTimeoutMs,
        connectTimeoutMs: () => callTimeoutMs,
        connect: async ({ host }) => {
          this.connections += 1;
          return { host };
        },
        destroy: () => {},
      },
      {
        kind: "test",
        severalHint: "Stop one.",
        noneHint: "Promote one.",
        asksAgain: hosts.length > 1,
        choice: new WriterChoice(),
        ask: ({ host }) => {
          this.asked.push(host);
          return this.answers[host]!();
        },
        isOneServer: async () => true,
        prepare: () => this.prepare(),
      },
    );
  }
}

test("several servers are asked before each call over one connection each, and one alone only once", async () => {
  const several = new World();
  const route = several.route(["b", "a"]);
  for (let call = 0; call < 3; call += 1) expect((await route.take()).connection.host).toBe("a");
  expect([several.connections, several.asked.join("")]).toEqual([2, "bababa"]);
  const single = new World();
  const alone = single.route(["a"]);
  for (let call = 0; call < 3; call += 1) await alone.take();
  expect([single.connections, single.asked.join("")]).toEqual([1, "a"]);
});

test("an answer counts for a call within a second of it: otherwise all are asked again", async () => {
  const world = new World();
  let isFirst = true;
  world.prepare = async () => {
    if (!isFirst) return;
    isFirst = false;
    vi.advanceTimersByTime(1_100);
    // Promoted meanwhile.
    world.answers["b"] = async () => ({ kind: "writer", role: { server: "promoted" } });
  };
  await expect(world.route(["a", "b"], 10_000).take()).rejects.toMatchObject({
    message:
      "Several servers of the test store take writes: a:1 and b:1. Nothing is granted or renewed until only one of them does. Stop one.",
    metadata: { store: "test", servers: "a:1 and b:1" },
  });
});

test("a server that is silent holds a call up for half of its time, and the next one for a quarter, by one question", async () => {
  const world = new World();
  world.answers["b"] = () => new Promise(() => {});
  const route = world.route(["a", "b"], 1_000);
  let isTaken = false;
  const first = route.take().finally(() => (isTaken = true));
  await vi.advanceTimersByTimeAsync(499);
  expect(isTaken).toBe(false);
  await vi.advanceTimersByTimeAsync(1);
  expect((await first).connection.host).toBe("a");
  const next = route.take();
  await vi.advanceTimersByTimeAsync(250);
  expect((await next).connection.host).toBe("a");
  expect(world.asked.filter((host) => host === "b")).toHaveLength(1);
});

test("without one that takes writes, each server is named with its reason", async () => {
  const world = new World();
  world.answers["a"] = async () => {
    throw new Error("it is full.");
  };
  await expect(world.route(["a", "b"]).take()).rejects.toThrow("a:1: it is full; b:1: it is a standby");
});
