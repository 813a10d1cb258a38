import { Code } from "@connectrpc/connect";
import { describe, expect, test } from "vitest";
import { faultError } from "../../../test/support/processes/scripted-id-server.ts";
import { collect, connect, errorOf, startServer } from "../test/scripted-client.ts";
import { FakeClock } from "./fake-clock.ts";

describe("streams", () => {
  test("a reader may take longer than the timeout of the client", async () => {
    const server = await startServer();
    const isWaiting = Promise.withResolvers<void>();
    server.handlers = {
      batchNextIds: async function* () {
        yield { ids: [1n] };
        await isWaiting.promise;
        yield { ids: [2n] };
      },
    };
    const clock = new FakeClock();
    const ids: bigint[] = [];
    let ticking: NodeJS.Timeout | undefined;
    for await (const chunk of connect([server], { clock }).stream(2)) {
      ids.push(...chunk);
      await clock.advance(600_000);
      ticking ??= setInterval(() => void clock.advance(0).then(isWaiting.resolve), 1);
    }
    clearInterval(ticking);
    expect(ids).toEqual([1n, 2n]);
  });

  test("a stream that is cut goes on with another, to exactly as many IDs", async () => {
    const server = await startServer();
    let cuts = 6;
    let next = 1n;
    server.handlers = {
      batchNextIds: async function* ({ count }) {
        for (let left = Number(count); left > 0; left--) {
          yield { ids: [next++] };
          if (cuts > 0 && next % 5n === 0n) {
            cuts--;
            throw faultError({ reason: "CLOCK_ROLLED_BACK", code: Code.Unavailable });
          }
        }
      },
    };
    const ids = await collect(connect([server]).stream(100));
    expect(new Set(ids).size).toBe(100);
    expect(cuts).toBe(0);
  });

  test("an ordered stream ends with the error instead", async () => {
    const server = await startServer();
    server.handlers = {
      batchNextIds: async function* () {
        yield { ids: [1n] };
        throw faultError({ reason: "CLOCK_ROLLED_BACK", code: Code.Unavailable });
      },
    };
    expect((await errorOf(collect(connect([server]).stream(2, { ordered: true })))).reason).toBe("CLOCK_ROLLED_BACK");
    expect(server.calls).toHaveLength(1);
  });

  test("a killed server's stream goes on where another runs", async () => {
    const [first, second] = [await startServer(1n), await startServer(1_000_000_000n)];
    const client = connect([first, second]);
    const ids: bigint[] = [];
    let killed = false;
    for await (const chunk of client.stream(500_000)) {
      ids.push(...chunk);
      if (!killed && ids.length > 100_000) {
        killed = true;
        await (first.calls.length > 0 ? first : second).kill();
      }
    }
    expect(ids).toHaveLength(500_000);
    expect(new Set(ids).size).toBe(500_000);
    expect(first.calls.length * second.calls.length).toBeGreaterThan(0);
  });

  test("leaving the loop cancels the stream", async () => {
    const server = await startServer();
    const client = connect([server]);
    for await (const _ of client.stream(1e9)) break;
    const [call] = server.calls;
    await expect.poll(() => call?.context.signal.aborted).toBe(true);
    expect(await client.nextId()).toBeGreaterThan(0n);
  });

  test("a chunk that does not come is DEADLINE_EXCEEDED, also when an attempt may take longer", async () => {
    const server = await startServer();
    server.handlers = {
      batchNextIds: async function* () {
        yield { ids: [1n] };
        await new Promise(() => {});
      },
    };
    const client = connect([server], { retryMax: 0, attemptTimeoutMs: 50 });
    expect((await errorOf(collect(client.stream(2)))).reason).toBe("DEADLINE_EXCEEDED");
    expect((await errorOf(collect(client.stream(2, { timeoutMs: 20 })))).reason).toBe("DEADLINE_EXCEEDED");
  });
});
