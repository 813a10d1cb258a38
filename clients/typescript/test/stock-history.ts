import { Answer, cutRuns } from "../src/answer.ts";
import { FakeClock } from "../src/fake-clock.ts";
import { Moment } from "../src/moment.ts";
import { OutagePolicy } from "../src/outage-policy.ts";
import { RefillPolicy } from "../src/refill-policy.ts";
import { Stock } from "../src/stock.ts";

/** What a history begins with. */
export interface HistoryOptions {
  readonly countMin: number;
  readonly countMax: number;
  readonly maxAgeMs: number;
  /** 0: without a reserve. */
  readonly outageMs: number;
  readonly stockMax: number;
}

/** First ID and count of each stretch of IDs that rise by `stride`, and that distance. */
export type Stretch = readonly [firstId: string, count: number, stride: number];

/** A step of test/vectors/stock.json: what is done at a time, and the arguments and the result of it. */
export type Step =
  | readonly ["ask", number, { readonly count: number }]
  | readonly ["answer", number, { readonly askedAtMs: number; readonly runs: readonly Stretch[] }]
  | readonly ["claim", number, { readonly count: number; readonly ids: readonly Stretch[]; readonly isDue: boolean }]
  | readonly ["look", number, { readonly pieceSize: number; readonly count: number }]
  | readonly [
      "answer reserve",
      number,
      { readonly askedAtMs: number; readonly pieceSize: number; readonly runs: readonly Stretch[] },
    ]
  | readonly ["expire", number, { readonly dropped: number; readonly stock: number }];

/** Plays a history of a stock by its pure parts, without timers and without a source. */
export class StockHistory {
  readonly #clock = new FakeClock();
  readonly #options: HistoryOptions;
  readonly #policy: RefillPolicy;
  readonly #outage: OutagePolicy | undefined;
  readonly #stock: Stock;
  readonly #asked: { readonly atMs: number; readonly moment: Moment }[] = [];
  #answers: Answer[] = [];

  constructor(options: HistoryOptions) {
    this.#options = options;
    this.#policy = new RefillPolicy(options);
    if (options.outageMs > 0) this.#outage = new OutagePolicy(options);
    this.#stock = new Stock({
      policy: this.#policy,
      clock: this.#clock,
      observer: {},
      onLowWater: () => {},
      onTooOld: (answer) => this.#stock.drop(answer),
    });
  }

  async at(atMs: number): Promise<void> {
    if (atMs > this.#clock.monotonicMs()) await this.#clock.advance(atMs - this.#clock.monotonicMs());
  }

  /** A reservation for the working stock. */
  ask(): number {
    this.#noteAsked();
    return this.#policy.reserveCount;
  }

  /** The check of the reserve, once a second. 0: nothing is requested. */
  look(): { readonly pieceSize: number; readonly count: number } {
    const { secondCount: pieceSize } = this.#policy;
    const outage = this.#outage!;
    outage.noteHandedOut({ atMs: this.#clock.monotonicMs(), count: this.#stock.handedOutCount });
    const count = outage.reserveCount(this.#stock.reserveState(outage.youngMs), pieceSize);
    if (count > 0) this.#noteAsked();
    return { pieceSize, count };
  }

  answer(askedAtMs: number, stretches: readonly Stretch[], pieceSize = 0): void {
    const runs = stretches.map(([firstId, count, stride]) => ({
      firstId: BigInt(firstId),
      count,
      stride: BigInt(stride),
    }));
    const { moment } = this.#asked.findLast(({ atMs }) => atMs === askedAtMs)!;
    const answers = (pieceSize === 0 ? [runs] : cutRuns(runs, pieceSize)).map(
      (piece) => new Answer(piece, { asked: moment, maxAgeMs: this.#options.maxAgeMs }),
    );
    this.#policy.noteRoundTrip(this.#clock.monotonicMs() - askedAtMs);
    this.#answers.push(...answers);
    if (pieceSize === 0) this.#stock.add(answers[0]!);
    else this.#stock.addReserve(answers);
  }

  /** Claims IDs one by one, until none are left. */
  claim(count: number): { readonly ids: readonly Stretch[]; readonly isDue: boolean } {
    const ids: [first: bigint, count: number, stride: bigint][] = [];
    for (let left = count; left > 0; left--) {
      const id = this.#stock.claim();
      if (id === undefined) break;
      const last = ids.at(-1);
      if (last?.[1] === 1 && id > last[0]) [last[1], last[2]] = [2, id - last[0]];
      else if (last !== undefined && last[1] > 1 && id === last[0] + BigInt(last[1]) * last[2]) last[1]++;
      else ids.push([id, 1, 1n]);
    }
    return { ids: ids.map(([first, n, stride]) => [String(first), n, Number(stride)]), isDue: this.isDue };
  }

  /** Drops what is too old, as timers do. */
  expire(): { readonly dropped: number; readonly stock: number } {
    const { droppedCount } = this.#stock;
    const old = this.#answers.filter((answer) => answer.isTooOld);
    for (const answer of old) this.#stock.drop(answer);
    this.#answers = this.#answers.filter((answer) => !old.includes(answer));
    return { dropped: this.#stock.droppedCount - droppedCount, stock: this.#stock.count };
  }

  /** Whether the next answer is due. */
  get isDue(): boolean {
    return this.#stock.isLow || this.#stock.count === 0;
  }

  #noteAsked(): void {
    const atMs = this.#clock.monotonicMs();
    this.#policy.noteHandedOut({ atMs, count: this.#stock.handedOutCount });
    this.#asked.push({ atMs, moment: new Moment(this.#clock) });
  }
}
