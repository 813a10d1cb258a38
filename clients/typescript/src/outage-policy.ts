import type { RefillBounds } from "./refill-policy.ts";

/** What a stock for an outage is to be. */
export interface OutageOptions extends RefillBounds {
  /** How long the stock is to last without any server, in milliseconds. */
  readonly outageMs: number;
  /** The oldest that the reservation of an ID may be when it is handed out, in milliseconds. */
  readonly maxAgeMs: number;
  /** The most IDs to aim at. */
  readonly stockMax: number;
}

/** The rate is measured over so long. */
const windowMs = 60_000;
/**
 * The target lasts so much longer than the outage, for a client notices that its servers are back only after two
 * back-offs: that of the endpoint and that of the buffer.
 */
const marginMs = 10_000;
/** One refill closes this part of what is missing, so that a fleet that starts does not flood its servers. */
const fillPart = 1 / 30;

/** How many IDs had been handed out at a moment. */
interface Sample {
  readonly atMs: number;
  readonly handedOutCount: number;
}

/**
 * How much to keep in stock so that IDs go on while no server answers, and how gently to fill it. It is fed once a
 * second with the count of IDs handed out, and reads no clock. docs/internals/client-contract.md has the rules.
 */
export class OutagePolicy {
  readonly #options: OutageOptions;
  readonly #targetMs: number;
  /** Oldest first, over the window. */
  #samples: Sample[] = [];
  #askedAtCount = 0;

  constructor(options: OutageOptions) {
    const { outageMs, maxAgeMs } = options;
    this.#options = options;
    // Halfway to the age at which IDs are dropped, at most: what is used at an even rate is used before that age.
    this.#targetMs = Math.min(outageMs + marginMs, (outageMs + maxAgeMs) / 2);
  }

  /** IDs handed out a second, over the last 60 s or since the buffer woke up. */
  get ratePerSecond(): number {
    const [first] = this.#samples;
    const last = this.#samples.at(-1);
    if (first === undefined || last === undefined || last.atMs <= first.atMs) return 0;
    return ((last.handedOutCount - first.handedOutCount) / (last.atMs - first.atMs)) * 1_000;
  }

  /** Takes in how many IDs have been handed out by now. */
  note(sample: Sample): void {
    this.#samples.push(sample);
    while ((this.#samples[0]?.atMs ?? Infinity) < sample.atMs - windowMs) this.#samples.shift();
  }

  /** Forgets what was handed out so far: the buffer goes to sleep. */
  forget(): void {
    this.#samples = [];
  }

  /** IDs to ask for, of a stock of `stockCount`; 0 if it is full. */
  reserveCount(stockCount: number, handedOutCount: number): number {
    const { countMin, countMax, stockMax } = this.#options;
    const target = Math.min((this.ratePerSecond * this.#targetMs) / 1_000, stockMax);
    const missing = target - stockCount;
    if (missing <= 0) return 0;
    const wanted = Math.min(missing, handedOutCount - this.#askedAtCount + missing * fillPart);
    return Math.min(countMax, Math.max(countMin, Math.ceil(wanted)));
  }

  /** Takes in that a reservation is sent: the next one asks for what is handed out from here on. */
  noteAsked(handedOutCount: number): void {
    this.#askedAtCount = handedOutCount;
  }
}
