import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { Code } from "@connectrpc/connect";
import { afterEach, describe, expect, test } from "vitest";
import { faultError, ScriptedIdServer } from "../../../test/support/processes/scripted-id-server.ts";
import { HastyClock } from "../test/hasty-clock.ts";
import type { SnowlaneError } from "./errors.ts";
import { FakeClock } from "./fake-clock.ts";
import { IdClient } from "./id-client.ts";
import { createNodeClient, type NodeClientOptions } from "./node.ts";
import type { AttemptEvent } from "./observer.ts";

const closers: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

async function startServer(firstId?: bigint): Promise<ScriptedIdServer> {
  const server = await new ScriptedIdServer(firstId).start();
  closers.push(() => server.kill());
  return server;
}

function connect(servers: readonly ScriptedIdServer[], options: NodeClientOptions = {}): IdClient {
  const client = createNodeClient({ endpoints: servers.map(({ url }) => url), ...options });
  closers.push(() => client.close());
  return client;
}

async function errorOf(work: Promise<unknown>): Promise<SnowlaneError> {
  try {
    await work;
  } catch (error) {
    return error as SnowlaneError;
  }
  throw new Error("It did not fail.");
}

async function collect(stream: AsyncIterable<readonly bigint[]>): Promise<bigint[]> {
  const ids: bigint[] = [];
  for await (const chunk of stream) ids.push(...chunk);
  return ids;
}

const big = 2n ** 62n + 1n;

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

  test("what is no token, or cannot be had, is an error of its own, tried once and sent to nobody", async () => {
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

  test("a deadline of any length can be given, and one that is no number is refused", async () => {
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
  const buffer = client.prefetch({ maxAgeMs, countMax: 32 });
  expect(await buffer.nextId()).toBe(33n);
  expect(buffer.stats()).toMatchObject({ refillFailures: 1, refills: 1 });
});

test("what breaks before a call goes out is no server that does not answer", async () => {
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
    const client = createNodeClient({ endpoints: [url] });
    closers.push(() => client.close());
    const buffer = client.prefetch();
    for (const call of [() => client.nextId(), async () => buffer.nextId(), async () => buffer.nextId()]) {
      const startedMs = performance.now();
      const error = await errorOf(call());
      expect(performance.now() - startedMs).toBeLessThan(1_000);
      expect(error).toMatchObject({ reason: "UNREACHABLE", metadata: { answered: "never" } });
      expect(String(error)).toMatch(/^UNREACHABLE: The .*snowlane serve.* \(http:.*\)$/);
    }
  });

  test("all endpoints are tried before it", async () => {
    const attempts: AttemptEvent[] = [];
    const observer = { onAttempt: (event: AttemptEvent) => void attempts.push(event) };
    const client = createNodeClient({ endpoints: ["http://127.0.0.1:1", "http://127.0.0.1:2"], observer });
    closers.push(() => client.close());
    expect(await errorOf(client.nextId())).toMatchObject({ metadata: { connection: "refused", answered: "never" } });
    expect(new Set(attempts.map(({ endpoint }) => endpoint)).size).toBe(2);
  });

  test("after the first answer a call waits for the server as ever", async () => {
    const server = await startServer();
    const client = connect([server], { timeoutMs: 400 });
    await client.nextId();
    await server.kill();
    const { metadata } = await errorOf(client.nextId());
    expect(metadata).toEqual({ connection: "refused" });
  });
});

test("a count that is too large names stream()", async () => {
  const client = createNodeClient();
  closers.push(() => client.close());
  const tooLarge = { reason: "COUNT_OUT_OF_RANGE", message: expect.stringContaining("stream()") };
  await expect(client.nextIds(1_048_577)).rejects.toMatchObject(tooLarge);
  await expect(client.prefetch().nextIds(1_048_577)).rejects.toMatchObject(tooLarge);
  expect((await errorOf(client.nextIds(0))).message).not.toContain("stream()");
});

test("a client forgets buffers that were closed", { timeout: 120_000 }, async () => {
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
  await expect.poll(isHeld, { timeout: 60_000 }).toBe(false);
  const last = client.prefetch();
  client.close();
  expect((await errorOf(Promise.resolve(last.nextId()))).reason).toBe("CLIENT_CLOSED");
});

describe("errors", () => {
  test("reason, code, metadata, delay and endpoint come through", async () => {
    const server = await startServer();
    server.handlers = {
      nextId: () => {
        throw faultError({
          reason: "QUOTA_EXCEEDED",
          code: Code.ResourceExhausted,
          retryAfterMs: 1_250,
          metadata: { principal: "a" },
        });
      },
    };
    expect(await errorOf(connect([server], { retryMax: 0 }).nextId())).toMatchObject({
      reason: "QUOTA_EXCEEDED",
      code: "RESOURCE_EXHAUSTED",
      retryAfterMs: 1_250,
      metadata: { principal: "a" },
      endpoint: server.url,
    });
  });

  test("a reason that is not known is RPC_FAILED, and stands in the metadata", async () => {
    const server = await startServer();
    server.handlers = {
      nextId: () => {
        throw faultError({ reason: "NOT_YET_KNOWN", code: Code.FailedPrecondition });
      },
    };
    expect(await errorOf(connect([server]).nextId())).toMatchObject({
      reason: "RPC_FAILED",
      code: "FAILED_PRECONDITION",
      metadata: { reason: "NOT_YET_KNOWN" },
    });
  });

  test("an error without a reason carries its code", async () => {
    const server = await startServer();
    for (const [code, name] of [
      [Code.Unimplemented, "UNIMPLEMENTED"],
      [Code.Internal, "INTERNAL"],
      [Code.Aborted, "ABORTED"],
      [Code.Canceled, "CANCELLED"],
      [Code.DataLoss, "DATA_LOSS"],
    ] as const) {
      server.handlers = {
        nextId: () => {
          throw faultError({ code });
        },
      };
      expect(await errorOf(connect([server]).nextId())).toMatchObject({ reason: "RPC_FAILED", code: name });
    }
    expect(server.calls).toHaveLength(5);
  });

  test("nobody there is UNREACHABLE", async () => {
    const server = await startServer();
    await server.kill();
    expect(await errorOf(connect([server]).nextId())).toMatchObject({ reason: "UNREACHABLE", code: "UNAVAILABLE" });
  });

  test("the deadline of a call is kept, with a server that never answers", async () => {
    const server = await startServer();
    server.handlers = { nextId: () => new Promise(() => {}) };
    const client = connect([server], { attemptTimeoutMs: 30 });
    expect(await errorOf(client.nextId({ timeoutMs: 100 }))).toMatchObject({ reason: "DEADLINE_EXCEEDED" });
  });

  test("a caller that cancels gets CANCELLED, while it waits and between attempts", async () => {
    const server = await startServer();
    server.handlers = { nextId: () => new Promise(() => {}) };
    const client = connect([server]);
    expect((await errorOf(client.nextId({ signal: AbortSignal.timeout(30) }))).reason).toBe("DEADLINE_EXCEEDED");
    server.handlers = {
      nextId: () => {
        throw faultError({ reason: "STORE_UNAVAILABLE", code: Code.Unavailable, retryAfterMs: 3_000 });
      },
    };
    expect((await errorOf(client.nextId({ signal: AbortSignal.timeout(60) }))).reason).toBe("DEADLINE_EXCEEDED");
    expect((await errorOf(client.nextId({ signal: AbortSignal.abort() }))).reason).toBe("CANCELLED");
  });

  test("closing ends the calls that are under way, and those that wait", async () => {
    const server = await startServer();
    server.handlers = { nextId: () => new Promise(() => {}) };
    const client = connect([server]);
    const buffer = client.prefetch();
    const pending = errorOf(client.nextId());
    const streaming = errorOf(collect(client.stream(1e9)));
    await new Promise((resolve) => setTimeout(resolve, 50));
    client.close();
    expect((await pending).reason).toBe("CLIENT_CLOSED");
    expect((await streaming).reason).toBe("CLIENT_CLOSED");
    expect((await errorOf(client.nextId())).reason).toBe("CLIENT_CLOSED");
    expect((await errorOf(Promise.resolve(buffer.nextId()))).reason).toBe("CLIENT_CLOSED");
    expect(() => client.prefetch()).toThrow("closed");
  });
});

describe("attempts", () => {
  test("a server that comes back within three retries is not noticed", async () => {
    const server = await startServer();
    let failures = 3;
    server.handlers = {
      nextId: () => {
        if (failures-- > 0) throw faultError({ code: Code.Unavailable });
        return { id: 7n };
      },
    };
    const attempts: AttemptEvent[] = [];
    const client = connect([server], { observer: { onAttempt: (event) => attempts.push(event) } });
    expect(await client.nextId()).toBe(7n);
    expect(attempts.map(({ attempt, reason }) => [attempt, reason])).toEqual([
      [1, "UNREACHABLE"],
      [2, "UNREACHABLE"],
      [3, "UNREACHABLE"],
      [4, undefined],
    ]);
  });

  test("no more than three retries are made", async () => {
    const server = await startServer();
    server.handlers = {
      nextId: () => {
        throw faultError({ reason: "WINDOW_EXPIRED", code: Code.Unavailable });
      },
    };
    expect((await errorOf(connect([server]).nextId())).reason).toBe("WINDOW_EXPIRED");
    expect(server.calls).toHaveLength(4);
  });

  test("a server that is down is left for another", async () => {
    const [first, second] = [await startServer(1n), await startServer(1_000_000n)];
    const client = connect([first, second]);
    await client.nextId();
    const used = first.calls.length > 0 ? first : second;
    const other = used === first ? second : first;
    await used.kill();
    await client.nextIds(10);
    expect(other.calls.length).toBeGreaterThan(0);
  });

  test("a quota is waited for where it is, not evaded", async () => {
    const [first, second] = [await startServer(), await startServer()];
    let failures = 1;
    const nextId = () => {
      if (failures-- > 0)
        throw faultError({ reason: "QUOTA_EXCEEDED", code: Code.ResourceExhausted, retryAfterMs: 40 });
      return { id: 7n };
    };
    first.handlers = { nextId };
    second.handlers = { nextId };
    await connect([first, second]).nextId();
    expect(new Set([first.calls.length, second.calls.length])).toEqual(new Set([0, 2]));
  });

  test("a wait that would outlast the deadline is not begun", async () => {
    const server = await startServer();
    server.handlers = {
      nextId: () => {
        throw faultError({ reason: "STORE_UNAVAILABLE", code: Code.Unavailable, retryAfterMs: 60_000 });
      },
    };
    const client = connect([server]);
    expect((await errorOf(client.nextId())).reason).toBe("STORE_UNAVAILABLE");
    expect((await errorOf(client.nextId())).reason).toBe("STORE_UNAVAILABLE");
    expect(server.calls).toHaveLength(1);
  });

  test("a server that hangs is left for another when the attempt has run out", async () => {
    const [first, second] = [await startServer(), await startServer()];
    let hung: ScriptedIdServer | undefined;
    for (const server of [first, second]) {
      server.handlers = {
        nextId: () => {
          hung ??= server;
          return server === hung ? new Promise<never>(() => {}) : { id: 7n };
        },
      };
    }
    expect(await connect([first, second], { attemptTimeoutMs: 1_000 }).nextId()).toBe(7n);
  });
});

describe("streams", () => {
  test("a reader may take longer than the timeout of the client", async () => {
    const server = await startServer();
    server.handlers = {
      batchNextIds: async function* () {
        yield { ids: [1n] };
        // Not before the reader has waited for a while.
        await new Promise((resolve) => setTimeout(resolve, 50));
        yield { ids: [2n] };
      },
    };
    const clock = new FakeClock();
    const ids: bigint[] = [];
    let ticking: NodeJS.Timeout | undefined;
    for await (const chunk of connect([server], { clock }).stream(2)) {
      ids.push(...chunk);
      await clock.advance(600_000);
      ticking ??= setInterval(() => void clock.advance(0), 1);
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

test("wrong options are refused", () => {
  expect(() => createNodeClient({ endpoints: [] })).toThrow(RangeError);
  expect(() => createNodeClient({ endpoints: ["ftp://a"] })).toThrow(TypeError);
  expect(() => createNodeClient({ endpoints: ["http://a:99999"] })).toThrow(/http:\/\/a:99999 is neither http:/);
  expect(() => createNodeClient({ endpoints: ["http://a:0"] })).toThrow(TypeError);
  expect(() => createNodeClient({ endpoints: "http://a" as never })).toThrow(/endpoints is no list/);
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
