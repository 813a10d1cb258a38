import { hostname } from "node:os";
import type { WorkerConfig } from "../../config/server-settings.ts";
import { resolveWorker } from "../../config/resolve-server.ts";
import { valueOf } from "../../config/resolved.ts";
import { idsOf } from "../../snowflake/run.ts";
import { createTextCodec } from "../../text/text-codec.ts";
import type { TextFormat } from "../../text/text-form.ts";
import { version } from "../../version.ts";
import type { IdSource } from "../../worker/id-source.ts";
import { openWorker } from "../../worker/open-worker.ts";
import type { IdChunk, IdChunks } from "./id-chunks.ts";
import type { CommandContext } from "../command.ts";

/** IDs that are made before the event loop gets its next turn, in which the worker ID is renewed. */
const chunkCount = 4096;
/** How long the command waits for a store that does not answer. */
const startPatienceMs = 10_000;
/** How long the store may take to take the worker ID back. */
const releaseTimeoutMs = 3_000;

/**
 * Takes a worker ID from the store, and makes `count` IDs under it.
 *
 * @param options - `signal` ends the start early.
 * @throws IdError as openWorker and IdSource.reserve; the signal's reason.
 */
export async function openLocalIds(
  settings: WorkerConfig,
  environment: CommandContext["environment"],
  {
    count,
    textFormat,
    signal,
  }: { readonly count: number; readonly textFormat: TextFormat | undefined; readonly signal: AbortSignal },
): Promise<IdChunks> {
  const choice = valueOf(resolveWorker(settings, environment));
  const worker = await openWorker({
    ...choice,
    // One name for all runs on this machine: most of them follow each other, and two at once still take two worker
    // IDs.
    instance: settings.instance ?? `${hostname()}:cli`,
    version,
    startPatienceMs,
    signal,
  });
  const { layout, namespace } = choice;
  const write = textFormat === undefined ? undefined : createTextCodec({ layout, namespace }).writer(textFormat);
  return {
    layout,
    chunks: chunksOf(worker.source, count, write),
    close: () => worker.close(releaseTimeoutMs),
  };
}

async function* chunksOf(
  source: IdSource,
  count: number,
  write: ((id: bigint) => string) | undefined,
): AsyncGenerator<IdChunk> {
  for (let left = count; left > 0; ) {
    const drawn = await source.reserve({ count: Math.min(left, chunkCount), priority: "bulk" });
    left -= drawn.count;
    const ids = [...idsOf(drawn.runs)];
    yield { ids, texts: write === undefined ? undefined : ids.map(write) };
    // A file accepts each write without waiting, so the timers of the worker need a turn here.
    await new Promise((resolve) => setImmediate(resolve));
  }
}
