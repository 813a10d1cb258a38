import { closeSync, createReadStream, existsSync, openSync, type Stats, statSync, writeSync } from "node:fs";
import { resolve } from "node:path";
import type { Writable } from "node:stream";
import { systemClock } from "../../clock/clock.ts";
import { valueOf } from "../../config/resolved.ts";
import { resolveTextFormat } from "../../config/text-settings.ts";
import type { PastGrant } from "../../lease/claim-past.ts";
import { timeText } from "../../lease/records/time-text.ts";
import { nameWorker } from "../../lease/worker-settings.ts";
import type { Layout } from "../../snowflake/layout.ts";
import { inWholeTicks, PastNumbers } from "../../snowflake/past-numbers.ts";
import { createTextCodec } from "../../text/text-codec.ts";
import type { PastStore } from "../../worker/open-past.ts";
import { CommandError, exitCodes } from "../exit-code.ts";
import { startProgress } from "../ids/progress.ts";
import type { BackfillInput } from "./backfill-options.ts";
import { countRows, intervalOf, namedMax, type RowCount } from "./count-rows.ts";
import { numberRows } from "./number-rows.ts";
import { labelled, previewLines, requestOf } from "./past-request.ts";
import { createRowFormat, type RowFormatName } from "./row-format.ts";
import { RowTime } from "./row-time.ts";
import { lagText, lagTicks, type Row, type RowRules } from "./rows.ts";
import { writeWholeFile } from "./whole-file.ts";

type BadRow = Extract<Row, { kind: "bad" }>;

/** Reading a file in large pieces costs less than in small ones. */
const chunkBytes = 1 << 20;

/** Numbers the rows of a file: counts them, claims, and numbers them. Standard input cannot be counted before. */
export async function backfillFile(input: BackfillInput, past: PastStore, path: string): Promise<number> {
  const { options } = input;
  checkOutputs(options);
  const rules = rulesOf(input, past.layout, path);
  return path === "-" ? await backfillStdin(input, past, rules) : await backfillReadable(input, past, { path, rules });
}

/** @throws CommandError before anything is claimed, where an output would replace a file. */
function checkOutputs({ out, bad }: BackfillInput["options"]): void {
  for (const [name, path] of Object.entries({ out, bad })) {
    if (path === undefined || !existsSync(path)) continue;
    throw new CommandError(`${path} exists already: give another --${name}.`, exitCodes.usage);
  }
  if (out === undefined || bad === undefined || resolve(out) !== resolve(bad)) return;
  throw new CommandError("--out and --bad name the same file: give two.", exitCodes.usage);
}

/**
 * Gives the state of a file before it is counted.
 *
 * @throws CommandError for a pipe: its rows come once, and are needed twice.
 */
function lookAt(path: string): Stats | undefined {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined || found.isFile() || found.isDirectory()) return found;
  const message = `${path} cannot be read twice, which counting and numbering need. Give - with --from and --to, and pipe its rows to standard input.`;
  throw new CommandError(message, exitCodes.usage);
}

async function backfillReadable(
  input: BackfillInput,
  past: PastStore,
  { path, rules }: { readonly path: string; readonly rules: () => RowRules },
): Promise<number> {
  const { options, stdout, stderr } = input;
  const { layout } = past;
  const counted = startProgress(stderr, systemClock);
  const named: string[] = [];
  const before = lookAt(path);
  const count = await countRows(chunksOf(path), rules(), (row) => {
    if (named.length < namedMax) named.push(`line ${row.line} ${row.problem}`);
  }).finally(() => counted.end());
  if (count.badRows > 0 && options.bad === undefined && !options.dryRun) throw badRows(count, named);
  if (count.rows === 0)
    throw new CommandError(`${path} has no rows with a time: nothing was claimed.`, exitCodes.refused);
  const interval = intervalOf(layout, count, options.lanes);
  if (options.dryRun) {
    for (const line of named) stderr.write(`snowlane: ${line}\n`);
    stdout.write(labelled([...countLines(layout, count, options.lanes), ...(await previewed(input, past, count))]));
    return count.badRows === 0 ? exitCodes.done : exitCodes.refused;
  }
  checkLag(layout, count, options);
  const grant = await past.claim(requestOf(options, interval));
  sayClaim(input, layout, grant);
  const done = await writeRows(
    input,
    past,
    { chunks: chunksOf(path), rules: rules(), grant, total: count.rows },
    () => {
      const after = statSync(path, { throwIfNoEntry: false });
      if (before?.size !== after?.size || before?.mtimeMs !== after?.mtimeMs) throw changedFile(path);
    },
  );
  stderr.write(
    `snowlane: ${done} rows have IDs, at most ${lagText(layout, count.byLanes[options.lanes - 1]!.lagMax)} later than their times.\n`,
  );
  return count.badRows === 0 ? exitCodes.done : exitCodes.refused;
}

async function backfillStdin(input: BackfillInput, past: PastStore, rules: () => RowRules): Promise<number> {
  const { options, stdin, stdout, stderr } = input;
  const { from, to, lagMaxMs } = options;
  if (from === undefined || to === undefined) {
    throw new CommandError(
      "Standard input is read once: give --from and --to, the interval of its rows.",
      exitCodes.usage,
    );
  }
  const interval = inWholeTicks(past.layout, from, to + lagMaxMs);
  const request = requestOf(options, interval);
  if (options.dryRun) {
    stdout.write(labelled(previewLines(past.layout, await past.preview(request), interval)));
    return exitCodes.done;
  }
  const grant = await past.claim(request);
  sayClaim(input, past.layout, grant);
  let bad = 0;
  const checked = rules();
  const done = await writeRows(
    input,
    past,
    { chunks: stdin.setEncoding("latin1") as AsyncIterable<string>, rules: checked, grant },
    (row) => {
      if (row === undefined) return;
      bad += 1;
      if (options.bad === undefined)
        throw new CommandError(`Line ${row.line} ${row.problem}. The claim is wasted.`, exitCodes.refused);
    },
  );
  stderr.write(`snowlane: ${done} rows have IDs.\n`);
  return bad === 0 ? exitCodes.done : exitCodes.refused;
}

/** The rows that are written, and under which claim. */
interface Writing {
  readonly chunks: AsyncIterable<string>;
  readonly rules: RowRules;
  readonly grant: PastGrant;
  readonly total?: number;
}

/** @param look - Called with each bad row, and at the end without one; may throw. */
async function writeRows(
  { options, settings, stdout, stderr }: BackfillInput,
  { layout }: PastStore,
  { chunks, rules, grant, total }: Writing,
  look: (row?: BadRow) => void,
): Promise<number> {
  const textFormat = valueOf(resolveTextFormat(options));
  const codec = createTextCodec({ layout, namespace: settings.namespace });
  const numbers = new PastNumbers(layout, grant);
  const progress = startProgress(stderr, systemClock, total);
  const setAside = options.bad === undefined ? undefined : openAside(options.bad);
  const onBad = (row: BadRow): void => {
    look(row);
    if (setAside !== undefined) writeSync(setAside, row.text, null, "latin1");
  };
  const run = async (out: Writable): Promise<number> => {
    const write = textFormat === undefined ? String : codec.writer(textFormat);
    const lagMaxTicks = lagTicks(layout, options.lagMaxMs);
    const done = await numberRows(chunks, { rules, numbers, write, out, progress, lagMaxTicks, onBad });
    look();
    return done;
  };
  try {
    return options.out === undefined ? await run(stdout) : await writeWholeFile(options.out, run);
  } finally {
    progress.end();
    if (setAside !== undefined) closeSync(setAside);
  }
}

/** Makes the rules for each reading: a reader keeps the header that it read. */
function rulesOf({ options }: BackfillInput, layout: Layout, path: string): () => RowRules {
  const { time, idColumn, unit, timeZone, lagMaxMs, from, to } = options;
  const name = options.inputFormat ?? formatOf(path);
  if (time === undefined && name !== "lines") {
    throw new CommandError("Give --time, the column with the time of each row.", exitCodes.usage);
  }
  const untilMs = Math.min(to ?? Number.POSITIVE_INFINITY, systemClock.nowMs());
  return () => ({
    layout,
    format: createRowFormat(name, time ?? "", idColumn),
    time: new RowTime(unit, timeZone),
    fromMs: from ?? layout.epochMs,
    untilMs,
    lagMaxMs,
  });
}

function formatOf(path: string): RowFormatName {
  if (/\.csv$/i.test(path)) return "csv";
  if (/\.(?:jsonl|ndjson)$/i.test(path)) return "jsonl";
  if (/\.(?:txt|lines)$/i.test(path)) return "lines";
  const message = `Give the format of ${path === "-" ? "standard input" : path} with --input-format: lines, csv or jsonl.`;
  throw new CommandError(message, exitCodes.usage);
}

/** @throws CommandError, also in the middle of the file. */
async function* chunksOf(path: string): AsyncGenerator<string> {
  try {
    yield* createReadStream(path, { highWaterMark: chunkBytes, encoding: "latin1" });
  } catch (error) {
    throw new CommandError(`${path} cannot be read: ${(error as Error).message}.`, exitCodes.refused);
  }
}

/** @throws CommandError. */
function openAside(path: string): number {
  try {
    return openSync(path, "wx");
  } catch (error) {
    throw new CommandError(`${path} cannot be written: ${(error as Error).message}.`, exitCodes.refused);
  }
}

function badRows({ badRows: bad }: RowCount, named: readonly string[]): CommandError {
  const more = bad > named.length ? [`and ${bad - named.length} more`] : [];
  const rows = bad === 1 ? "1 row gets" : `${bad} rows get`;
  const advice = `${rows} no ID. Nothing was claimed. Correct the input, or let --bad FILE take such rows.`;
  return new CommandError([...named, ...more, advice].join("\n"), exitCodes.refused);
}

function changedFile(path: string): CommandError {
  return new CommandError(
    `${path} was changed while it was read. The claim is wasted; start again.`,
    exitCodes.refused,
  );
}

/** @throws CommandError where an ID would be later than its row by more than is allowed. */
function checkLag(layout: Layout, { byLanes }: RowCount, { lanes, lagMaxMs }: BackfillInput["options"]): void {
  const most = lagTicks(layout, lagMaxMs);
  const lag = byLanes[lanes - 1]!.lagMax;
  if (lag <= most) return;
  const enough = byLanes.findIndex((slots) => slots.lagMax <= most);
  const advice = enough < 0 ? "Give a longer --lag-max." : `Give --lanes ${enough + 1}, or a longer --lag-max.`;
  const message = `Too many rows have nearly the same time: an ID would be ${lagText(layout, lag)} later than its row. ${advice} Nothing was claimed.`;
  throw new CommandError(message, exitCodes.refused);
}

function countLines(layout: Layout, count: RowCount, lanes: number): readonly (readonly [string, string])[] {
  const { rows, badRows: bad, firstMs, lastMs, byLanes } = count;
  return [
    ["rows", String(rows)],
    ["rows without an ID", String(bad)],
    ["first", timeText(firstMs)],
    ["last", timeText(lastMs)],
    ["lag", `${lagText(layout, byLanes[lanes - 1]!.lagMax)} with ${lanes === 1 ? "1 lane" : `${lanes} lanes`}`],
  ];
}

async function previewed(
  { options }: BackfillInput,
  past: PastStore,
  count: RowCount,
): Promise<readonly (readonly [string, string])[]> {
  checkLag(past.layout, count, options);
  const interval = intervalOf(past.layout, count, options.lanes);
  return previewLines(past.layout, await past.preview(requestOf(options, interval)), interval);
}

function sayClaim(
  { stderr }: BackfillInput,
  layout: Layout,
  { workerIndexes, fromMs, untilMs }: Writing["grant"],
): void {
  const names = workerIndexes.map((index) => nameWorker(layout, index)).join(", ");
  stderr.write(`snowlane: Claimed ${timeText(fromMs)} to ${timeText(untilMs)} of worker ID ${names}.\n`);
}
