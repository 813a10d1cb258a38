import type { Layout } from "../snowflake/layout.ts";
import type { ListAnswer, RecordStore } from "../store/record-store.ts";
import { noneLeft, passesAfter, type PastRequest } from "./claim-past.ts";
import { choosePast } from "./past-choice.ts";
import { checkPast, lossEvidence } from "./past-rules.ts";
import { judgeIncarnation, storeNowMs } from "./quarantine.ts";
import { parseIncarnationRecord } from "./records/incarnation-record.ts";
import type { LayoutRecord } from "./records/layout-record.ts";
import { recordKeys } from "./records/record-text.ts";

/** The result that a claim would have. */
export interface PastPreview {
  readonly workerIndexes: readonly number[];
  /** See PastGrant. */
  readonly passesLeft: number;
  readonly neverHeldCount: number;
  /** The signs of losses that the store shows, regardless of what was stated; for operators. */
  readonly evidence: readonly string[];
}

/**
 * Predicts the result of a claim from a list alone: nothing is written, not even what the list shows of the store.
 *
 * @throws IdError as the outcomes `refused` and `failed` of claimPast.
 */
export function previewPast(
  store: Pick<RecordStore, "kind" | "durability">,
  listed: ListAnswer,
  stored: { readonly layout: Layout; readonly record: LayoutRecord; readonly wallMs: number },
  request: PastRequest,
): PastPreview {
  const { layout, record, wallMs } = stored;
  const text = listed.entries.find(({ key }) => key === recordKeys.incarnation)?.text;
  const known = text === undefined ? undefined : parseIncarnationRecord(text);
  const nowMs = storeNowMs(listed.moment, wallMs);
  const { kind, durability } = store;
  const sight = {
    kind,
    durability,
    layout,
    rules: record,
    entries: listed.entries,
    incarnation: judgeIncarnation(known, { moment: listed.moment, empty: false, sawAnother: false }, nowMs),
    nowMs,
    hasClock: listed.moment.clockMs !== undefined,
  };
  checkPast(sight, request, request);
  const { fromMs, laneCount, datacenterIds, workerIds } = request;
  const range = { layout, bound: record, datacenterIds, workerIds };
  const wish = { fromMs, count: laneCount, excluded: new Set<number>(), used: new Map<number, number>() };
  const choice = choosePast(listed.entries, range, wish);
  if (choice.candidates.length < laneCount) throw noneLeft(choice, laneCount);
  return {
    workerIndexes: choice.candidates.map(({ workerIndex }) => workerIndex).toSorted((one, other) => one - other),
    passesLeft: passesAfter(choice, request),
    neverHeldCount: choice.neverHeldCount,
    evidence: lossEvidence(sight).map((each) => each.text),
  };
}
