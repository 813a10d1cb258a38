import { systemClock } from "../../clock/clock.ts";
import { layoutSettings } from "../../config/layout-settings.ts";
import { formatSpan, onOff } from "../../config/setting-kinds.ts";
import { resolveLayout } from "../../config/resolve-layout.ts";
import { problemsOf, valueOf } from "../../config/resolved.ts";
import { storeSettings } from "../../config/store-settings.ts";
import { type Exhaustion, exhaustionOf } from "../../snowflake/exhaustion.ts";
import type { Layout } from "../../snowflake/layout.ts";
import { layouts as presets, presetNames } from "../../snowflake/presets.ts";
import { listWorkers } from "../../lease/worker-list.ts";
import type { Command, CommandInput } from "../command.ts";
import { exitCodes } from "../exit-code.ts";
import { openRecords } from "../store/open-records.ts";
import { readStoredLayout } from "../store/stored-layout.ts";
import { type Paint, paintFor } from "../paint.ts";
import { type Cell, tableOf } from "../table.ts";

const options = {
  json: onOff({ name: "json", doc: "Prints one JSON object a line, for programs." }),
};

const settings = {
  ...layoutSettings,
  ...storeSettings,
  storeUrl: {
    ...storeSettings.storeUrl,
    doc: "Shows the layout that this store was started with, and how many of its worker IDs are free. Other layout settings are ignored.",
  },
};

type Input = CommandInput<typeof settings, typeof options>;

/** A layout to show; `free` is how many worker IDs could be granted now, where a store was asked. */
interface Shown {
  readonly layout: Layout;
  readonly free?: number;
}

/** `snowlane layouts`. */
export const layouts: Command<typeof settings, typeof options> = {
  name: "layouts",
  summary: "Lists the preset layouts, or the layout of the flags or of a store, and how long each lasts",
  settings,
  options,
  examples: [
    "snowlane layouts",
    "snowlane layouts --layout baidu --epoch 2026-01-01",
    "snowlane layouts --layout-fields timestamp:42,worker:9,sequence:12 --epoch 2026-01-01",
    "snowlane layouts --store postgres://snowlane@db/snowlane",
  ],
  check: (settings) => problemsOf(resolveLayout(settings)),
  run: async (input) => {
    const nowMs = systemClock.nowMs();
    const facts = (await shownLayouts(input, nowMs)).map((shown) => factsOf(shown, nowMs));
    const { options: chosen, stdout, environment } = input;
    const paint = paintFor(stdout, environment);
    stdout.write(chosen.json ? facts.map((one) => `${JSON.stringify(one)}\n`).join("") : toTable(facts, paint));
    return exitCodes.done;
  },
};

async function shownLayouts(input: Input, nowMs: number): Promise<readonly Shown[]> {
  const { settings } = input;
  if (settings.storeUrl !== undefined) return [await storedLayout(input, nowMs)];
  const isDescribed = Object.keys(layoutSettings).some(
    (key) => settings[key as keyof typeof layoutSettings] !== undefined,
  );
  if (isDescribed) return [{ layout: valueOf(resolveLayout(settings)) }];
  return presetNames.map((name) => ({ layout: presets[name] }));
}

/** The layout that a store was started with. Its name is not in the records, so an equal preset gives its name. */
async function storedLayout({ settings, environment }: Input, nowMs: number): Promise<Shown> {
  const store = await openRecords(settings, environment);
  try {
    const { layout } = await readStoredLayout(store, settings.namespace);
    const { free } = await listWorkers(store, await store.list(), nowMs);
    const name = presetNames.find((candidate) => isSame(presets[candidate], layout)) ?? "custom";
    return { layout: { ...layout, name }, free };
  } finally {
    await store.close();
  }
}

function isSame(one: Layout, other: Layout): boolean {
  const [a, b] = [one, other].map(({ epochMs, tickNs, fields }) => JSON.stringify([epochMs, tickNs, fields]));
  return a === b;
}

function factsOf({ layout, free }: Shown, nowMs: number) {
  const { endTime, yearsLeft, state } = exhaustionOf(layout, nowMs);
  const ticksPerSecond = 1e9 / layout.tickNs;
  return {
    name: layout.name,
    bits: layout.fields.map(({ kind, bits }) => `${bits} ${kind}`).join(" | "),
    epoch: new Date(layout.epochMs).toISOString(),
    tick: formatSpan(layout.tickNs),
    end: endTime,
    yearsLeft: Math.max(0, Math.round(yearsLeft * 10) / 10),
    state,
    workerIds: layout.workerCount,
    ...(free === undefined ? {} : { workerIdsFree: free }),
    idsPerSecondPerWorker: Math.floor((layout.sequence.max + 1) * ticksPerSecond),
  };
}

/** What a reader has to know about a layout's life; empty where it is fine. */
const marks: Readonly<Record<Exhaustion["state"], Cell>> = {
  fine: "",
  warning: { text: "ENDS SOON", tone: "attention" },
  exhausted: { text: "ENDED", tone: "bad" },
};

function toTable(all: readonly ReturnType<typeof factsOf>[], paint: Paint): string {
  const hasFree = all.some(({ workerIdsFree }) => workerIdsFree !== undefined);
  const free = hasFree ? ["free"] : [];
  const head = ["layout", "epoch", "tick", "ends", "years left", "", "worker IDs", ...free, "IDs/s each", "bits"];
  const rows = all.map((facts) => [
    facts.name,
    facts.epoch.slice(0, 10),
    facts.tick,
    facts.end.slice(0, 10),
    facts.yearsLeft.toFixed(1),
    marks[facts.state],
    String(facts.workerIds),
    ...(hasFree ? [String(facts.workerIdsFree ?? "")] : []),
    String(facts.idsPerSecondPerWorker),
    facts.bits,
  ]);
  return tableOf(head, rows, paint);
}
