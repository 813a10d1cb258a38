import { systemClock } from "../clock.ts";
import { layoutSettings } from "../config/layout-settings.ts";
import { formatSpan, onOff } from "../config/setting-kinds.ts";
import { settleLayout } from "../config/settle-layout.ts";
import { problemsOf, valueOf } from "../config/settled.ts";
import { exhaustionOf } from "../snowflake/exhaustion.ts";
import type { Layout } from "../snowflake/layout.ts";
import { layouts as presets, presetNames } from "../snowflake/presets.ts";
import type { Command } from "./command.ts";
import { exitCodes } from "./exit-code.ts";
import { tableOf } from "./table.ts";

const options = {
  json: onOff({ name: "json", doc: "Prints one JSON object a line, for programs." }),
};

/** `snowlane layouts`. */
export const layouts: Command<typeof layoutSettings, typeof options> = {
  name: "layouts",
  summary: "Lists the preset layouts, or the one that is described, and how long each lasts",
  settings: layoutSettings,
  options,
  examples: [
    "snowlane layouts",
    "snowlane layouts --layout baidu --epoch 2026-01-01",
    "snowlane layouts --layout-fields timestamp:42,worker:9,sequence:12 --epoch 2026-01-01",
  ],
  check: (settings) => problemsOf(settleLayout(settings)),
  run: async ({ settings, options: { json }, stdout }) => {
    const described = Object.values(settings).some((value) => value !== undefined);
    const shown = described ? [valueOf(settleLayout(settings))] : presetNames.map((name) => presets[name]);
    const nowMs = systemClock.nowMs();
    if (json) for (const layout of shown) stdout.write(`${JSON.stringify(factsOf(layout, nowMs))}\n`);
    else stdout.write(toTable(shown.map((layout) => factsOf(layout, nowMs))));
    return exitCodes.done;
  },
};

function factsOf(layout: Layout, nowMs: number) {
  const { endMs, yearsLeft } = exhaustionOf(layout, nowMs);
  const ticksPerSecond = 1e9 / layout.tickNs;
  return {
    name: layout.name,
    bits: layout.fields.map(({ kind, bits }) => `${bits} ${kind}`).join(" | "),
    epoch: new Date(layout.epochMs).toISOString(),
    tick: formatSpan(layout.tickNs),
    end: new Date(endMs).toISOString(),
    yearsLeft: Math.max(0, Math.round(yearsLeft * 10) / 10),
    workerIds: layout.workerCount,
    idsPerSecondPerWorker: Math.floor((layout.sequence.max + 1) * ticksPerSecond),
  };
}

function toTable(all: readonly ReturnType<typeof factsOf>[]): string {
  const head = ["layout", "epoch", "tick", "ends", "years left", "worker IDs", "IDs/s each", "bits"];
  const rows = all.map((facts) => [
    facts.name,
    facts.epoch.slice(0, 10),
    facts.tick,
    facts.end.slice(0, 10),
    facts.yearsLeft.toFixed(1),
    String(facts.workerIds),
    String(facts.idsPerSecondPerWorker),
    facts.bits,
  ]);
  return tableOf(head, rows);
}
