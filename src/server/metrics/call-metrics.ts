import { Code, type ConnectError } from "@connectrpc/connect";
import type { Clock } from "../../clock/clock.ts";
import type { ErrorReason } from "../../errors.ts";
import { ErrorInfoSchema } from "../../gen/google/rpc/error_details_pb.ts";
import type { CallGuard, GuardedCall } from "../call/call-guard.ts";
import { type MethodTraits, tabledMethods } from "../call/method-table.ts";
import { latencyBoundsMs, LatencyHistogram } from "./latency-histogram.ts";

/** Why a call was refused before anything was done for it. */
const refusalCauses = ["host", "credentials", "permission", "quota", "undecodable"] as const;
type RefusalCause = (typeof refusalCauses)[number];

const causeOfReason: Readonly<Partial<Record<ErrorReason, RefusalCause>>> = {
  HOST_NOT_ALLOWED: "host",
  MISSING_CREDENTIALS: "credentials",
  METHOD_DENIED: "permission",
  QUOTA_EXCEEDED: "quota",
};

/** Codes of ended calls that say nothing about the request. */
const ownEnds: ReadonlySet<Code> = new Set([Code.Canceled, Code.DeadlineExceeded, Code.Unavailable]);

/** The counts of the calls of one method. They only grow. */
export class MethodCounts {
  /** `package.Service/Method`, or `other`. */
  readonly method: string;
  readonly streams: boolean;
  begun = 0;
  ok = 0;
  /** Failed calls by their gRPC code, 1 to 16. */
  readonly failed: Float64Array = new Float64Array(17);
  readonly latency: LatencyHistogram = new LatencyHistogram();
  /** Calls that were answered in their turn, since the last turn that was timed. */
  untimed = 0;

  constructor(method: string, streams: boolean) {
    this.method = method;
    this.streams = streams;
  }

  /** Calls that have not ended. */
  get openCount(): number {
    return this.begun - this.ok - this.failedCount;
  }

  /** Calls that ended in an error. */
  get failedCount(): number {
    return this.failed.reduce((sum, count) => sum + count, 0);
  }
}

/**
 * Counts all calls by method and code, and how long they took. A call only adds to a few numbers; everything else is
 * left to the reader of the numbers. docs/adr/0140 says why no package does this.
 */
export class CallMetrics implements CallGuard {
  /** The counts by the index of the method. */
  readonly #methods: (MethodCounts | undefined)[] = tabledMethods.map(countsOf);
  readonly #clock: Clock;
  /** Calls of methods that do not exist. */
  readonly #others = new MethodCounts("other", false);
  readonly #refused = new Map<RefusalCause, number>(refusalCauses.map((cause) => [cause, 0]));
  /** How long the last timed turn took. */
  #turnMs = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  begin(call: GuardedCall): void {
    (this.#methods[call.traits.index] ?? this.#add(call.traits)).begun += 1;
  }

  end(call: GuardedCall, error: ConnectError | undefined): void {
    const counts = this.#methods[call.traits.index] ?? this.#add(call.traits);
    if (error === undefined) counts.ok += 1;
    else this.#fail(counts, error);
    const { startedMs } = call;
    if (startedMs === undefined) counts.untimed += 1;
    else counts.latency.add(this.#clock.monotonicMs() - startedMs);
  }

  unread(traits: MethodTraits | undefined, error: ConnectError): void {
    const counts = traits === undefined ? this.#others : (this.#methods[traits.index] ?? this.#add(traits));
    counts.begun += 1;
    // A call that was refused before it was read has a reason.
    if (!this.#fail(counts, error) && !ownEnds.has(error.code)) this.refuse("undecodable");
  }

  /** Counts a refusal by its reason. @returns Whether the reason is one of a refusal. */
  refuseFor(reason: ErrorReason): boolean {
    const cause = causeOfReason[reason];
    if (cause !== undefined) this.refuse(cause);
    return cause !== undefined;
  }

  /** Counts a refusal for a cause that no guard knows of. */
  refuse(cause: RefusalCause): void {
    this.#refused.set(cause, this.#refused.get(cause)! + 1);
  }

  /**
   * Notes how long a turn that answered calls took: it counts for all turns since the last timed one. Timing each of
   * them would cost a tenth of a call.
   *
   * @returns Whether calls were answered since then.
   */
  onTurn(tookMs: number): boolean {
    let hadCalls = false;
    for (const counts of this.#methods) {
      if (counts === undefined || counts.untimed === 0) continue;
      counts.latency.add(tookMs, counts.untimed);
      counts.untimed = 0;
      hadCalls = true;
    }
    if (hadCalls) this.#turnMs = tookMs;
    return hadCalls;
  }

  /** The counts of each method, and those of calls of methods that do not exist. */
  methods(): readonly MethodCounts[] {
    this.onTurn(this.#turnMs);
    return [...this.#methods.filter((counts) => counts !== undefined), this.#others];
  }

  /** Streams that have not ended. */
  get streamCount(): number {
    return this.methods().reduce((sum, counts) => sum + (counts.streams ? counts.openCount : 0), 0);
  }

  /** How many calls were refused for each cause. */
  get refused(): ReadonlyMap<RefusalCause, number> {
    return this.#refused;
  }

  /** @returns Whether the call was refused for a cause that is counted. */
  #fail(counts: MethodCounts, { code, details }: ConnectError): boolean {
    counts.failed[code]! += 1;
    let isRefusal = false;
    for (const detail of details) {
      if (!("desc" in detail) || detail.desc !== ErrorInfoSchema) continue;
      const { reason } = detail.value as { readonly reason?: ErrorReason };
      if (reason !== undefined && this.refuseFor(reason)) isRefusal = true;
    }
    return isRefusal;
  }

  /** Bounded: only registered methods have traits. */
  #add(traits: MethodTraits): MethodCounts {
    const counts = countsOf(traits);
    this.#methods[traits.index] = counts;
    return counts;
  }
}

function countsOf({ path, streams }: MethodTraits): MethodCounts {
  return new MethodCounts(path.slice(1), streams);
}

/** Adds up the counts of all methods. Streams are not timed here: they last for as long as their readers like. */
export function readCallTotals(calls: CallMetrics) {
  const tookCounts = new Float64Array(latencyBoundsMs.length + 1);
  const errorCounts = new Float64Array(17);
  let callCount = 0;
  for (const { ok, failed, failedCount, latency, streams } of calls.methods()) {
    callCount += ok + failedCount;
    for (const [code, count] of failed.entries()) errorCounts[code]! += count;
    if (!streams) for (const [bucket, count] of latency.counts.entries()) tookCounts[bucket]! += count;
  }
  return { callCount, errorCounts, tookCounts, boundsMs: latencyBoundsMs };
}
