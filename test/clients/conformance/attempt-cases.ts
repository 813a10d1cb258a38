/** Cases of the rules of attempts: where calls go, which are made again, and when a call ends. */
import { Code } from "@connectrpc/connect";
import { setTimeout as sleep } from "node:timers/promises";
import { faultError, type ScriptedIdServer } from "../../support/processes/scripted-id-server.ts";
import type { Case } from "./case.ts";
import { handlersOf, lateHandlers } from "./fault-server.ts";
import { hold, holdAnswered, holdInTime, holdNoFailure, patience, type World } from "./world.ts";

const unavailable = { reason: "STORE_UNAVAILABLE", code: Code.Unavailable };

/** Links each server to an address of its own, all at one port, and gives the port. */
async function linkAtOnePort(
  world: World,
  servers: readonly ScriptedIdServer[],
  addresses: readonly string[],
): Promise<number> {
  for (let tries = 0; ; tries++) {
    let port = 0;
    try {
      for (const [index, server] of servers.entries()) port = (await world.link(server, addresses[index], port)).port;
      return port;
    } catch (error) {
      // Another program has the port at the next address.
      if (tries === 20) throw error;
    }
  }
}

/** Lets something befall a server each time it has been called so often, as long as work lasts. */
async function befallAfterCalls<T>(
  server: ScriptedIdServer,
  callCount: number,
  befall: () => void,
  work: Promise<T>,
): Promise<T> {
  let seenCount = server.calls.length;
  const watching = setInterval(() => {
    if (server.calls.length - seenCount < callCount) return;
    seenCount = server.calls.length;
    befall();
  }, 20);
  try {
    return await work;
  } finally {
    clearInterval(watching);
  }
}

export const attemptCases: readonly Case[] = [
  {
    rule: "attempts 1",
    name: "stays",
    law: "A client stays with one endpoint.",
    isNeeded: true,
    run: async (world) => {
      const servers = [await world.server(), await world.server()];
      const client = await world.open(
        servers.map(({ url }) => url),
        patience,
      );
      await client.call(40);
      const counts = servers.map(({ calls }) => calls.filter(({ method }) => method === "nextId").length);
      hold(Math.min(...counts) === 0, `40 calls went to both endpoints: ${counts.join(" and ")}`);
    },
  },
  {
    rule: "attempts 2",
    name: "hanging-server",
    law: "A call whose server hangs gets its ID from another one within its deadline, and no ID of the late answer.",
    isNeeded: true,
    run: async (world) => {
      const [hanging, well] = [await world.server(), await world.server()];
      hanging.handlers = {
        ...handlersOf(1),
        // Far longer than an attempt takes, so that no pause of the machine lets the answer come in time.
        nextId: async () => {
          await sleep(20_000, undefined, { ref: false });
          return { id: 1n, deployment: 1 };
        },
      };
      for (let round = 0; round < 8; round++) {
        const client = await world.open([hanging.url, well.url], { timeout_ms: 60_000 });
        const [result] = await client.call();
        holdAnswered(result);
        hold(result.id !== "1", "the ID of an answer that came too late was handed out");
      }
    },
  },
  {
    rule: "attempts 3",
    name: "retried",
    law: "UNAVAILABLE is tried again, at most three times.",
    isNeeded: true,
    run: async (world) => {
      const server = await world.server();
      let [faults, attempts] = [2, 0];
      server.handlers = {
        ...handlersOf(1),
        nextId: (request, context) => {
          attempts++;
          if (faults-- > 0) throw faultError(unavailable);
          return handlersOf(1).nextId!(request, context);
        },
      };
      const client = await world.open([server.url], patience);
      const [result] = await client.call();
      holdAnswered(result, "a call failed after two refusals");
      [faults, attempts] = [1_000, 0];
      const [refused] = await client.call();
      hold(refused?.reason === "STORE_UNAVAILABLE", `the error was ${refused?.text}`);
      hold(attempts <= 4, `one call made ${attempts} attempts`);
    },
  },
  {
    rule: "attempts 3",
    name: "dropped-requests",
    law: "A request that its server cancels, by RST_STREAM or by its status, is tried again as UNAVAILABLE.",
    isNeeded: true,
    run: async (world) => {
      const server = await world.server();
      const client = await world.open([server.url], patience);
      await client.call();
      server.dropCount = 2;
      const [dropped] = await client.call();
      holdAnswered(dropped, "a call failed after two resets");
      server.handlers = {
        ...handlersOf(1),
        nextId: () => {
          throw faultError({ code: Code.Canceled });
        },
      };
      const [cancelled] = await client.call();
      hold(cancelled?.reason === "UNREACHABLE", `CANCELLED was given as ${cancelled?.text ?? "an ID"}`);
      const attempts = server.calls.filter(({ method }) => method === "nextId").length - 2;
      hold(attempts === 4, `CANCELLED was tried ${attempts} times instead of 4`);
    },
  },
  {
    rule: "attempts 3",
    name: "not-retried",
    law: "What waiting does not help is tried once.",
    isNeeded: true,
    run: async (world) => {
      const server = await world.server();
      for (const code of [Code.InvalidArgument, Code.PermissionDenied, Code.FailedPrecondition, Code.Internal]) {
        let attempts = 0;
        server.handlers = {
          ...handlersOf(1),
          nextId: () => {
            attempts++;
            throw faultError({ code });
          },
        };
        const [result] = await (await world.open([server.url], patience)).call();
        hold(result?.reason === "RPC_FAILED", `${Code[code]} was given as ${result?.text ?? "an ID"}`);
        hold(attempts === 1, `${Code[code]} was tried ${attempts} times`);
      }
    },
  },
  {
    rule: "attempts 4",
    name: "failover",
    law: "A server that refuses is left for another one.",
    isNeeded: true,
    run: async (world) => {
      const [refusing, well] = [await world.server(), await world.server()];
      let refusals = 0;
      refusing.handlers = {
        ...handlersOf(1),
        nextId: () => {
          refusals++;
          throw faultError(unavailable);
        },
      };
      const rounds = 8;
      for (let round = 0; round < rounds; round++) {
        const [result] = await (await world.open([refusing.url, well.url])).call();
        holdAnswered(result);
        holdInTime(result.durationMs < 2_000, `the call took ${Math.round(result.durationMs)} ms`);
      }
      // One call may draw a pause that is over at once.
      hold(refusals <= rounds + 2, `${rounds} calls asked the server that refuses ${refusals} times`);
    },
  },
  {
    rule: "attempts 4",
    name: "retry-info",
    law: "A RetryInfo of 20 s of a lone endpoint does not make calls of 5 s fail once it is well.",
    isNeeded: true,
    run: async (world) => {
      const server = await world.server();
      let isBusy = true;
      server.handlers = {
        ...handlersOf(1),
        reserveIds: (request, context) => {
          if (!isBusy) return handlersOf(1).reserveIds!(request, context);
          isBusy = false;
          throw faultError({ ...unavailable, retryAfterMs: 20_000 });
        },
      };
      const [result] = await (await world.open([server.url], { buffer: 1 })).call();
      holdAnswered(result);
    },
  },
  {
    rule: "attempts 5",
    name: "quota",
    law: "A quota is waited for where it is, and not evaded.",
    isNeeded: true,
    run: async (world) => {
      const servers = [await world.server(), await world.server()];
      let refusals = 0;
      for (const server of servers) {
        server.handlers = {
          ...handlersOf(1),
          nextId: (request, context) => {
            if (refusals++ === 0)
              throw faultError({ reason: "QUOTA_EXCEEDED", code: Code.ResourceExhausted, retryAfterMs: 300 });
            return handlersOf(1).nextId!(request, context);
          },
        };
      }
      const urls = servers.map(({ url }) => url);
      const [result] = await (await world.open(urls, patience)).call();
      holdAnswered(result);
      hold(result.durationMs >= 300, `the call waited ${Math.round(result.durationMs)} ms instead of 300 ms`);
      const counts = servers.map(({ calls }) => calls.filter(({ method }) => method === "nextId").length);
      hold(Math.max(...counts) === 2, "the second attempt went to another endpoint");
    },
  },
  {
    rule: "attempts 6",
    name: "no-vain-wait",
    law: "A wait that would outlast the deadline is not begun.",
    isNeeded: true,
    run: async (world) => {
      const server = await world.server();
      server.handlers = {
        ...handlersOf(1),
        nextId: () => {
          throw faultError({ reason: "QUOTA_EXCEEDED", code: Code.ResourceExhausted, retryAfterMs: 8_000 });
        },
      };
      // Of the 8 s that the server asks for, 5 count.
      const [result] = await (await world.open([server.url], { timeout_ms: 4_500 })).call();
      hold(result?.reason === "QUOTA_EXCEEDED", `the error was ${result?.text ?? "none"}`);
      holdInTime(result.durationMs < 1_500, `the call took ${Math.round(result.durationMs)} ms`);
      hold(result.retryAfterMs === 8_000, `the error has a delay of ${result.retryAfterMs} ms instead of 8,000`);
    },
  },
  {
    rule: "attempts 10",
    name: "ipv6",
    law: "An endpoint may be an IPv6 address.",
    isNeeded: true,
    run: async (world) => {
      const link = await world.link(await world.server(), "::1");
      const [result] = await (await world.open([`http://[::1]:${link.port}`], patience)).call();
      holdAnswered(result);
    },
  },
  {
    rule: "attempts 11",
    name: "connections-end",
    law: "Connections that servers end again and again fail no call.",
    isNeeded: true,
    run: async (world) => {
      const server = await world.server();
      const link = await world.link(server);
      const client = await world.open([`http://127.0.0.1:${link.port}`]);
      holdNoFailure(await befallAfterCalls(server, 30, () => link.cut(), client.take(50, 4)));
    },
  },
  {
    rule: "attempts 11",
    name: "goaway",
    law: "A server that sends GOAWAY to its connections again and again fails no call.",
    isNeeded: true,
    run: async (world) => {
      const server = await world.server();
      // So that calls are on their way when it comes.
      server.handlers = lateHandlers(() => sleep(10));
      const client = await world.open([server.url]);
      holdNoFailure(await befallAfterCalls(server, 15, () => server.goAway(), client.take(50, 4)));
    },
  },
  {
    rule: "attempts 11",
    name: "half-open",
    law: "A connection that its server forgot, or of which it ended its half, is left at once, and no call fails.",
    isNeeded: true,
    run: async (world) => {
      const link = await world.link(await world.server());
      const client = await world.open([`http://127.0.0.1:${link.port}`]);
      for (const befall of [() => link.forget(), () => link.halfClose()]) {
        await client.call(2);
        befall();
        await sleep(100);
        const [result] = await client.call();
        holdAnswered(result);
        holdInTime(result.durationMs < 1_500, `the call took ${Math.round(result.durationMs)} ms`);
      }
    },
  },
  {
    rule: "attempts 15",
    name: "names",
    law: "A host name with two addresses is two endpoints: where one of them refuses, the other one answers.",
    isNeeded: false,
    run: async (world) => {
      const addresses = ["127.0.0.2", "127.0.0.3"];
      const servers = [await world.server(), await world.server()];
      const port = await linkAtOnePort(world, servers, addresses);
      const program = await world.startProgramWithHost("ids.test", addresses);
      await world.warmUp(program);
      const client = await world.open([`http://ids.test:${port}`], patience, program);
      for (const server of servers) {
        server.handlers = {
          ...handlersOf(1),
          nextId: () => {
            throw faultError(unavailable);
          },
        };
        for (const result of await client.call(3)) holdAnswered(result, "a call failed");
        server.handlers = handlersOf(1);
      }
    },
  },
];
