import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { Code } from "@connectrpc/connect";
import { describe, expect, onTestFinished, test } from "vitest";
import { faultError } from "../../../test/support/processes/scripted-id-server.ts";
import { HastyClock } from "../test/hasty-clock.ts";
import { big, collect, connect, errorOf, startServer } from "../test/scripted-client.ts";
import { FakeClock } from "./fake-clock.ts";
import { IdClient } from "./id-client.ts";
import { createNodeClient } from "./node.ts";
import type { AttemptEvent } from "./observer.ts";

describe("calls", () => {
  test("IDs above 2^53 come out whole, by each call", async () => {
    const server = await startServer(big);
    const client = connect([server]);
    expect(await client.nextId()).toBe(big);
    expect(await client.nextIds(3)).toEqual([big + 1n, big + 2n, big + 3n]);
    expect(await client.reserve(2)).toEqual([{ firstId: big + 4n, count: 2, stride: 1n }]);
    expect(await collect(client.stream(5, { chunkSize: 2 }))).toEqual([6n, 7n, 8n, 9n, 10n].map((n) => big + n));
  });

  test("nextIds goes on until it has as many as it was asked for", async () => {
    const server = await startServer();
    let next = 0n;
    server.handlers = { reserveIds: () => ({ runs: [{ firstId: (next += 10n), count: 2, stride: 3n }] }) };
    expect(await connect([server]).nextIds(4)).toEqual([10n, 13n, 20n, 23n]);
  });

  test("counts out of range are refused without a call", async () => {
    const server = await startServer();
    const client = connect([server]);
    for (const count of [0, -1, 0.5, 1_048_577]) {
      expect((await errorOf(client.nextIds(count))).reason).toBe("COUNT_OUT_OF_RANGE");
      expect((await errorOf(client.reserve(count))).reason).toBe("COUNT_OUT_OF_RANGE");
    }
    for (const count of [0, 1e9 + 1]) {
      expect((await errorOf(collect(client.stream(count)))).reason).toBe("COUNT_OUT_OF_RANGE");
    }
    expect(server.calls).toEqual([]);
  });

  test("what is not a token, or cannot be had, is an error of its own, tried once and sent to nobody", async () => {
    const server = await startServer();
    for (const token of ["", "two\nlines", "\u00fc", "\u2603"]) {
      const error = await errorOf(connect([server], { token }).nextId());
      expect([error.reason, error.code], token).toEqual(["RPC_FAILED", "UNAUTHENTICATED"]);
    }
    const token = (): string => {
      throw new Error("There is no such file.");
    };
    expect(await errorOf(connect([server], { token }).nextId())).toMatchObject({
      reason: "RPC_FAILED",
      message: "There is no such file.",
    });
    expect(server.calls).toEqual([]);
  });

  test("the line break at the end of a token file is dropped", async () => {
    const server = await startServer();
    await connect([server], { token: () => "secret\n" }).nextId();
    expect(server.calls[0]?.context.requestHeader.get("authorization")).toBe("Bearer secret");
  });

  test("a call may wait for stock without end", async () => {
    const buffer = connect([await startServer()]).prefetch();
    expect(await buffer.nextId({ timeoutMs: Infinity })).toBe(1n);
  });

  test("a token goes out with each call", async () => {
    const server = await startServer();
    let count = 0;
    const client = connect([server], { token: async () => `t${++count}` });
    await client.nextId();
    await collect(client.stream(1));
    expect(server.calls.map(({ context }) => context.requestHeader.get("authorization"))).toEqual([
      "Bearer t1",
      "Bearer t2",
    ]);
  });

  test("an answer that cannot be is INVALID_RESPONSE, and not asked for again", async () => {
    const server = await startServer();
    const client = connect([server]);
    for (const id of [0n, 2n ** 63n]) {
      server.handlers = { nextId: () => ({ id }) };
      expect((await errorOf(client.nextId())).reason).toBe("INVALID_RESPONSE");
    }
    const run = (firstId: bigint, count: number) => ({ firstId, count, stride: 1n });
    for (const runs of [[], [run(0n, 1)], [run(1n, 3), run(3n, 3)]]) {
      server.handlers = { reserveIds: () => ({ runs }) };
      expect((await errorOf(client.nextIds(100))).reason).toBe("INVALID_RESPONSE");
    }
    expect(server.calls).toHaveLength(5);
  });

  test("a chunk that cannot be is INVALID_RESPONSE, and not asked for again", async () => {
    const server = await startServer();
    const client = connect([server]);
    const top = 2n ** 63n;
    const bad = [
      [],
      [[]],
      [[3n, 4n]],
      [[3n, 4n, 5n, 6n]],
      [[3n, 4n], [4n]],
      [[0n, 1n, 2n]],
      [[5n, 5n, 5n]],
      [[3n, 2n, 4n]],
      [[1n, top, 3n]],
      [[1n, 2n, top]],
    ];
    for (const chunks of bad) {
      server.handlers = {
        batchNextIds: async function* () {
          for (const ids of chunks) yield { ids };
        },
      };
      expect((await errorOf(collect(client.stream(3)))).reason, String(chunks)).toBe("INVALID_RESPONSE");
    }
    expect(server.calls).toHaveLength(bad.length);
  });

  test("sizes of chunks out of range are refused without a call", async () => {
    const server = await startServer();
    const client = connect([server]);
    for (const chunkSize of [-1, 1.5, NaN, 65_537, 2 ** 32]) {
      expect(await errorOf(collect(client.stream(3, { chunkSize })))).toMatchObject({
        reason: "COUNT_OUT_OF_RANGE",
        code: "INVALID_ARGUMENT",
        metadata: { chunk_size: String(chunkSize), chunk_size_max: "65536" },
      });
    }
    expect(server.calls).toEqual([]);
  });

  test("a deadline of any length can be given, and one that is not a number is refused", async () => {
    const client = connect([await startServer()], { attemptTimeoutMs: 2 ** 31 - 1 });
    const options = { timeoutMs: Infinity };
    expect([
      await client.nextId(options),
      await client.nextIds(1, options),
      await collect(client.stream(1, options)),
    ]).toEqual([1n, [2n], [3n]]);
    for (const timeoutMs of [-Infinity, -1, 0]) {
      expect((await errorOf(client.nextId({ timeoutMs }))).reason).toBe("DEADLINE_EXCEEDED");
    }
    expect(await errorOf(client.nextId({ timeoutMs: NaN }))).toBeInstanceOf(RangeError);
    expect(await errorOf(collect(client.stream(1, { timeoutMs: NaN })))).toBeInstanceOf(RangeError);
  });
});

test("a retried reservation is as old as its first attempt", async () => {
  const server = await startServer();
  const clock = new HastyClock();
  const maxAgeMs = 60_000;
  let calls = 0;
  let nextId = 1n;
  server.handlers = {
    reserveIds: ({ count }) => {
      if (calls++ === 0) {
        // By the clock of the client, the first attempt takes as long as IDs may be used.
        clock.aheadMs += maxAgeMs;
        throw faultError({ code: Code.Unavailable });
      }
      const firstId = nextId;
      nextId += BigInt(count);
      return { runs: [{ firstId, count, stride: 1n }] };
    },
  };
  const client = connect([server], { clock, random: () => 0, timeoutMs: 3_600_000, attemptTimeoutMs: 600_000 });
  const buffer = client.prefetch({ maxAgeMs, countMin: 32, countMax: 32 });
  expect(await buffer.nextId()).toBe(33n);
  expect(buffer.stats()).toMatchObject({ refillFailures: 1, refills: 1 });
});

test("what breaks before a call goes out does not count as a server that does not answer", async () => {
  const client = new IdClient(() => {
    throw new TypeError("There is no such transport.");
  });
  expect(await errorOf(client.nextId())).toMatchObject({
    reason: "RPC_FAILED",
    message: "There is no such transport.",
  });
  client.close();
});

describe("the first mistake", () => {
  const absent = ["http://127.0.0.1:1", "http://nosuch.invalid:7609", "http://localhost:1"];

  test.each(absent)("no server at %s: calls and buffers fail within a second and say what to start", async (url) => {
    const clock = new FakeClock();
    const client = createNodeClient({ endpoints: [url], clock });
    onTestFinished(() => client.close());
    const buffer = client.prefetch();
    for (const call of [() => client.nextId(), async () => buffer.nextId(), async () => buffer.nextId()]) {
      const failing = errorOf(call());
      // Of a call that waits longer, the test does not end.
      await clock.advance(999);
      const error = await failing;
      expect(error).toMatchObject({ reason: "UNREACHABLE", metadata: { answered: "never" } });
      expect(String(error)).toMatch(/^UNREACHABLE: The .*snowlane serve.* \(http:.*\)$/);
    }
  });

  test("all endpoints are tried before it", async () => {
    const attempts: AttemptEvent[] = [];
    const observer = { onAttempt: (event: AttemptEvent) => void attempts.push(event) };
    const client = createNodeClient({ endpoints: ["http://127.0.0.1:1", "http://127.0.0.1:2"], observer });
    onTestFinished(() => client.close());
    expect(await errorOf(client.nextId())).toMatchObject({ metadata: { connection: "refused", answered: "never" } });
    expect(new Set(attempts.map(({ endpoint }) => endpoint)).size).toBe(2);
  });

  test("after the first answer a call waits for the server as ever", async () => {
    const server = await startServer();
    const client = connect([server]);
    await client.nextId();
    await server.kill();
    const { metadata } = await errorOf(client.nextId());
    expect(metadata).toEqual({ connection: "refused" });
  });
});

test("a count that is too large for a call, and not for a stream, names stream()", async () => {
  const client = createNodeClient();
  onTestFinished(() => client.close());
  const tooLarge = { reason: "COUNT_OUT_OF_RANGE", message: expect.stringContaining("stream()") };
  await expect(client.nextIds(1_048_577)).rejects.toMatchObject(tooLarge);
  await expect(client.prefetch().nextIds(1_048_577)).rejects.toMatchObject(tooLarge);
  for (const count of [0, 1e9 + 1]) expect((await errorOf(client.nextIds(count))).message).not.toContain("stream()");
});

test("a client forgets buffers that were closed", async () => {
  const client = connect([await startServer()]);
  const closed = (() => {
    const buffer = client.prefetch();
    buffer.close();
    return new WeakRef(buffer);
  })();
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  const isHeld = (): boolean => {
    collect();
    return closed.deref() !== undefined;
  };
  await expect.poll(isHeld).toBe(false);
  const last = client.prefetch();
  client.close();
  expect((await errorOf(Promise.resolve(last.nextId()))).reason).toBe("CLIENT_CLOSED");
});

test("wrong options are refused", () => {
  expect(() => createNodeClient({ endpoints: [] })).toThrow(RangeError);
  expect(() => createNodeClient({ endpoints: ["ftp://a"] })).toThrow(TypeError);
  expect(() => createNodeClient({ endpoints: ["http://a:99999"] })).toThrow(/http:\/\/a:99999 is neither http:/);
  expect(() => createNodeClient({ endpoints: ["http://a:0"] })).toThrow(TypeError);
  expect(() => createNodeClient({ endpoints: "http://a" as never })).toThrow(/endpoints must be an array/);
  expect(() => createNodeClient({ token: 5 as never })).toThrow(/token is neither/);
  expect(() => createNodeClient({ timeoutMs: "5" as never })).toThrow(RangeError);
  for (const scheme of ["http", "ftp"]) {
    for (const host of ["a", "a b"]) {
      const create = () => createNodeClient({ endpoints: [`${scheme}://user:secret@${host}`] });
      expect(create).toThrow(TypeError);
      expect(create).not.toThrow(/secret/);
    }
  }
  expect(() => createNodeClient({ retryMax: 4 })).toThrow(RangeError);
  expect(() => createNodeClient({ timeoutMs: 0 })).toThrow(RangeError);
  expect(() => createNodeClient({ token: "t", endpoints: ["http://example.com"] })).toThrow(/insecureToken/);
  createNodeClient({ token: "t", endpoints: ["http://example.com"], insecureToken: true }).close();
  createNodeClient({ token: "t", endpoints: ["https://example.com", "http://[::1]:1", "http://localhost"] }).close();
});
