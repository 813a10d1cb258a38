import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../support/processes/running-server.ts";
import { soak } from "./soak.ts";

test("a short soak: no call fails, and nothing stays open when nobody calls", async () => {
  const { looks, problems } = await soak({
    script: "src/cli/main.ts",
    storeFile: join(temporaryFolder(), "soak.db"),
    durationMs: 12_000,
    lookEveryMs: 4_000,
    attacks: "quick",
    attackPauseMs: 200,
    // So young a server still compiles.
    growthMax: 2,
    onLook: () => undefined,
    onFailure: () => undefined,
    onProgress: () => undefined,
    signal: new AbortController().signal,
  });
  expect(problems).toEqual([]);
  expect(looks.length).toBeGreaterThanOrEqual(2);
  expect(looks.at(-1)!.calls).toBeGreaterThan(100);
});
