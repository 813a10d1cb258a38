import type { SettingValues } from "../../config/setting.ts";
import { timeText } from "../../lease/records/time-text.ts";
import { nameWorker } from "../../lease/worker-settings.ts";
import type { Layout } from "../../snowflake/layout.ts";
import type { PastPreview } from "../../lease/preview-past.ts";
import type { StatedRequest } from "../../worker/open-past.ts";
import type { backfillOptions } from "./backfill-options.ts";

/** The claim that the options of a back-fill ask for. */
export function requestOf(
  options: SettingValues<typeof backfillOptions>,
  interval: { readonly fromMs: number; readonly untilMs: number },
): StatedRequest {
  const { knownSince, storeKeptUntil, lanes, reason = "", datacenterIds, workerIds } = options;
  return {
    ...interval,
    laneCount: lanes,
    reason,
    knownSinceMs: typeof knownSince === "number" ? knownSince : Number.NEGATIVE_INFINITY,
    storeKeptUntilMs: storeKeptUntil ?? Number.NEGATIVE_INFINITY,
    datacenterIds,
    workerIds,
  };
}

/** The lines that a dry run prints about the claim. */
export function previewLines(
  layout: Layout,
  preview: PastPreview,
  { fromMs, untilMs }: { readonly fromMs: number; readonly untilMs: number },
): readonly (readonly [string, string])[] {
  const { workerIndexes, passesLeft, neverHeldCount, evidence } = preview;
  return [
    ["claim", `${timeText(fromMs)} to ${timeText(untilMs)}`],
    [
      workerIndexes.length === 1 ? "worker ID" : "worker IDs",
      workerIndexes.map((index) => nameWorker(layout, index)).join(", "),
    ],
    ["passes left", `${passesLeft} more over this interval; ${neverHeldCount} worker IDs were never held`],
    ["losses", evidence.length === 0 ? "the store shows none" : evidence.join("; ")],
  ];
}

/** Lines of a label and a text. */
export function labelled(lines: readonly (readonly [string, string])[]): string {
  const width = Math.max(...lines.map(([label]) => label.length));
  return lines.map(([label, text]) => `${label.padEnd(width)}  ${text}\n`).join("");
}
