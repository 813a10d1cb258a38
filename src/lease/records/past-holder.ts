/** How the record of a worker ID shows a claim of the past: by the text in its holder's `instance`. */
import { timeText } from "./time-text.ts";
import type { WorkerRecord } from "./worker-record.ts";

/** No live holder ever had the worker ID. `--instance` may not begin so. */
const pastPrefix = "past ";
/** A live holder had the worker ID before. */
const laterPrefix = "later past ";

/** The interval of a claim and its reason, as its record names them. */
export interface PastClaimText {
  /** Unix milliseconds. */
  readonly fromMs: number;
  /** Exclusive. */
  readonly untilMs: number;
  /** 1 to 60 characters. */
  readonly reason: string;
}

/**
 * Whether no live holder ever had the worker ID of a record, as far as the record shows. It serves the order of claims
 * and a count for operators; uniqueness does not depend on it.
 */
export function isNeverHeld({ token, holder }: Pick<WorkerRecord, "token" | "holder">): boolean {
  return token === "" && holder.instance.startsWith(pastPrefix);
}

/**
 * The instance in the record of a claim; createHolder cuts it to its length.
 *
 * @param before - The record that the claim found.
 */
export function pastInstance({ fromMs, untilMs, reason }: PastClaimText, before: WorkerRecord | undefined): string {
  const prefix = before === undefined || isNeverHeld(before) ? pastPrefix : laterPrefix;
  return `${prefix}${timeText(fromMs)}..${timeText(untilMs)} ${reason}`;
}
