import {
  checkChunkSize,
  checkCount,
  checkStreamCount,
  closedError,
  SnowlaneError,
  type SnowlaneReason,
  type StatusCode,
} from "./errors.ts";
import { FakeClock } from "./fake-clock.ts";
import { type IdSource, OfflineIds, type StreamOptions } from "./id-source.ts";
import { type Layout, presetLayout } from "./offline.ts";
import { PrefetchBuffer, type PrefetchOptions } from "./prefetch-buffer.ts";
import type { CallOptions, IdRun } from "./run-source.ts";

/** One step of a script: an ID, a run, what {@link fail} or {@link delay} make. */
export type ScriptStep = bigint | IdRun | Fault | Pause;

interface Fault {
  readonly kind: "fault";
  readonly error: SnowlaneError;
}

interface Pause {
  readonly kind: "pause";
  readonly ms: number;
}

/** What a fault may carry. */
export interface FaultDetails {
  /** Default: UNAVAILABLE. */
  readonly code?: StatusCode;
  readonly retryAfterMs?: number;
  readonly metadata?: Readonly<Record<string, string>>;
}

/** A step that fails. It is thrown as it stands: a fake never retries. */
export function fail(reason: SnowlaneReason, { code = "UNAVAILABLE", ...details }: FaultDetails = {}): ScriptStep {
  return { kind: "fault", error: new SnowlaneError(reason, `The script says ${reason}.`, { code, ...details }) };
}

/** Lets `ms` pass on the clock before the step that follows. */
export function delay(ms: number): ScriptStep {
  return { kind: "pause", ms };
}

/** What a fake may be told beside its script. */
export interface FakeOptions {
  /** Default: a clock of its own. */
  readonly clock?: FakeClock;
  /** Default: `twitter`. */
  readonly layout?: Layout;
  /** Default: `default`. */
  readonly namespace?: string;
}

/**
 * Stands in for IdClient in tests: hands out what its script says, without a server. A script that has ended throws
 * SCRIPT_ENDED.
 */
export class FakeIdClient extends OfflineIds implements IdSource {
  readonly clock: FakeClock;
  readonly #layout: Layout;
  /** The steps that are left, the next one last. */
  readonly #steps: ScriptStep[];
  readonly #buffers = new Set<PrefetchBuffer>();
  #isClosed = false;

  constructor(script: Iterable<ScriptStep>, options: FakeOptions = {}) {
    super(options.namespace ?? "default");
    this.#steps = [...script].toReversed();
    this.clock = options.clock ?? new FakeClock();
    this.#layout = options.layout ?? presetLayout("twitter");
  }

  async nextId(options?: CallOptions): Promise<bigint> {
    const [run] = await this.#take(1, options);
    return run.firstId;
  }

  async nextIds(count: number, options?: CallOptions): Promise<bigint[]> {
    checkCount(count);
    const ids: bigint[] = [];
    while (ids.length < count) ids.push(...idsOf(await this.#take(count - ids.length, options)));
    return ids;
  }

  async *stream(count: number, options: StreamOptions = {}): AsyncGenerator<readonly bigint[], void, undefined> {
    checkStreamCount(count);
    checkChunkSize(options.chunkSize ?? 0);
    for (let leftCount = count; leftCount > 0; ) {
      const ids = idsOf(await this.#take(Math.min(leftCount, options.chunkSize || 4_096), options));
      leftCount -= ids.length;
      yield ids;
    }
  }

  /** Gives the IDs and runs of the script up to the next fault, pause or its end; at most `count` IDs. */
  async reserve(count: number, options?: CallOptions): Promise<readonly IdRun[]> {
    checkCount(count);
    return this.#take(count, options);
  }

  async layout(): Promise<Layout> {
    return this.#layout;
  }

  prefetch(options: PrefetchOptions = {}): PrefetchBuffer {
    const settings = { clock: this.clock, ...options };
    const buffer: PrefetchBuffer = new PrefetchBuffer(this, settings, () => this.#buffers.delete(buffer));
    this.#buffers.add(buffer);
    return buffer;
  }

  close(): void {
    this.#isClosed = true;
    for (const buffer of this.#buffers) buffer.close();
  }

  async #take(count: number, options: CallOptions = {}): Promise<[IdRun, ...IdRun[]]> {
    const first = await this.#nextRun(count, options.signal);
    const runs: [IdRun, ...IdRun[]] = [first];
    for (let leftCount = count - first.count; leftCount > 0; ) {
      const step = this.#steps.at(-1);
      if (step === undefined || (typeof step === "object" && "kind" in step)) break;
      const run = this.#cut(leftCount);
      runs.push(run);
      leftCount -= run.count;
    }
    return runs;
  }

  /** Takes steps until one gives IDs. */
  async #nextRun(count: number, signal: AbortSignal | undefined): Promise<IdRun> {
    for (;;) {
      if (this.#isClosed) throw closedError("client");
      if (signal?.aborted) throw new SnowlaneError("CANCELLED", "The caller cancelled.", { code: "CANCELLED" });
      const step = this.#steps.at(-1);
      if (step === undefined) {
        const message = "The script has ended: the code under test takes more IDs than it says.";
        throw new SnowlaneError("SCRIPT_ENDED", message, { code: "FAILED_PRECONDITION" });
      }
      if (typeof step === "bigint" || "firstId" in step) return this.#cut(count);
      this.#steps.pop();
      if (step.kind === "fault") throw step.error;
      await new Promise<void>((resolve) => void this.clock.schedule(step.ms, resolve));
    }
  }

  /** Takes up to `count` IDs of the next step, which is an ID or a run. */
  #cut(count: number): IdRun {
    const step = this.#steps.pop() as bigint | IdRun;
    if (typeof step === "bigint") return { firstId: step, count: 1, stride: 1n };
    if (step.count <= count) return step;
    const { firstId, stride } = step;
    this.#steps.push({ firstId: firstId + BigInt(count) * stride, count: step.count - count, stride });
    return { firstId, count, stride };
  }
}

function idsOf(runs: readonly IdRun[]): bigint[] {
  return runs.flatMap(({ firstId, count, stride }) =>
    Array.from({ length: count }, (_, index) => firstId + BigInt(index) * stride),
  );
}
