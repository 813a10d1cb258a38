import { tmpdir } from "node:os";
import { systemClock } from "../../clock/clock.ts";
import { layoutSettings } from "../../config/layout-settings.ts";
import { numberRanges } from "../../config/number-ranges.ts";
import { problemsOf, valueOf } from "../../config/resolved.ts";
import { resolveLayout } from "../../config/resolve-layout.ts";
import { workerSettings } from "../../config/server-settings.ts";
import type { SettingValues } from "../../config/setting.ts";
import { onOff, text } from "../../config/setting-kinds.ts";
import type { Layout } from "../../snowflake/layout.ts";
import { createTextCodec } from "../../text/text-codec.ts";
import type { Command, CommandContext } from "../command.ts";
import { CommandError, exitCodes } from "../exit-code.ts";
import { type TimePoint, timePoint, unixMsOf } from "../ids/interval.ts";
import { type Progress, startProgress } from "../ids/progress.ts";
import { AuditFindings, examplesMax, type FindingExample } from "./audit-findings.ts";
import { type ColumnRules, readColumn, readFileIds } from "./audit-input.ts";
import { toAuditJson, toAuditText } from "./audit-output.ts";
import { IdSorter } from "./id-sorter.ts";

const settings = { ...layoutSettings, namespace: workerSettings.namespace };
/** More workers than any layout of a real deployment has. */
const rangesMax = 65_536;
const options = {
  column: text({
    name: "column",
    placeholder: "NAME",
    doc:
      "The column of CSV or of tab-separated text that has the IDs: its name in the first line, or its number. Default: the " +
      "first column.",
  }),
  workerIds: numberRanges({
    name: "workers",
    countMax: rangesMax,
    doc: "The worker IDs that are expected, such as 0-31. IDs of other workers are reported. Default: any.",
  }),
  datacenterIds: numberRanges({
    name: "datacenters",
    countMax: rangesMax,
    doc: "The datacenter IDs that are expected. Default: any.",
  }),
  from: timePoint({
    name: "from",
    doc: "The earliest time that is expected: a day, now, or a time with its offset. Default: the layout's epoch.",
  }),
  to: timePoint({
    name: "to",
    doc: "The end of the expected times, exclusive; as --from. Default: one minute from now.",
  }),
  json: onOff({ name: "json", doc: "Prints one JSON object, for programs. IDs are quoted." }),
};

/** Clocks may differ by this much from the one that made the IDs. */
const aheadMs = 60_000;

/** `snowlane audit`. */
export const audit: Command<typeof settings, typeof options> = {
  name: "audit",
  summary: "Reads issue logs or columns of IDs, and reports duplicates and IDs that do not belong there",
  positional: {
    placeholder: "[FILE...]",
    doc:
      "Files of --issue-log, or texts: an ID a line, CSV, or columns separated by tabs. Without files, the command reads text " +
      "from standard input. It sorts on disk, 8 bytes an ID, in the folder that TMPDIR names.",
  },
  settings,
  options,
  examples: [
    "snowlane audit issued-1.log issued-2.log",
    "snowlane audit orders.csv --column order_id --workers 0-31",
    "psql -Atc 'SELECT id FROM orders' | snowlane audit --from 2026-01-01 --json",
  ],
  check: (values) => problemsOf(resolveLayout(values)),
  run: async ({ settings: { namespace, ...described }, options, positionals, ...context }) => {
    const layout = valueOf(resolveLayout(described));
    const nowMs = systemClock.nowMs();
    const rules = { codec: createTextCodec({ layout, namespace }), nowMs, column: options.column };
    const found = await auditInputs(positionals, rulesOf(layout, options, nowMs), rules, context);
    context.stdout.write(options.json ? toAuditJson(found, layout) : toAuditText(found, layout));
    return found.findings.size === 0 ? exitCodes.done : exitCodes.refused;
  },
};

function rulesOf(layout: Layout, { workerIds, datacenterIds, from, to }: SettingValues<typeof options>, nowMs: number) {
  const at = (point: TimePoint): number => unixMsOf(point, nowMs, 0);
  return {
    layout,
    workerIds: workerIds && new Set(workerIds),
    datacenterIds: datacenterIds && new Set(datacenterIds),
    fromMs: from === undefined ? layout.epochMs : at(from),
    untilMs: to === undefined ? nowMs + aheadMs : at(to),
  };
}

/** Reads all input once, and the files once more where an ID came twice, for its places. */
async function auditInputs(
  paths: readonly string[],
  rules: ConstructorParameters<typeof AuditFindings>[0],
  columns: ColumnRules,
  { stdin, stderr }: CommandContext,
): Promise<AuditFindings> {
  const progress = startProgress(stderr, systemClock);
  const sorter = openSorter();
  try {
    const found = new AuditFindings(rules, (id) => {
      sorter.add(id);
      if (found.idCount % progressIds === 0) progress.add(progressIds);
    });
    if (paths.length === 0) {
      if (stdin.isTTY === true)
        stderr.write("snowlane: reads one ID a line from this terminal; Ctrl-D ends the input.\n");
      found.begin("standard input");
      await readColumn(stdin, columns, found);
    }
    for (const path of paths) await readFileIds(path, columns, found);
    found.end();
    await addEqual(found, sorter, paths, columns);
    return found;
  } catch (error) {
    throw outOfSpace(error);
  } finally {
    endProgress(progress, sorter);
  }
}

const progressIds = 65_536;

function endProgress(progress: Progress, sorter: IdSorter): void {
  progress.end();
  sorter.close();
}

function openSorter(): IdSorter {
  try {
    return new IdSorter(tmpdir());
  } catch (error) {
    const message = `No file can be made in ${tmpdir()}: ${(error as Error).message}. Set TMPDIR to another folder.`;
    throw new CommandError(message, exitCodes.refused);
  }
}

function outOfSpace(error: unknown): unknown {
  if ((error as NodeJS.ErrnoException).code !== "ENOSPC") return error;
  const message = `The folder ${tmpdir()} is full: sorting takes 8 bytes an ID. Set TMPDIR to another folder.`;
  return new CommandError(message, exitCodes.refused);
}

async function addEqual(
  found: AuditFindings,
  sorter: IdSorter,
  paths: readonly string[],
  columns: ColumnRules,
): Promise<void> {
  let count = 0;
  const examples = new Map<bigint, string[]>();
  for (const repeated of sorter.repeated()) {
    count++;
    if (examples.size < examplesMax) examples.set(repeated.id, []);
  }
  if (count === 0) return;
  const places = new PlaceReader(examples);
  for (const path of paths) await readFileIds(path, columns, places);
  const shown = Array.from(examples, ([id, at]): FindingExample => ({ text: String(id), places: at }));
  found.add("equal", count, shown);
}

/** Finds out where a few IDs are. */
class PlaceReader {
  readonly #places: ReadonlyMap<bigint, string[]>;
  #name = "";

  constructor(places: ReadonlyMap<bigint, string[]>) {
    this.#places = places;
  }

  begin(name: string): void {
    this.#name = name;
  }

  id(id: bigint, place: number): void {
    const places = this.#places.get(id);
    if (places !== undefined && places.length < examplesMax) places.push(`${this.#name}:${place}`);
  }

  unreadable(): void {}
}
