import { test } from "vitest";
import { runShownLoss, shownQuarantineMs } from "./loss-run.ts";
import { shownLosses } from "./shown-losses.ts";

test.concurrent.for(shownLosses)(
  "no ID comes twice, and new grants wait for the quarantine: $name",
  async ({ isLive, isAnotherLife, set }, { onTestFinished, expect }) => {
    const stage = await set();
    onTestFinished(async () => void (await stage.stop()));
    const { lostAtMs, grants, events, duplicateCount } = await runShownLoss(stage);
    expect(duplicateCount).toBe(0);
    for (const { fromMs } of grants) expect(fromMs).toBeGreaterThanOrEqual(lostAtMs + shownQuarantineMs);
    const kinds = events.map(({ kind }) => kind);
    if (isAnotherLife) expect(kinds).toContain("incarnation-changed");
    const quarantines = events.filter(
      (event) => event.kind === "quarantine-written" || (event.kind === "waiting" && event.for === "quarantine"),
    );
    if (isLive) expect(quarantines.length, kinds.join()).toBeGreaterThan(0);
  },
);
