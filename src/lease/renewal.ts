/** RENEW: moves a grant's mark ahead, and learns whether the grant is still ours. */
import { IdError } from "../errors.ts";
import { lengthOfTime } from "../clock/length-of-time.ts";
import type { Grant } from "./grant.ts";
import { isRegression } from "./observed-store.ts";
import type { ProtocolContext } from "./protocol-context.ts";
import { type Entry, type StoreMoment, equalIncarnation } from "../store/record-store.ts";
import { clockErrorMs, isBehind, markMax, renewalMark, type WindowRules } from "./window.ts";
import {
  encodeWorkerRecord,
  type Fence,
  readWorkerSlot,
  type WorkerRecord,
  type WorkerSlot,
} from "./records/worker-record.ts";

/** The outcome of a renewal. */
export type RenewalOutcome =
  /** Confirmed: the grant's `untilMs` has grown as far as the store allows. */
  | { readonly kind: "renewed" }
  /** No certain answer: `untilMs` is what it was, and IDs below it may still be issued. Try again. */
  | { readonly kind: "in-doubt"; readonly cause: IdError }
  /** As above, but reads are answered: only the write was refused, or got no answer. Try again less often. */
  | { readonly kind: "unwritten"; readonly cause: IdError }
  /** Held back: the wall clock is too far from the store's. As above, `untilMs` is unchanged. */
  | { readonly kind: "clock-off"; readonly aheadMs: number }
  /**
   * The grant was resumed, but the store is not in the life that granted it: it is used up to its end and never
   * renewed.
   */
  | { readonly kind: "held-back" }
  /** The window ended before an answer came. Not one more ID, no further renewal: acquire again. */
  | { readonly kind: "lapsed" }
  /** The record holds another process's write. Not one more ID. */
  | { readonly kind: "lost"; readonly detail: string }
  /**
   * The record went back though we neither lapsed nor released: the store lost data. Not one more ID, and a quarantine
   * for all processes.
   */
  | { readonly kind: "regressed"; readonly detail: string };

/** What a read of the record shows about our grant. `ours` may have raised the grant's `untilMs`. */
export type Ownership =
  | { readonly kind: "ours" }
  | Extract<RenewalOutcome, { kind: "lapsed" | "lost" | "regressed" | "held-back" }>;

/**
 * How many of our writes without an answer are remembered. Beyond that the oldest is forgotten: if it lands after all,
 * the grant counts as lost, which costs another worker ID and repeats no ID.
 */
const unansweredMax = 32;

/** A text for operators. A forgotten write is one beyond {@link unansweredMax}. */
const unknownWrite =
  "a write that this process did not send, or forgot, is in its record: the process was copied, or an operator gave its worker ID back";

/** A renewal that is ready to be sent. It is among the grant's unanswered writes already. */
export interface PreparedRenewal {
  readonly kind: "prepared";
  readonly record: WorkerRecord;
  readonly text: string;
  /** Monotonic time that counts as its sending. */
  readonly sentAtMs: number;
}

/**
 * Prepares a renewal, or returns why none may be sent. Earlier writes without an answer are looked up first.
 *
 * The caller may write down what is about to be sent (see resume-record.ts), then calls {@link sendRenewal}.
 *
 * @param lastMs - The highest timestamp issued so far: Unix milliseconds.
 */
export async function prepareRenewal(
  context: ProtocolContext,
  grant: Grant,
  rules: WindowRules,
  lastMs: () => number,
): Promise<PreparedRenewal | RenewalOutcome> {
  const { store, judge } = context;
  try {
    // The wall clock stepped forward, and it is not decided yet whether it is right: the store's clock decides that,
    // and with it whether the grant has lapsed.
    if (judge.state.kind !== "following" && store.clockMs() !== undefined) await store.moment();
    if (hasLapsed(context, grant)) return { kind: "lapsed" };
    if (grant.unanswered.size > 0 || !grant.isResolved) {
      const ownership = await resolveOwnership(context, grant, rules);
      if (ownership.kind !== "ours") return ownership;
    }
    const wallMs = judge.nowMs();
    const storeMs = store.clockMs();
    if (isBehind(rules, wallMs, storeMs)) return { kind: "clock-off", aheadMs: wallMs - storeMs! };
    const [oldest] = grant.unanswered.keys();
    if (oldest !== undefined && grant.unanswered.size >= unansweredMax) grant.unanswered.delete(oldest);
    return prepare(context, grant, rules, lastMs());
  } catch (cause) {
    return outcomeOf(cause);
  }
}

function prepare(context: ProtocolContext, grant: Grant, rules: WindowRules, lastMs: number): PreparedRenewal {
  const { store, settings, ports, judge } = context;
  const wallMs = judge.nowMs();
  const storeMs = store.clockMs();
  const markMs = renewalMark(rules, { wallMs, storeMs, lastMs, markMs: grant.record.markMs });
  const expiresMs = store.liveness.kind === "lock" ? 0 : (storeMs ?? wallMs) + settings.ttlMs;
  const record: WorkerRecord = { ...grant.record, writeId: ports.random128(), markMs, expiresMs };
  const text = encodeWorkerRecord(record);
  const sentAtMs = judge.monotonicMs();
  context.marks.see(markMs);
  grant.unanswered.set(record.writeId, { text, markMs, sentAtMs });
  return { kind: "prepared", record, text, sentAtMs };
}

/** Sends a renewal, and updates the grant by its answer. */
export async function sendRenewal(
  context: ProtocolContext,
  grant: Grant,
  rules: WindowRules,
  { record, text, sentAtMs }: PreparedRenewal,
): Promise<RenewalOutcome> {
  const { store } = context;
  // Checked right before it is sent, because writing it down on a slow disk may have taken long.
  if (hasLapsed(context, grant)) return { kind: "lapsed" };
  try {
    const answer = await store.compareAndSet(grant.key, grant.entry, text);
    // Answered: it landed, or it did not and never will.
    grant.unanswered.delete(record.writeId);
    if (answer.kind === "refused") return { kind: "unwritten", cause: answer.error };
    if (answer.kind === "conflict") {
      const { untilMs } = grant;
      const ownership = await resolveOwnership(context, grant, rules);
      if (ownership.kind !== "ours") return ownership;
      // An earlier write of ours had landed. Where a read does not confirm a write, the next renewal overwrites it.
      const isConfirmed = grant.untilMs > untilMs || !store.readsMayBeUndone;
      return isConfirmed ? { kind: "renewed" } : { kind: "in-doubt", cause: overtaken(store.kind) };
    }
    return accept(context, grant, rules, {
      entry: answer.entry,
      record,
      sentAtMs,
      moment: answer.moment,
      by: "answer",
    });
  } catch (cause) {
    const outcome = outcomeOf(cause);
    return outcome.kind === "in-doubt" ? { kind: "unwritten", cause: outcome.cause } : outcome;
  }
}

/** The outcome of a renewal for which the store or the kernel threw. @throws Any other error, because it is a bug. */
function outcomeOf(cause: unknown): Extract<RenewalOutcome, { kind: "regressed" | "in-doubt" }> {
  if (!(cause instanceof IdError)) throw cause;
  return isRegression(cause) ? { kind: "regressed", detail: cause.message } : { kind: "in-doubt", cause };
}

/**
 * Reads the record and decides whose it is. Only the record as last confirmed, or exactly one of our own writes still
 * without an answer, is ours. Any other record is not ours, even under our own token: that is how a copy of this
 * process is fenced.
 *
 * @throws IdError as the store does: then nothing is known about the record.
 */
export async function resolveOwnership(context: ProtocolContext, grant: Grant, rules: WindowRules): Promise<Ownership> {
  const { entry, moment } = await context.store.read(grant.key);
  if (entry === undefined) return { kind: "regressed", detail: "the record is gone" };
  if (entry.text === grant.entry.text) {
    grant.entry = entry;
    grant.isResolved = true;
    if (isHeldBack(grant, moment)) return { kind: "held-back" };
    return hasLapsed(context, grant) ? { kind: "lapsed" } : { kind: "ours" };
  }
  const slot = readWorkerSlot(entry);
  if (slot.kind !== "unreadable") context.marks.see((slot.kind === "record" ? slot.record : slot.fence).markMs);
  const own = slot.kind === "record" ? grant.unanswered.get(slot.record.writeId) : undefined;
  if (slot.kind === "record" && own !== undefined && own.text === entry.text) {
    const { record } = slot;
    const outcome = accept(context, grant, rules, { entry, record, sentAtMs: own.sentAtMs, moment, by: "read" });
    return outcome.kind === "renewed" ? { kind: "ours" } : outcome;
  }
  return judgeForeign(context, grant, slot, moment);
}

/** Updates the grant by a confirmed write of ours. `untilMs` grows only here. */
function accept(
  context: ProtocolContext,
  grant: Grant,
  rules: WindowRules,
  confirmed: {
    readonly entry: Entry;
    readonly record: WorkerRecord;
    readonly sentAtMs: number;
    readonly moment: StoreMoment;
    readonly by: "answer" | "read";
  },
): Extract<RenewalOutcome, { kind: "renewed" | "lapsed" | "held-back" }> {
  const lapsed = hasLapsed(context, grant);
  grant.confirm(confirmed.entry, confirmed.record, confirmed.sentAtMs);
  // Checked again now that the answer is here: a holder that waited past the end of its window must not go on.
  if (lapsed) return { kind: "lapsed" };
  if (isHeldBack(grant, confirmed.moment)) return { kind: "held-back" };
  // A failover may undo a write that was only read: the next renewal overwrites it, and the answer to that decides.
  if (confirmed.by === "read" && context.store.readsMayBeUndone) return { kind: "renewed" };
  // Never further than the store's clock allows at this moment, even if we asked for more.
  const allowedMs = markMax(rules, confirmed.moment.clockMs);
  grant.untilMs = Math.max(grant.untilMs, Math.min(confirmed.record.markMs, allowedMs));
  return { kind: "renewed" };
}

/** Whether the clock has reached the end of the window. */
export function hasLapsed({ judge }: ProtocolContext, grant: Grant): boolean {
  return judge.nowMs() >= grant.untilMs;
}

/**
 * A resumed grant goes on only under the life of the store that granted it: another life may have forgotten what other
 * processes were granted since.
 */
function isHeldBack(grant: Grant, moment: StoreMoment): boolean {
  return grant.isResumed && !equalIncarnation(grant.incarnation, moment.incarnation);
}

function judgeForeign(context: ProtocolContext, grant: Grant, slot: WorkerSlot, moment: StoreMoment): Ownership {
  const { store, judge } = context;
  // Once our window is over, any record may rightly be there.
  if (hasLapsed(context, grant)) return { kind: "lost", detail: "the window ended, and the record is another's" };
  if (slot.kind === "unreadable") {
    return { kind: "regressed", detail: "the record is no longer one of Snowlane's" };
  }
  // A record of a higher format is judged like any other: its fence means the same.
  const record = slot.kind === "record" ? slot.record : slot.fence;
  const isUnderOurToken = record.token === grant.token && record.markMs >= grant.record.markMs;
  // Only a process with our token can have released our generation. Where data may be lost, the record may also be
  // another holder's with the same generation number.
  const isOurRelease = record.token === "" && record.generation === grant.generation && store.durability === "durable";
  if (isUnderOurToken || isOurRelease) {
    return { kind: "lost", detail: unknownWrite };
  }
  if (isRightfulTakeover(store.durability, grant.record, record, moment.clockMs)) {
    const silentMs = Math.floor(judge.monotonicMs() - grant.confirmedAtMs);
    const by = slot.kind === "record" ? slot.record.holder.instance : "a newer version of Snowlane";
    const detail = `taken over by ${by}, ${lengthOfTime(silentMs)} by our clock after our last renewal`;
    return { kind: "lost", detail };
  }
  return { kind: "regressed", detail: describeOlder(grant, record) };
}

/** Describes the older record that is in the store after a loss of data. */
function describeOlder({ generation, token, record: ours }: Grant, standing: Fence): string {
  if (standing.token === token) {
    return `the record is an older one of our own, with a mark ${lengthOfTime(ours.markMs - standing.markMs)} below the confirmed one`;
  }
  const of = standing.token === "" ? "a released one" : "another's";
  return `the record is ${of} (generation ${standing.generation}, ours ${generation})`;
}

/**
 * Whether the record differs from ours as a takeover leaves it. Our own clocks cannot show whether we were silent for
 * long enough: a machine that its hypervisor paused does not notice the pause. So nothing is concluded from them, and a
 * pause of one machine does not put all processes under quarantine. Where data may be lost, no process may take over
 * before the mark and the error of two clocks are past. docs/adr/0013 says why that is safe.
 */
function isRightfulTakeover(
  durability: "durable" | "lossy",
  ours: Fence,
  standing: Fence,
  storeMs: number | undefined,
): boolean {
  if (standing.generation <= ours.generation || standing.markMs < ours.markMs) return false;
  return durability === "durable" || (storeMs !== undefined && storeMs >= ours.markMs + 2 * clockErrorMs);
}

function overtaken(kind: string): IdError {
  const message = `An earlier write to the ${kind} store landed after a later one was sent; the next renewal writes again.`;
  return new IdError("STORE_UNAVAILABLE", message, { metadata: { store: kind } });
}
