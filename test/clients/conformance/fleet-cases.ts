/** Cases of many clients at once: what one may do, a fleet must not do together. */
import { setTimeout as sleep } from "node:timers/promises";
import { sized } from "../../support/worlds/scale.ts";
import type { Case } from "./case.ts";
import { handlersOf, lateHandlers } from "./fault-server.ts";
import { holdInTime, holdNoFailure, type TakeResult, type World } from "./world.ts";

/** Clients of the fleet: `npm run all -- conformance` takes the second number. */
const clientCount = sized(50, 2_000);
/** IDs that each takes in a second: one processor has to carry all of them, in the slowest language. */
const perSecond = sized(10, 1);
/** For how long it takes them. */
const seconds = sized(10, 40);
/** Two fleets at once would find how fast one processor answers, and not how they behave. */
const isAlone = sized(false, true);
/** Handshakes that a client may make on average after a fault. */
const handshakesMax = 1.2;

type FleetServer = Awaited<ReturnType<World["server"]>>;

/** Lets a fault befall the server of a fleet, each client with a buffer, and counts the handshakes after it. */
async function holdFleet(world: World, befall: (server: FleetServer) => Promise<void>): Promise<void> {
  const server = await world.server();
  const keys = { endpoints: server.url, clients: clientCount, per_second: perSecond, seconds };
  const fleet = { isOver: false };
  const running = world.program
    .send<Pick<TakeResult, "count" | "failures" | "reasons">>("fleet", keys)
    .finally(() => (fleet.isOver = true));
  // The time of the fleet begins when all have had an ID. Then all ask at the same rate, so by now none is left out.
  const areAllServed = (): boolean =>
    server.acceptedCount >= clientCount &&
    server.calls.filter(({ method }) => method === "reserveIds").length >= 4 * clientCount;
  while (!areAllServed() && !fleet.isOver) await sleep(100);
  const before = server.acceptedCount;
  await befall(server);
  holdInTime(!fleet.isOver, "the fleet had ended before the fault");
  const result = await running;
  holdNoFailure(result);
  holdInTime(before >= clientCount, `${clientCount} clients had made ${before} connections before the fault`);
  const each = (server.acceptedCount - before) / clientCount;
  // An answer that a busy machine makes late is asked for twice, and so may cost a second connection.
  holdInTime(each <= handshakesMax, `${clientCount} clients made ${each.toFixed(2)} handshakes each after the fault`);
}

export const fleetCases: readonly Case[] = [
  {
    rule: "attempts 12",
    name: "fleet-restart",
    law: "After a restart of their server, many clients make at most 1.2 handshakes each, and no call fails.",
    isNeeded: false,
    isAlone,
    run: (world) =>
      holdFleet(world, async (server) => {
        await server.kill();
        await sleep(1_000);
        await server.start();
      }),
  },
  {
    rule: "attempts 12",
    name: "fleet-stall",
    law: "After a stall of half a second, many clients make at most 1.2 handshakes each, and no call fails.",
    isNeeded: false,
    isAlone,
    run: (world) =>
      holdFleet(world, async (server) => {
        const over = sleep(500);
        server.handlers = lateHandlers(() => over);
        await over;
        server.handlers = handlersOf(1);
      }),
  },
];
