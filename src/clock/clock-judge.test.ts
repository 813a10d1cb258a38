import { describe, expect, test } from "vitest";
import { ManualTime } from "../../test/support/worlds/manual-time.ts";
import { ClockJudge } from "./clock-judge.ts";
import type { WorkerEvent } from "../lease/worker-event.ts";

function judged(uptime: "known" | "unknown" = "known"): { time: ManualTime; judge: ClockJudge; verdicts: string[] } {
  const time = new ManualTime();
  const verdicts: string[] = [];
  const report = (event: WorkerEvent): void => {
    if (event.kind === "clock-step-forward") verdicts.push(event.verdict);
    if (event.kind === "clock-step-back") verdicts.push("back");
  };
  const uptimeMs = (): number | undefined => (uptime === "known" ? time.uptimeMs() : undefined);
  return { time, verdicts, judge: new ClockJudge({ clock: time, uptimeMs, report }) };
}

/** Lets time pass while the clock is read ten times a second, as an issuing process does. */
async function pass(time: ManualTime, judge: ClockJudge, forMs: number): Promise<void> {
  for (let left = forMs; left > 0; left -= 100) {
    await time.run(Math.min(100, left));
    judge.nowMs();
  }
}

describe("the clock judge", () => {
  test("follows a clock that does nothing strange, at any rate of reading", async () => {
    const { time, judge, verdicts } = judged();
    for (const stepMs of [1, 10, 499, 500, 501, 5_000, 60_000]) {
      for (let reading = 0; reading < 20; reading += 1) {
        await time.run(stepMs);
        expect(judge.nowMs()).toBe(time.nowMs());
      }
    }
    expect(verdicts).toEqual([]);
  });

  test("follows every step back at once, and counts it", async () => {
    const { time, judge, verdicts } = judged();
    for (const stepMs of [-1, -100, -3_600_000]) {
      await time.run(100);
      judge.nowMs();
      time.stepWall(stepMs);
      expect(judge.nowMs()).toBe(time.nowMs());
    }
    expect(judge.stepsBack).toBe(3);
    expect(verdicts).toEqual(["back", "back", "back"]);
  });

  test("sees a step back that hides in a pause between two readings", async () => {
    const { time, judge } = judged();
    await time.run(10_000);
    time.stepWall(-5_000);
    expect(judge.nowMs()).toBe(time.nowMs());
    expect(judge.stepsBack).toBe(1);
  });

  test("follows a step forward of up to 2 s at once", async () => {
    const { time, judge, verdicts } = judged();
    await time.run(100);
    time.stepWall(2_000);
    expect(judge.nowMs()).toBe(time.nowMs());
    expect(verdicts).toEqual([]);
  });

  test("goes on by the monotonic clock after a longer one, without a gap and without a step back", async () => {
    const { time, judge, verdicts } = judged();
    await pass(time, judge, 1_300);
    const beforeMs = judge.nowMs();
    time.stepWall(2_001);
    expect(judge.nowMs()).toBe(beforeMs);
    await time.run(50);
    expect(judge.nowMs()).toBe(beforeMs + 50);
    expect(judge.state.kind).toBe("judging");
    expect(verdicts).toEqual(["judging"]);
  });

  test("follows it once it has agreed with itself for 10 s", async () => {
    const { time, judge, verdicts } = judged();
    time.stepWall(60_000);
    judge.nowMs();
    await pass(time, judge, 9_900);
    expect(judge.nowMs()).toBe(time.nowMs() - 60_000);
    await pass(time, judge, 200);
    expect(judge.nowMs()).toBe(time.nowMs());
    expect(verdicts).toEqual(["judging", "agreed"]);
    expect(judge.stepsForward).toBe(1);
  });

  test("begins the 10 s again if it steps once more", async () => {
    const { time, judge } = judged();
    time.stepWall(60_000);
    await pass(time, judge, 6_000);
    time.stepWall(5_000);
    await pass(time, judge, 6_000);
    expect(judge.nowMs()).toBe(time.nowMs() - 65_000);
    await pass(time, judge, 5_000);
    expect(judge.nowMs()).toBe(time.nowMs());
  });

  test("drops the matter if the clock comes back", async () => {
    const { time, judge, verdicts } = judged();
    time.stepWall(60_000);
    await pass(time, judge, 3_000);
    time.stepWall(-60_000);
    expect(judge.nowMs()).toBe(time.nowMs());
    expect(verdicts.slice(0, 2)).toEqual(["judging", "withdrawn"]);
    await pass(time, judge, 20_000);
    expect(judge.nowMs()).toBe(time.nowMs());
  });

  test("follows at once when uptime says that the machine slept", async () => {
    const { time, judge, verdicts } = judged();
    await pass(time, judge, 3_000);
    time.suspend(7_200_000);
    expect(judge.nowMs()).toBe(time.nowMs());
    expect(verdicts).toEqual(["suspended"]);
  });

  test("has no such opinion where uptime is unknown, or tells of a shorter sleep", async () => {
    const unknown = judged("unknown");
    unknown.time.suspend(7_200_000);
    unknown.judge.nowMs();
    expect(unknown.verdicts).toEqual(["judging"]);
    const shorter = judged();
    shorter.time.suspend(60_000);
    shorter.time.stepWall(3_600_000);
    shorter.judge.nowMs();
    expect(shorter.verdicts).toEqual(["judging"]);
  });

  test("takes the store's clock for an opinion: nearer to the step confirms, nearer to us contradicts", async () => {
    const confirmed = judged();
    confirmed.time.stepWall(60_000);
    confirmed.judge.nowMs();
    confirmed.judge.offerStoreClock(confirmed.time.nowMs() - 3_000);
    expect(confirmed.judge.nowMs()).toBe(confirmed.time.nowMs());
    expect(confirmed.verdicts).toEqual(["judging", "confirmed"]);

    const contradicted = judged();
    contradicted.time.stepWall(60_000);
    contradicted.judge.nowMs();
    contradicted.judge.offerStoreClock(contradicted.time.nowMs() - 58_000);
    await pass(contradicted.time, contradicted.judge, 60_000);
    expect(contradicted.judge.nowMs()).toBe(contradicted.time.nowMs() - 60_000);
    expect(contradicted.judge.state).toMatchObject({ kind: "contradicted" });
  });

  test("takes back a contradiction when the store's clock comes to agree", async () => {
    const { time, judge } = judged();
    time.stepWall(60_000);
    judge.nowMs();
    judge.offerStoreClock(time.nowMs() - 60_000);
    await pass(time, judge, 5_000);
    judge.offerStoreClock(time.nowMs());
    expect(judge.nowMs()).toBe(time.nowMs());
    expect(judge.state.kind).toBe("following");
  });

  test("asks for no opinion while there is no step: a store's clock that is off changes nothing", async () => {
    const { time, judge } = judged();
    judge.offerStoreClock(time.nowMs() + 3_600_000);
    expect(judge.nowMs()).toBe(time.nowMs());
  });

  test("catches a clock that runs fast, though no single reading steps by much", async () => {
    const { time, judge, verdicts } = judged();
    for (let reading = 0; reading < 100; reading += 1) {
      await time.run(100);
      time.stepWall(900);
      judge.nowMs();
    }
    expect(verdicts[0]).toBe("judging");
  });
});
