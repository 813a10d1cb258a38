import { checkChunkSize, checkCount, checkStreamCount } from "./errors.ts";
import { FakeClock } from "./fake-clock.ts";
import { fail, type Fault, type Pause, Script } from "./fake-script.ts";
import { FakeSequence, type ValueStep } from "./fake-sequence.ts";
import { type IdSource, OfflineIds } from "./id-source.ts";
import { checkOptionKinds } from "./known-options.ts";
import { type Layout, presetLayout } from "./offline.ts";
import { PrefetchBuffer, prefetchOptionKinds, type PrefetchOptions } from "./prefetch-buffer.ts";
import { type CallOptions, checkCallOptions, type IdRun, type StreamOptions, streamOptionKinds } from "./run-source.ts";
import type { Sequence } from "./sequence.ts";

/** One step of a script: an ID, a run, what {@link fail} or {@link delay} make. */
export type ScriptStep = bigint | IdRun | Fault | Pause;

/** Options of a fake, beside its script. */
export interface FakeOptions {
  /** Default: a clock of its own. */
  readonly clock?: FakeClock;
  /** Default: `twitter`. */
  readonly layout?: Layout;
  /** Default: `default`. */
  readonly namespace?: string;
  /** The scripts of sequences by name. Any other sequence fails with SEQUENCE_NOT_FOUND. */
  readonly sequences?: Readonly<Record<string, Iterable<ValueStep>>>;
}

/**
 * Replaces IdClient in tests: it hands out the IDs of its script, without a server. Once the script has ended, calls
 * throw SCRIPT_ENDED.
 */
export class FakeIdClient extends OfflineIds implements IdSource {
  readonly clock: FakeClock;
  readonly #layout: Layout;
  readonly #script: Script<bigint | IdRun>;
  readonly #sequences: ReadonlyMap<string, FakeSequence>;
  readonly #buffers = new Set<PrefetchBuffer>();

  constructor(script: Iterable<ScriptStep>, options: FakeOptions = {}) {
    super(options.namespace ?? "default");
    this.clock = options.clock ?? new FakeClock();
    this.#script = new Script<bigint | IdRun>(script, this.clock);
    const sequences = Object.entries(options.sequences ?? {});
    this.#sequences = new Map(sequences.map(([name, steps]) => [name, new FakeSequence(name, steps, this.clock)]));
    this.#layout = options.layout ?? presetLayout("twitter");
  }

  async nextId(options?: CallOptions): Promise<bigint> {
    checkCallOptions(options);
    const [run] = await this.#take(1, options);
    return run.firstId;
  }

  async nextIds(count: number, options?: CallOptions): Promise<bigint[]> {
    checkCallOptions(options);
    checkCount(count);
    const ids: bigint[] = [];
    while (ids.length < count) ids.push(...idsOf(await this.#take(count - ids.length, options)));
    return ids;
  }

  async *stream(count: number, options: StreamOptions = {}): AsyncGenerator<readonly bigint[], void, undefined> {
    checkOptionKinds(options, streamOptionKinds);
    checkStreamCount(count);
    checkChunkSize(options.chunkSize ?? 0);
    for (let leftCount = count; leftCount > 0; ) {
      const ids = idsOf(await this.#take(Math.min(leftCount, options.chunkSize || 4_096), options));
      leftCount -= ids.length;
      yield ids;
    }
  }

  /** Returns the IDs and runs of the script up to the next fault, pause or its end; at most `count` IDs. */
  async reserve(count: number, options?: CallOptions): Promise<readonly IdRun[]> {
    checkCallOptions(options);
    checkCount(count);
    return this.#take(count, options);
  }

  async layout(): Promise<Layout> {
    return this.#layout;
  }

  prefetch(options: PrefetchOptions = {}): PrefetchBuffer {
    checkOptionKinds(options, prefetchOptionKinds);
    const settings = { clock: this.clock, ...options };
    const buffer: PrefetchBuffer = new PrefetchBuffer(this, settings, () => this.#buffers.delete(buffer));
    this.#buffers.add(buffer);
    return buffer;
  }

  sequence(name: string): Sequence {
    return this.#sequences.get(name) ?? absentSequence(name);
  }

  close(): void {
    this.#script.isClosed = true;
    for (const sequence of this.#sequences.values()) sequence.close();
    for (const buffer of this.#buffers) buffer.close();
  }

  async #take(count: number, options: CallOptions = {}): Promise<[IdRun, ...IdRun[]]> {
    const first = this.#cut(await this.#script.next(options.signal), count);
    const runs: [IdRun, ...IdRun[]] = [first];
    for (let leftCount = count - first.count; leftCount > 0; ) {
      const step = this.#script.nextNow();
      if (step === undefined) break;
      const run = this.#cut(step, leftCount);
      runs.push(run);
      leftCount -= run.count;
    }
    return runs;
  }

  /** The first IDs of a step, at most `count`; the rest is put back. */
  #cut(step: bigint | IdRun, count: number): IdRun {
    if (typeof step === "bigint") return { firstId: step, count: 1, stride: 1n };
    if (step.count <= count) return step;
    const { firstId, stride } = step;
    this.#script.putBack({ firstId: firstId + BigInt(count) * stride, count: step.count - count, stride });
    return { firstId, count, stride };
  }
}

/** A sequence that does not exist: its first call throws SEQUENCE_NOT_FOUND, and later ones SCRIPT_ENDED. */
function absentSequence(name: string): Sequence {
  return new FakeSequence(name, [fail("SEQUENCE_NOT_FOUND", { code: "NOT_FOUND", metadata: { name } })]);
}

function idsOf(runs: readonly IdRun[]): bigint[] {
  return runs.flatMap(({ firstId, count, stride }) =>
    Array.from({ length: count }, (_, index) => firstId + BigInt(index) * stride),
  );
}
