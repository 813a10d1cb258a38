/** RENEW: moves a grant's mark ahead, and learns whether the grant is still ours. */
import { IdError } from "../errors.ts";
import type { Grant } from "./grant.ts";
import { wentBack } from "./observed-store.ts";
import type { ProtocolContext } from "./protocol-context.ts";
import { type Entry, type StoreMoment, sameIncarnation } from "./record-store.ts";
import { clockErrorMs, isBehind, markMax, renewalMark, type WindowRules } from "./window.ts";
import { encodeWorkerRecord, parseWorkerRecord, type WorkerRecord } from "./worker-record.ts";

/** What a renewal came to. */
export type RenewalOutcome =
  /** Confirmed: the grant's `untilMs` has grown as far as the store allows. */
  | { readonly kind: "renewed" }
  /** No certain answer: `untilMs` is what it was, and IDs below it may still be issued. Try again. */
  | { readonly kind: "unsettled"; readonly cause: IdError }
  /** Held back: the wall clock is too far from the store's. As above, `untilMs` is what it was. */
  | { readonly kind: "clock-off"; readonly aheadMs: number }
  /** Resumed, but the store is not the one that granted it: it is used up to its end, never renewed. */
  | { readonly kind: "held-back" }
  /** The window ended before an answer came. Not one more ID, no further renewal: acquire anew. */
  | { readonly kind: "lapsed" }
  /** Another's write stands in the record. Not one more ID. */
  | { readonly kind: "lost"; readonly detail: string }
  /**
   * The record went back though we neither lapsed nor released: the store lost data. Not one more ID, and a quarantine
   * for all.
   */
  | { readonly kind: "went-back"; readonly detail: string };

/** What a read of the record says about our right. `ours` may have raised the grant's `untilMs`. */
export type Standing =
  | { readonly kind: "ours" }
  | Extract<RenewalOutcome, { kind: "lapsed" | "lost" | "went-back" | "held-back" }>;

/** With so many writes without an answer, only reads are sent. The window ends long before there are more. */
const unansweredMax = 16;

/**
 * Renews once.
 *
 * @param lastMs - The highest timestamp issued so far: Unix milliseconds.
 */
export async function renew(
  context: ProtocolContext,
  grant: Grant,
  rules: WindowRules,
  lastMs: () => number,
): Promise<RenewalOutcome> {
  const { store, judge } = context;
  try {
    // A step forward of the wall clock that is not decided yet: the store's clock decides, and with it whether we
    // lapsed.
    if (judge.state.kind !== "following" && store.clockMs() !== undefined) await store.moment();
    if (hasLapsed(context, grant)) return { kind: "lapsed" };
    if (grant.unanswered.size > 0 || !grant.isSettled) {
      const standing = await settle(context, grant, rules);
      if (standing.kind !== "ours") return standing;
    }
    const wallMs = judge.nowMs();
    const storeMs = store.clockMs();
    if (isBehind(rules, wallMs, storeMs)) return { kind: "clock-off", aheadMs: wallMs - storeMs! };
    if (grant.unanswered.size >= unansweredMax) return { kind: "unsettled", cause: neverAnswered(store.kind) };
    return await write(context, grant, rules, lastMs());
  } catch (cause) {
    // Anything else is no answer of the store but a fault of ours, and must not pass for one.
    if (!(cause instanceof IdError)) throw cause;
    return wentBack(cause) ? { kind: "went-back", detail: cause.message } : { kind: "unsettled", cause };
  }
}

async function write(
  context: ProtocolContext,
  grant: Grant,
  rules: WindowRules,
  lastMs: number,
): Promise<RenewalOutcome> {
  const { store, settings, ports, judge } = context;
  const wallMs = judge.nowMs();
  const storeMs = store.clockMs();
  const hwmMs = renewalMark(rules, { wallMs, storeMs, lastMs, hwmMs: grant.record.hwmMs });
  const expiresMs = store.liveness.kind === "lock" ? 0 : (storeMs ?? wallMs) + settings.ttlMs;
  const next: WorkerRecord = { ...grant.record, writeId: ports.random128(), hwmMs, expiresMs };
  const text = encodeWorkerRecord(next);
  const sentAtMs = judge.monotonicMs();
  context.marks.see(hwmMs);
  grant.unanswered.set(next.writeId, { text, sentAtMs });
  // Who goes on after a crash must know a write for his own that landed when nobody heard of it.
  const noted = context.noteUnanswered(grant);
  if (noted !== undefined) {
    await noted;
    // Tested as it is sent, for the disk takes its time.
    if (hasLapsed(context, grant)) return { kind: "lapsed" };
  }
  const answer = await store.compareAndSet(grant.key, grant.entry, text);
  // Answered: it landed, or it did not and never will.
  grant.unanswered.delete(next.writeId);
  if (answer.kind === "conflict") {
    const standing = await settle(context, grant, rules);
    return standing.kind === "ours" ? { kind: "renewed" } : standing;
  }
  return accept(context, grant, rules, { entry: answer.entry, record: next, sentAtMs, moment: answer.moment });
}

/**
 * Reads the record and says whose it is. Only the record as last confirmed, or exactly one of our own writes still
 * without an answer, is ours. Anything else is not, even under our own token: that is how a copy of this process is
 * fenced.
 *
 * @throws IdError as the store does: nothing is known then.
 */
export async function settle(context: ProtocolContext, grant: Grant, rules: WindowRules): Promise<Standing> {
  const { entry, moment } = await context.store.read(grant.key);
  if (entry === undefined) return { kind: "went-back", detail: "the record is gone" };
  if (entry.text === grant.entry.text) {
    grant.entry = entry;
    grant.isSettled = true;
    if (isHeldBack(grant, moment)) return { kind: "held-back" };
    return hasLapsed(context, grant) ? { kind: "lapsed" } : { kind: "ours" };
  }
  const record = parseStanding(entry);
  const own = record && grant.unanswered.get(record.writeId);
  if (record !== undefined && own !== undefined && own.text === entry.text) {
    const outcome = accept(context, grant, rules, { entry, record, sentAtMs: own.sentAtMs, moment });
    return outcome.kind === "renewed" ? { kind: "ours" } : outcome;
  }
  return judgeForeign(context, grant, record, moment);
}

/** Takes a confirmed write of ours into the grant. Only here `untilMs` grows. */
function accept(
  context: ProtocolContext,
  grant: Grant,
  rules: WindowRules,
  confirmed: {
    readonly entry: Entry;
    readonly record: WorkerRecord;
    readonly sentAtMs: number;
    readonly moment: StoreMoment;
  },
): Extract<RenewalOutcome, { kind: "renewed" | "lapsed" | "held-back" }> {
  const lapsed = hasLapsed(context, grant);
  grant.confirm(confirmed.entry, confirmed.record, confirmed.sentAtMs);
  // Tested again now that the answer is here: who waited past the end of his window for it must not go on.
  if (lapsed) return { kind: "lapsed" };
  if (isHeldBack(grant, confirmed.moment)) return { kind: "held-back" };
  // Never further than the store's clock allows at this moment, whatever we asked for.
  const allowedMs = markMax(rules, confirmed.moment.clockMs);
  grant.untilMs = Math.max(grant.untilMs, Math.min(confirmed.record.hwmMs, allowedMs));
  return { kind: "renewed" };
}

/** Tells whether the clock has reached the end of the window. */
export function hasLapsed({ judge }: ProtocolContext, grant: Grant): boolean {
  return judge.nowMs() >= grant.untilMs;
}

/**
 * A resumed grant goes on only under the life of the store that granted it: another one may have forgotten what others
 * were granted since.
 */
function isHeldBack(grant: Grant, moment: StoreMoment): boolean {
  return grant.isResumed && !sameIncarnation(grant.incarnation, moment.incarnation);
}

function parseStanding(entry: Entry): WorkerRecord | undefined {
  try {
    return parseWorkerRecord(entry.key, entry.text);
  } catch {
    return undefined;
  }
}

function judgeForeign(
  context: ProtocolContext,
  grant: Grant,
  record: WorkerRecord | undefined,
  moment: StoreMoment,
): Standing {
  const { store, judge } = context;
  // Once our window is over, whatever stands there may rightly stand there.
  if (hasLapsed(context, grant)) return { kind: "lost", detail: "the window ended, and the record is another's" };
  if (record === undefined) return { kind: "went-back", detail: "the record is not one of Snowlane's any more" };
  const isUnderOurToken = record.token === grant.token && record.hwmMs >= grant.record.hwmMs;
  // Only who has our token can have released our generation; where data may be lost, it may also be another's of the
  // same number.
  const isOurRelease = record.token === "" && record.generation === grant.generation && store.durability === "durable";
  if (isUnderOurToken || isOurRelease) {
    return { kind: "lost", detail: "a write that is not ours stands under our token: this process was copied" };
  }
  if (isRightfulTakeover(store.durability, grant.record, record, moment.clockMs)) {
    const silentMs = Math.floor(judge.monotonicMs() - grant.confirmedAtMs);
    const detail = `taken over by ${record.holder.instance}, ${silentMs} ms by our clock after our last renewal`;
    return { kind: "lost", detail };
  }
  return {
    kind: "went-back",
    detail: `the record is another's (generation ${record.generation}, ours ${grant.generation})`,
  };
}

/**
 * Tells whether the record went on from ours as a takeover makes it go on. Our own clocks cannot say whether we were
 * silent for long enough: a machine that its hypervisor held does not know that it stood still. So nothing is concluded
 * from them, and no quarantine is laid upon all because one machine was held. Where data may be lost, nobody may take
 * over before the mark and the error of two clocks are past.
 */
function isRightfulTakeover(
  durability: "durable" | "lossy",
  ours: WorkerRecord,
  standing: WorkerRecord,
  storeMs: number | undefined,
): boolean {
  if (standing.generation <= ours.generation || standing.hwmMs < ours.hwmMs) return false;
  return durability === "durable" || (storeMs !== undefined && storeMs >= ours.hwmMs + 2 * clockErrorMs);
}

function neverAnswered(kind: string): IdError {
  const message = `The ${kind} store left ${unansweredMax} writes without an answer.`;
  return new IdError("STORE_UNAVAILABLE", message, { metadata: { store: kind, writes: unansweredMax } });
}
