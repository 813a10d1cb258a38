import { expect, test } from "vitest";
import { layouts } from "../snowflake/presets.ts";
import { redisTiming, serverTiming } from "../store/record-store.ts";
import { kubernetesTiming } from "../store/kubernetes/kubernetes.ts";
import { resolveWorkerSettings, windowSlackMs } from "./worker-settings.ts";

const holder = { instance: "a", host: "a", processId: 1, bootId: "", sinceMs: 0, version: "0" };

test.each([serverTiming, redisTiming, kubernetesTiming])(
  "a holder counts as dead a window and its slack after its last renewal, whatever the window: $windowMs ms by default",
  (timing) => {
    const store = { timing, liveness: { kind: "ttl" } } as const;
    const slackMs = windowSlackMs(layouts.twitter);
    for (const windowMs of [undefined, 2_000, 600_000]) {
      const options = { namespace: "default", holder, ...(windowMs === undefined ? {} : { windowMs }) };
      const settings = resolveWorkerSettings(options, layouts.twitter, store);
      expect(settings.ttlMs).toBe((windowMs ?? timing.windowMs) + slackMs);
    }
  },
);
