import { checkChunkSize, checkCount, checkStreamCount } from "./errors.ts";
import { FakeClock } from "./fake-clock.ts";
import { type Fault, type Pause, Script } from "./fake-script.ts";
import { checkOptionKinds } from "./known-options.ts";
import { type CallOptions, checkCallOptions, type StreamOptions, streamOptionKinds } from "./run-source.ts";
import {
  type ReservedValues,
  type Sequence,
  type SequenceValue,
  textOf,
  type ValueOptions,
  valueOptionKinds,
  type ValueRun,
} from "./sequence.ts";

/** One step of a sequence's script: a value, alone or with its text and period; a run; `fail(…)` or `delay(…)`. */
export type ValueStep = bigint | SequenceValue | ValueRun | Fault | Pause;

/** A step that yields values. */
type Values = bigint | SequenceValue | ValueRun;

/**
 * Replaces a sequence in tests: it hands out the values of its script, without a server. Once the script has ended,
 * calls throw SCRIPT_ENDED.
 */
export class FakeSequence implements Sequence {
  readonly name: string;
  readonly #script: Script<Values>;

  /** @param clock - Default: a clock of its own, on which no pause ends. */
  constructor(name: string, script: Iterable<ValueStep>, clock: FakeClock = new FakeClock()) {
    this.name = name;
    this.#script = new Script<Values>(script, clock);
  }

  async nextValue(options: ValueOptions = {}): Promise<SequenceValue> {
    checkOptionKinds(options, valueOptionKinds);
    return this.#first(await this.#script.next(options.signal));
  }

  async nextText(options?: ValueOptions): Promise<string> {
    return textOf(this.name, await this.nextValue(options));
  }

  async nextValues(count: number, options: CallOptions = {}): Promise<SequenceValue[]> {
    checkCallOptions(options);
    checkCount(count);
    const values: SequenceValue[] = [];
    while (values.length < count) values.push(await this.nextValue(options));
    return values;
  }

  async *stream(count: number, options: StreamOptions = {}): AsyncGenerator<readonly SequenceValue[], void, undefined> {
    checkOptionKinds(options, streamOptionKinds);
    checkStreamCount(count);
    const { chunkSize = 0, signal } = options;
    checkChunkSize(chunkSize);
    for (let leftCount = count; leftCount > 0; ) {
      const values = [this.#first(await this.#script.next(signal))];
      const most = Math.min(leftCount, chunkSize || 4_096);
      // All values of a chunk are of one period.
      while (values.length < most) {
        const step = this.#script.nextNow();
        if (step === undefined) break;
        if (periodOf(step) !== values[0]!.periodKey) {
          this.#script.putBack(step);
          break;
        }
        values.push(this.#first(step));
      }
      leftCount -= values.length;
      yield values;
    }
  }

  /** Returns the next step's values, at most `count`. */
  async reserve(count: number, options?: CallOptions): Promise<ReservedValues> {
    checkCallOptions(options);
    checkCount(count);
    const step = await this.#script.next(options?.signal);
    if (!isRun(step)) {
      const { value, periodKey } = this.#first(step);
      return { runs: [{ firstValue: value, count: 1, increment: 1n }], periodKey };
    }
    return { runs: [this.#cut(step, count)], periodKey: "" };
  }

  /** Ends it: every further call throws CLIENT_CLOSED. */
  close(): void {
    this.#script.isClosed = true;
  }

  /** The first value of a step, whose rest is put back. */
  #first(step: Values): SequenceValue {
    if (typeof step === "bigint") return { value: step, text: "", periodKey: "" };
    return isRun(step) ? { value: this.#cut(step, 1).firstValue, text: "", periodKey: "" } : step;
  }

  /** The first values of a run, at most `count`; the rest is put back. */
  #cut(run: ValueRun, count: number): ValueRun {
    if (run.count <= count) return run;
    const { firstValue, increment } = run;
    this.#script.putBack({ firstValue: firstValue + BigInt(count) * increment, count: run.count - count, increment });
    return { firstValue, count, increment };
  }
}

function isRun(step: Values): step is ValueRun {
  return typeof step === "object" && "firstValue" in step;
}

function periodOf(step: Values): string {
  return typeof step === "object" && "periodKey" in step ? step.periodKey : "";
}
