import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { systemClock } from "../../src/clock/clock.ts";
import { startPostgres } from "../support/servers/postgres-server.ts";
import type { Fault } from "./fault.ts";
import type { FaultServer } from "./fault-server.ts";
import type { FaultTrial } from "./fault-trial.ts";
import { HeldClock } from "./held-clock.ts";

const times = ["--window", "1500ms", "--window-max", "1500ms", "--renewal-period", "300ms"];
/** Within this time a server that was taken over must know it: several renewals, on a machine that is busy. */
const noticeMaxMs = 15_000;

/** A server on a machine of its own, which can be held. */
interface HeldServer {
  readonly server: FaultServer;
  readonly clock: HeldClock;
}

/** Takeovers of a holder that believes that its window is not over: the case that marks and compare-and-set are for. */
export const takeoverFaults: readonly Fault[] = [
  {
    name: "a pause that no clock sees, while another server takes over the only worker ID",
    stores: "own",
    workerIdCount: 1,
    catches: "renew-over-anyone",
    counts: { pr: 2, full: 200 },
    lanes: 4,
    failures: "allowed",
    inject: async (trial, count) => {
      const postgres = await startPostgres();
      trial.onEnd(() => postgres.stop());
      let holder = await startHeld(trial, postgres.url, "one");
      await holder.server.untilLogged(["acquired"], 0);
      let other = await startHeld(trial, postgres.url, "other");
      const load = trial.startLoad("any-server", "calm");
      for (let index = 0; index < count; index += 1) {
        await load.untilAnswered(10);
        const mark = await pauseUntilTakenOver(trial, holder, other.server);
        trial.injected();
        try {
          await holder.server.untilLogged(["grant-ended"], mark, {}, noticeMaxMs);
        } catch (error) {
          trial.problems.push(`a holder that was taken over goes on: ${String(error).split("\n")[0]}`);
        }
        await load.untilAnswered(10);
        await holder.server.kill();
        holder.clock.setRight();
        await holder.server.startOrWait();
        [holder, other] = [other, holder];
      }
    },
  },
];

async function startHeld(trial: FaultTrial, storeUrl: string, name: string): Promise<HeldServer> {
  const clock = await HeldClock.create(join(trial.folder, `clock-${name}`));
  return { clock, server: await trial.startServer({ storeUrl, args: times, environment: clock.environment }) };
}

/** @returns Where the holder's log ended when it was paused. */
async function pauseUntilTakenOver(trial: FaultTrial, { server, clock }: HeldServer, other: FaultServer) {
  const [mark, otherMark] = [server.mark(), other.mark()];
  server.pause();
  const pausedMs = systemClock.monotonicMs();
  await other.untilLogged(["acquired"], otherMark);
  await sleep(trial.random.below(1_000));
  clock.hold(systemClock.monotonicMs() - pausedMs);
  server.resume();
  return mark;
}
