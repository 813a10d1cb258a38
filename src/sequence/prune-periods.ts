/** The deletion of old periods' counters by an operator. docs/adr/0202 explains why no server does it by itself. */
import { lengthOfTime } from "../clock/length-of-time.ts";
import { IdError } from "../errors.ts";
import { keyOfDay, latestStartMs } from "./period.ts";
import type { PruneRequest, SequenceStore } from "./sequence-store.ts";
import { fieldError, type SequenceDefinition } from "./sequence.ts";

/** The outcome for one sequence. `newest`: nothing was deleted, because the newest two counters were reached. */
export interface Pruned {
  readonly name: string;
  /** The key of the first period that stays. */
  readonly before: string;
  readonly outcome:
    | { readonly kind: "pruned"; readonly count: number }
    | { readonly kind: "newest"; readonly key: string };
}

/** The day before which periods must have ended, and the present time by this machine. */
export interface PruneChoice {
  /** `2026-01-01`. */
  readonly day: string;
  readonly mode: PruneRequest["mode"];
  /** The wall clock of this machine, in Unix milliseconds. */
  readonly nowMs: number;
}

/** How long ago a period has to have ended by the database's clock: servers may be a day behind. */
const overForMs = 172_800_000;
/** The most by which the clocks of this machine and of the database may differ. */
const clocksApartMaxMs = 3_600_000;

/**
 * Deletes the counters of the periods of a sequence that ended before a day, in every database.
 *
 * @throws IdError INVALID_SEQUENCE: it has no periods, or some of them ended less than two days ago. INVALID_CONFIG:
 * the clocks of this machine and of a database are more than an hour apart. STORE_UNAVAILABLE.
 */
export async function prunePeriods(
  parts: readonly { readonly store: Pick<SequenceStore, "look" | "prune"> }[],
  { name, period, yearStart, lateMaxMs }: SequenceDefinition,
  { day, mode, nowMs }: PruneChoice,
): Promise<Pruned> {
  if (period === "none") throw fieldError("period", `The sequence ${name} has no periods.`, { name });
  const before = keyOfDay({ period, yearStart }, day);
  for (const { store } of parts) {
    const { clockMs } = await store.look([]);
    checkClocks(nowMs, clockMs);
    const overMs = clockMs - latestStartMs(before);
    if (overMs >= overForMs + lateMaxMs) continue;
    const late = lateMaxMs === 0 ? "" : ` and ${lengthOfTime(lateMaxMs)} (late_max)`;
    const message = `The period ${before} of ${name} has not begun for two days${late}, so counters of the one before may still be needed.`;
    throw fieldError("before", message, { name, before });
  }
  const outcomes = [];
  for (const { store } of parts) outcomes.push(await store.prune({ name, before, mode }));
  const newest = outcomes.find((outcome) => outcome.kind === "newest");
  if (newest !== undefined) return { name, before, outcome: newest };
  const count = outcomes.reduce((sum, outcome) => sum + (outcome.kind === "pruned" ? outcome.count : 0), 0);
  return { name, before, outcome: { kind: "pruned", count } };
}

function checkClocks(nowMs: number, clockMs: number): void {
  const apartMs = Math.abs(nowMs - clockMs);
  if (apartMs <= clocksApartMaxMs) return;
  const message = `The clocks of this machine and of the database are ${lengthOfTime(apartMs)} apart. Set them right first: a period that is pruned never begins again.`;
  throw new IdError("INVALID_CONFIG", message, { metadata: { apart_ms: apartMs } });
}
