import { setTimeout as sleep } from "node:timers/promises";
import { systemClock } from "../../src/clock/clock.ts";
import type { IdLoad } from "../support/processes/id-load.ts";
import type { SeededRandom } from "../support/worlds/seeded-random.ts";
import type { Fault } from "./fault.ts";

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
/**
 * So far below a mark a server takes its worker ID. A mark that is further ahead of the clock than a timestamp may be,
 * which is 2 s, makes a start take another one.
 */
const nearMarkMs = 1_000;
const shortWindow = ["--window", "1500ms", "--window-max", "1500ms", "--renewal-period", "300ms"];
/** A step back up to this is noticed by nobody; a step forward up to this is followed at once. */
const leadMaxMs = 2_000;
/** Answers that are awaited after a step, so that IDs of both sides of it are there to compare. */
const answerCount = 30;
/**
 * The log writes ten lines of one message in ten seconds, and then their number: that many steps are reported singly.
 */
const steps = { unfolded: 8, foldMs: 10_000 };
/** So long IDs are counted before a step back and after it, while the clock is still behind. */
const rateMs = 500;

/** Steps of a server's wall clock. */
export const clockFaults: readonly Fault[] = [
  {
    name: "clock stepped back by 1 ms to 2 s, running",
    stores: "any",
    catches: "availability",
    counts: { pr: 8, full: 500 },
    lanes: 1,
    failures: "none",
    inject: async (trial, count) => {
      const clock = await trial.createClock();
      await trial.startServer({ environment: clock.environment });
      const load = trial.startLoad("each-call");
      const shares: number[] = [];
      for (let index = 0; index < count; index += 1) {
        const stepMs = anyMs(trial.random, 1, leadMaxMs - 1);
        await load.untilAnswered(answerCount);
        const before = await rateOf(load);
        clock.step(-stepMs);
        trial.injected();
        const after = await rateOf(load);
        if (before > 0) shares.push(after / before);
        await load.untilAnswered(answerCount);
        // Else the steps would add up to one that is longer.
        clock.step(stepMs);
      }
      const share = shares.toSorted((one, other) => one - other)[Math.floor(shares.length / 2)] ?? Number.NaN;
      trial.notes.push(`IDs a second right after a step: ${Math.round(share * 100)} % of those right before (median)`);
    },
  },
  {
    name: "clock stepped back by 2 s to 24 h, running",
    stores: "embedded",
    catches: "availability",
    counts: { pr: 7, full: 500 },
    lanes: 2,
    failures: "none",
    gapMaxMs: 1_000,
    inject: async (trial, count) => {
      const clock = await trial.createClock();
      const server = await trial.startServer({ environment: clock.environment });
      const load = trial.startLoad("each-call");
      for (let index = 0; index < count; index += 1) {
        await load.untilAnswered(answerCount);
        const mark = server.mark();
        clock.step(-anyMs(trial.random, leadMaxMs + 500, dayMs));
        trial.injected();
        await server.untilLogged(["acquired"], mark);
        await load.untilAnswered(answerCount);
        if ((index + 1) % steps.unfolded === 0) await sleep(steps.foldMs);
      }
    },
  },
  {
    name: "clock stepped forward by 1 ms to 24 h, running",
    stores: "embedded",
    catches: "availability",
    counts: { pr: 7, full: 500 },
    lanes: 4,
    failures: "none",
    inject: async (trial, count) => {
      const clock = await trial.createClock();
      const server = await trial.startServer({ environment: clock.environment });
      const load = trial.startLoad("each-call");
      for (let index = 1; index <= count; index += 1) {
        await load.untilAnswered(answerCount);
        const mark = server.mark();
        clock.step(anyMs(trial.random, 1, dayMs));
        trial.injected();
        await load.untilAnswered(answerCount);
        // Now and then the new time is given the ten seconds after which it is believed.
        const isLast = index === count;
        const isJudged = server.log.slice(mark).some(({ event }) => event === "clock-step-forward");
        if (isJudged && (isLast || index % 5 === 0))
          await server.untilLogged(["clock-step-forward"], mark, { verdict: "agreed" });
      }
      await load.untilAnswered(answerCount);
    },
  },
  {
    name: "clock stepped by 1 ms to 24 h, either way, between kill -9 and restart",
    stores: "embedded",
    catches: "own-clock",
    counts: { pr: 8, full: 500 },
    lanes: 2,
    failures: "allowed",
    inject: async (trial, count) => {
      const clock = await trial.createClock();
      const server = await trial.startServer({ environment: clock.environment, args: shortWindow });
      const load = trial.startLoad("any-server");
      // A busy machine starts a server slowly, and its clock goes on meanwhile.
      let startMs = 0;
      for (let index = 0; index < count; index += 1) {
        await load.untilAnswered(answerCount);
        await server.kill();
        const marks = trial.noteMarks("ended");
        // First an hour back, which is the step that everybody asks about; then any, but not ever further one way.
        const lengthMs = anyMs(trial.random, 1, dayMs);
        const stepMs = clock.offsetMs > 0 || (clock.offsetMs === 0 && trial.random.oneIn(2)) ? -lengthMs : lengthMs;
        // Every other time the clock stands so little below the lowest mark that its worker ID can be had.
        const nearMs = Math.min(...marks) - nearMarkMs - startMs - (systemClock.nowMs() + clock.offsetMs);
        clock.step(index === 0 ? -hourMs : index % 2 === 0 ? stepMs : nearMs);
        trial.injected();
        const begunMs = systemClock.monotonicMs();
        await server.start();
        startMs = systemClock.monotonicMs() - begunMs;
        await load.untilAnswered(answerCount);
      }
    },
  },
];

/** IDs a second, over a moment. */
async function rateOf(load: IdLoad): Promise<number> {
  const [fromMs, from] = [systemClock.monotonicMs(), load.received.idCount];
  await sleep(rateMs);
  return (load.received.idCount - from) / (systemClock.monotonicMs() - fromMs);
}

/** A length of time between two others, short ones as often as long ones: each order of magnitude alike. */
function anyMs(random: SeededRandom, minMs: number, maxMs: number): number {
  const share = random.below(1_000_001) / 1_000_000;
  return Math.round(minMs * (maxMs / minMs) ** share);
}
