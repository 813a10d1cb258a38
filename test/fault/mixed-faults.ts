import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { systemClock } from "../../src/clock/clock.ts";
import type { IdLoad } from "../support/processes/id-load.ts";
import { TcpProxy } from "../support/processes/tcp-proxy.ts";
import type { Fault } from "./fault.ts";
import type { FaultServer } from "./fault-server.ts";
import type { FaultTrial } from "./fault-trial.ts";
import { HeldClock } from "./held-clock.ts";
import { cutWays, type MixedStore, mixedStores } from "./mixed-stores.ts";

const serverCount = 3;
/** Faults of a round overlap; between two rounds everything is whole for a moment. */
const roundMs = 6_000;
/** Renewals come five times a window; a record that is not renewed is another's 3 s after its window. */
function timesOf(windowMs: number): readonly string[] {
  const [window, period] = [`${windowMs}ms`, `${windowMs / 5}ms`];
  return ["--window", window, "--window-max", window, "--renewal-period", period];
}

/** A server is stopped or cut off until another one often takes its worker ID, past the TTL. */
const absentMaxMs = 9_000;

/** A server with a clock and a network of its own. */
interface Actor {
  readonly server: FaultServer;
  readonly clock: HeldClock;
  readonly ways: readonly TcpProxy[];
}

/**
 * Clock, pause, kill, partition, power and store faults together, as a seed draws them: a row for each store. A fault
 * counts as injected when its round is over. Faults of one server follow each other; those of different servers and of
 * the store overlap.
 */
export const mixedFaults: readonly Fault[] = Object.entries(mixedStores).map(([kind, open]) => ({
  name: `mixed faults on ${kind}`,
  stores: "own",
  workerIdCount: serverCount - 1,
  catches: "own-clock",
  counts: { pr: kind === "sqlite" ? 2 : 1, full: 20 },
  fullMinutes: 120,
  // Most of a round is waiting.
  lanes: 2,
  failures: "allowed",
  inject: async (trial, count) => {
    const store = await open(trial);
    const actors: Actor[] = [];
    for (let index = 0; index < serverCount; index += 1) actors.push(await startActor(trial, store, index));
    const load = trial.startLoad("any-server", "calm");
    for (let round = 0; round < count; round += 1) {
      await untilServed(load, actors);
      await playRound(trial, actors, store);
      if (trial.random.oneIn(2)) await cutPower(trial, actors, store);
      for (const actor of actors) await restart(actor, () => actor.clock.setRight());
      trial.injected();
    }
    await untilServed(load, actors);
  },
}));

/** Waits for answers while nothing is broken; tells what the servers said where none come. */
async function untilServed(load: IdLoad, actors: readonly Actor[]): Promise<void> {
  try {
    await load.untilAnswered(5, 300_000);
  } catch (error) {
    const lines = actors.map(({ server }) => server.lastLines);
    throw new Error(`${String(error)}\n${lines.join("\n\n")}`, { cause: error });
  }
}

async function startActor(trial: FaultTrial, store: MixedStore, index: number): Promise<Actor> {
  const { embedded } = store;
  const clock = await HeldClock.create(join(trial.folder, `clock-${index}`));
  const ways = await Promise.all(store.ports.map((port) => TcpProxy.start(port)));
  for (const way of ways) trial.onEnd(() => way.stop());
  const libraries = [clock.environment["LD_PRELOAD"], embedded?.power.environment["LD_PRELOAD"]];
  const environment = {
    ...embedded?.power.environment,
    ...clock.environment,
    LD_PRELOAD: libraries.filter((path) => path !== undefined).join(":"),
  };
  const times = timesOf(store.windowMs);
  const place =
    embedded === undefined
      ? { storeUrl: store.url(ways.map(({ port }) => port)), args: times }
      : { storePath: embedded.path, args: times };
  return { server: await trial.startServer({ ...place, environment }), clock, ways };
}

/** Until the round's time is over, each server and the store have one fault after the other. */
async function playRound(trial: FaultTrial, actors: readonly Actor[], store: MixedStore): Promise<void> {
  const endMs = systemClock.monotonicMs() + roundMs;
  const play = async (next: () => Promise<void>): Promise<void> => {
    while (systemClock.monotonicMs() < endMs) {
      await sleep(trial.random.below(800));
      await next();
    }
  };
  await Promise.all([
    ...actors.map((actor) => play(() => trial.random.pick(actorFaults)(trial, actor, store))),
    play(() => trial.random.pick(store.faults)()),
  ]);
}

type ActorFault = (trial: FaultTrial, actor: Actor, store: MixedStore) => Promise<void>;

const actorFaults: readonly ActorFault[] = [
  // Killed, and started again with its clock at another time.
  async (trial, actor, store) => {
    await restart(actor, () => stepClock(trial, actor, store));
  },
  async (trial, actor, store) => stepClock(trial, actor, store),
  async (trial, { server }) => {
    server.pause();
    await sleep(100 + trial.random.below(absentMaxMs));
    server.resume();
  },
  // A pause that no clock sees, where uniqueness rests on no clock.
  async (trial, { server, clock }, { needsRightClocks }) => {
    server.pause();
    const pausedMs = systemClock.monotonicMs();
    await sleep(100 + trial.random.below(absentMaxMs));
    if (!needsRightClocks) clock.hold(systemClock.monotonicMs() - pausedMs);
    server.resume();
  },
  async (trial, { ways }) => cutWays(trial, ways, 100 + trial.random.below(absentMaxMs)),
];

/** By up to 10 s, but only within the error that the store's promise assumes, where it assumes one. */
function stepClock(trial: FaultTrial, { clock }: Actor, { needsRightClocks }: MixedStore): void {
  if (!needsRightClocks) clock.step(trial.random.below(20_000) - 10_000);
  else clock.step(trial.random.below(800) - 400 - clock.wallAheadMs);
}

async function restart({ server }: Actor, meanwhile: () => void): Promise<void> {
  await server.kill();
  meanwhile();
  await server.startOrWait();
}

/** All servers are gone at once; on the embedded store with a part of what was not synced. */
async function cutPower(trial: FaultTrial, actors: readonly Actor[], { embedded }: MixedStore): Promise<void> {
  for (const { server } of actors) server.pause();
  await Promise.all(actors.map(({ server }) => server.kill()));
  embedded?.power.undo(trial.random);
}
