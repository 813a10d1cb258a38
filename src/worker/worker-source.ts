import { IdError } from "../errors.ts";
import { reserveCountMax, type SnowflakeGenerator } from "../snowflake/generator.ts";
import type { Layout } from "../snowflake/layout.ts";
import { type Refusal, refusalError, windowRefusal } from "../snowflake/reservation.ts";
import { rollbackRules } from "../snowflake/rollback-policy.ts";
import type { PastGrant, PastRequest } from "../lease/claim-past.ts";
import type { LayoutRecord } from "../lease/records/layout-record.ts";
import type { Grant } from "../lease/grant.ts";
import { type DrawOutcome, WaitQueue, waitersMax } from "../queue/wait-queue.ts";
import type {
  GrantStatus,
  IdSource,
  ReservedIds,
  ReserveRequest,
  ServingState,
  StoreStatus,
  WorkerStatus,
} from "./id-source.ts";
import type { RecordStore } from "../store/record-store.ts";
import { distrustedClockError, phaseError, shuttingDownError } from "./serving-error.ts";
import { type HolderPorts, WorkerHolder } from "./worker-holder.ts";
import { splitWorkerIndex, type WorkerSettings } from "../lease/worker-settings.ts";

/** The store, the generator and the limits of a {@link WorkerSource}. */
export interface WorkerSourceParts {
  /** Holds the records of the namespace. */
  readonly store: RecordStore;
  /** The namespace, the worker IDs that may be taken, and the times of the lease. */
  readonly settings: WorkerSettings;
  /** Issues the IDs, under the grants of the holder. */
  readonly generator: SnowflakeGenerator;
  /** The clocks, the randomness and the journal of this process. */
  readonly ports: HolderPorts;
  /** The longest that a call waits for IDs, in milliseconds. 0: not at all. */
  readonly waitMaxMs: number;
}

/**
 * How long a wall clock that the store's contradicts is replaced by the monotonic clock before the server reports that
 * it is unhealthy.
 */
const distrustAfterMs = 60_000;

/** IDs from one held worker ID: generator, holder and queue put together. */
export class WorkerSource implements IdSource {
  readonly layout: Layout;
  readonly reserveCountMax = reserveCountMax;
  readonly #parts: WorkerSourceParts;
  readonly #generator: SnowflakeGenerator;
  readonly #holder: WorkerHolder;
  readonly #queue: WaitQueue<ReserveRequest, ReservedIds>;
  /** The most that one bulk reservation takes, so that it does not use up the whole burst. */
  readonly #bulkMax: number;
  readonly #monotonicMs: () => number;
  readonly #listeners = new Set<(state: ServingState) => void>();
  #state: ServingState;
  #closed = false;
  /** Why the last draw gave no ID; for the error of a wait that took too long. */
  #refusal: Refusal | undefined;
  #issued = 0;
  #waited = 0;

  constructor(parts: WorkerSourceParts) {
    this.#parts = parts;
    this.layout = parts.settings.layout;
    this.#generator = parts.generator;
    const { policy } = parts.generator;
    this.#holder = new WorkerHolder({
      store: parts.store,
      settings: parts.settings,
      ports: parts.ports,
      generator: parts.generator,
      // Under the other policies timestamps never lead a clock that went back.
      rebases: rollbackRules[policy].whileBehind === "lead",
      onChange: () => this.#onHolderChange(),
    });
    this.#monotonicMs = () => parts.ports.clock.monotonicMs();
    this.#bulkMax = Math.max(1, Math.floor(parts.generator.burstCount / 2));
    this.#queue = new WaitQueue({
      timers: parts.ports.timers,
      draw: (request) => this.#draw(request),
      nowMs: () => this.#holder.judge.nowMs(),
    });
    this.#state = { kind: "not-serving", error: this.#problem()!, sinceMs: this.#monotonicMs() };
  }

  get risingSpan(): number {
    return this.#generator.risingSpan;
  }

  get state(): ServingState {
    return this.#state;
  }

  /** The phase of the holder. Unlike {@link status} it reads no clock. */
  get phase(): WorkerStatus["phase"] {
    return this.#holder.phase.kind;
  }

  /** The layout record of the namespace; undefined until it is known. */
  get layoutRecord(): LayoutRecord | undefined {
    return this.#holder.layoutRecord;
  }

  /** See WorkerHolder.start. */
  start(): Promise<void> {
    return this.#holder.start();
  }

  /**
   * Closes the source: no call gets an ID any more, waiting calls get SHUTTING_DOWN, and the worker ID is given back if
   * the store answers in time.
   *
   * @param timeoutMs - How long to wait for the store. Not one ID is issued afterwards in either case.
   */
  async close(timeoutMs: number): Promise<void> {
    this.#closed = true;
    this.#queue.rejectAll(shuttingDownError());
    await this.#holder.close(timeoutMs);
  }

  /** See WorkerHolder.claimPast. */
  claimPast(request: PastRequest): Promise<PastGrant> {
    return this.#holder.claimPast(request);
  }

  tryNext(): bigint | undefined {
    const { grant, judge } = this.#holder;
    const nowMs = judge.nowMs();
    if (grant === undefined || nowMs >= grant.untilMs || this.#closed) return undefined;
    if (this.#queue.isTaken("unary") || this.#isClockDistrusted()) return undefined;
    const id = this.#generator.tryNext(nowMs, this.#monotonicMs);
    if (id !== undefined) this.#issued += 1;
    return id;
  }

  reserve(request: ReserveRequest): ReservedIds | Promise<ReservedIds> {
    if (this.#closed) throw shuttingDownError();
    if (!this.#queue.isTaken(request.priority)) {
      const outcome = this.#draw(request);
      if (outcome.kind === "drawn") return outcome.result;
    }
    return this.#wait(request);
  }

  onStateChange(listener: (state: ServingState) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  status(): WorkerStatus {
    const { counters, grant, judge } = this.#holder;
    return {
      state: this.#state,
      phase: this.phase,
      grant: grant && this.#grantStatus(grant),
      store: this.#storeStatus(),
      counters: {
        ...counters,
        clockStepsBack: judge.stepsBack,
        clockStepsForward: judge.stepsForward,
        issued: this.#issued,
        waited: this.#waited,
      },
      waiting: this.#queue.size,
    };
  }

  #canDraw(): boolean {
    return this.#holder.grant !== undefined && !this.#closed && !this.#isClockDistrusted();
  }

  /**
   * Whether the clock has reached the window's end, before a heartbeat or a renewal notices. The generator does not
   * know: under `logical` its timestamps do not follow the clock, and it counts in ticks.
   */
  #isWindowOver(nowMs: number): boolean {
    const { grant } = this.#holder;
    return grant !== undefined && nowMs >= grant.untilMs;
  }

  #draw(request: ReserveRequest): DrawOutcome<ReservedIds> {
    if (request.risingSpan !== undefined && request.risingSpan !== this.risingSpan) throw orderEnded();
    if (!this.#canDraw()) return { kind: "refused", untilMs: undefined };
    const { judge } = this.#holder;
    const count = request.priority === "bulk" ? Math.min(request.count, this.#bulkMax) : request.count;
    const nowMs = judge.nowMs();
    const reservation = this.#isWindowOver(nowMs)
      ? windowRefusal(nowMs)
      : this.#generator.reserve(count, nowMs, request.priority, this.#monotonicMs);
    // A step back under the policy `reuse` may have ended the order just now.
    if (request.risingSpan !== undefined && request.risingSpan !== this.risingSpan) throw orderEnded();
    if (reservation.kind !== "runs") {
      this.#refusal = reservation;
      if (reservation.kind === "rolled-back") this.#holder.wantRebase();
      else if (reservation.cause === "window") this.#holder.wantWindow();
      return { kind: "refused", untilMs: reservation.untilMs };
    }
    const { runs } = reservation;
    const drawn = runs.reduce((sum, run) => sum + run.count, 0);
    this.#issued += drawn;
    return { kind: "drawn", result: { runs, count: drawn, risingSpan: this.risingSpan } };
  }

  #wait(request: ReserveRequest): Promise<ReservedIds> {
    const nowMs = this.#monotonicMs();
    // The wait is counted from when the outage began, so later callers fail sooner instead of each waiting the full
    // `waitMaxMs`.
    const brokenSinceMs = this.#state.kind === "not-serving" ? this.#state.sinceMs : nowMs;
    const untilMs = Math.min(brokenSinceMs + this.#parts.waitMaxMs, request.deadlineMs ?? Number.POSITIVE_INFINITY);
    if (request.signal?.aborted) return Promise.reject(request.signal.reason);
    if (untilMs <= nowMs || this.#queue.size >= waitersMax) return Promise.reject(this.#lateError());
    this.#waited += 1;
    const waiting = this.#queue.wait(request, untilMs - nowMs, () => this.#lateError());
    this.#queue.serve();
    return waiting;
  }

  #lateError(): IdError {
    const error = this.#problem();
    if (error !== undefined) return error;
    if (this.#refusal !== undefined) return refusalError(this.#refusal, this.#holder.judge.nowMs());
    return new IdError("BURST_EXCEEDED", "Too many calls wait for IDs.", { retryAfterMs: this.#parts.waitMaxMs });
  }

  #problem(): IdError | undefined {
    if (this.#closed) return shuttingDownError();
    const error = phaseError(this.#holder.phase, this.#holder.judge.nowMs());
    return error ?? (this.#isClockDistrusted() ? distrustedClockError() : undefined);
  }

  #isClockDistrusted(): boolean {
    const { state } = this.#holder.judge;
    return state.kind === "contradicted" && this.#monotonicMs() - state.sinceMs > distrustAfterMs;
  }

  #onHolderChange(): void {
    const error = this.#problem();
    const before = this.#state;
    if (error === undefined) this.#state = { kind: "serving" };
    else {
      const sinceMs = before.kind === "not-serving" ? before.sinceMs : this.#monotonicMs();
      this.#state = { kind: "not-serving", error, sinceMs };
    }
    const hasChanged =
      before.kind !== this.#state.kind || (before.kind === "not-serving" && before.error.reason !== error?.reason);
    if (hasChanged) for (const listener of this.#listeners) listener(this.#state);
    if (this.#queue.size > 0) this.#queue.serve();
  }

  #grantStatus(grant: Grant): GrantStatus {
    const nowMs = this.#holder.judge.nowMs();
    return {
      ...splitWorkerIndex(this.layout, grant.workerIndex),
      generation: grant.generation,
      sinceMs: grant.sinceMs,
      untilMs: grant.untilMs,
      windowMs: this.#parts.settings.windowMs,
      windowLeftMs: Math.max(0, grant.untilMs - nowMs),
      leadMs: this.#generator.leadMs(nowMs),
    };
  }

  #storeStatus(): StoreStatus {
    const { store, judge, candidates } = this.#holder;
    const storeMs = store.clockMs();
    return {
      kind: store.kind,
      reachable: store.problem === undefined && store.lastAnswerMs !== undefined,
      lastAnswerMs: store.lastAnswerMs,
      clockAheadMs: storeMs === undefined ? undefined : storeMs - judge.nowMs(),
      workerIds: candidates && { free: candidates.free, total: candidates.total },
    };
  }
}

function orderEnded(): IdError {
  const message =
    "The clock went back, or the worker ID changed: further IDs may be below those of this stream. Start a new one.";
  return new IdError("CLOCK_ROLLED_BACK", message, { retryAfterMs: 1 });
}
