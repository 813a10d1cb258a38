import { Code, ConnectError } from "@connectrpc/connect";
import { describe, expect, test } from "vitest";
import { faultError, type ScriptedIdServer } from "../../../test/support/processes/scripted-id-server.ts";
import { collect, connect, errorOf, startServer } from "../test/scripted-client.ts";
import { FakeClock } from "./fake-clock.ts";
import type { AttemptEvent } from "./observer.ts";

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

  test("a reason that is not known is RPC_FAILED, and is in the metadata", async () => {
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
      [Code.DataLoss, "DATA_LOSS"],
    ] as const) {
      server.handlers = {
        nextId: () => {
          throw faultError({ code });
        },
      };
      expect(await errorOf(connect([server]).nextId())).toMatchObject({ reason: "RPC_FAILED", code: name });
    }
    expect(server.calls).toHaveLength(4);
  });

  test("the text of a status without a text is its code", async () => {
    const server = await startServer();
    for (const [code, text] of [
      [Code.PermissionDenied, `RPC_FAILED: PERMISSION_DENIED (${server.url})`],
      [Code.Unavailable, `UNREACHABLE: The server cannot answer now: UNAVAILABLE (${server.url})`],
    ] as const) {
      server.handlers = {
        nextId: () => {
          throw new ConnectError("", code);
        },
      };
      expect(String(await errorOf(connect([server], { retryMax: 0 }).nextId()))).toBe(text);
    }
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
    await expect.poll(() => server.calls.map(({ method }) => method).toSorted()).toEqual(["batchNextIds", "nextId"]);
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
    const counts = [first, second].map(({ calls }) => calls.filter(({ method }) => method === "nextId").length);
    expect(new Set(counts)).toEqual(new Set([0, 2]));
  });

  test("of the delay of a quota at most 5 s count, and the error has what the server said", async () => {
    const server = await startServer();
    const clock = new FakeClock();
    server.handlers = {
      nextId: () => {
        throw faultError({ reason: "QUOTA_EXCEEDED", code: Code.ResourceExhausted, retryAfterMs: 600_000 });
      },
    };
    const client = connect([server], { clock, timeoutMs: 60_000, retryMax: 1 });
    const failing = errorOf(client.nextId());
    await expect.poll(() => server.calls.length).toBe(1);
    // Until the client sleeps; of one that sleeps for longer, the test does not end.
    await expect.poll(async () => (await clock.advance(7_500), server.calls.length)).toBe(2);
    expect(await failing).toMatchObject({ reason: "QUOTA_EXCEEDED", retryAfterMs: 600_000 });
  });

  test("a wait that would outlast the deadline is not begun", async () => {
    const server = await startServer();
    server.handlers = {
      nextId: () => {
        throw faultError({ reason: "STORE_UNAVAILABLE", code: Code.Unavailable, retryAfterMs: 60_000 });
      },
    };
    const client = connect([server], { timeoutMs: 1_400, random: () => 0.99 });
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
