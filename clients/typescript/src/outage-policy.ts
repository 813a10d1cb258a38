import type { Handed, RefillBounds } from "./refill-policy.ts";

/** The size of a reserve for an outage. */
export interface OutageOptions extends RefillBounds {
  /** How long the reserve should last without any server, in milliseconds. */
  readonly outageMs: number;
  /** The maximum age of an ID's reservation when the ID is handed out, in milliseconds. */
  readonly maxAgeMs: number;
  /** The most young IDs to aim at. */
  readonly stockMax: number;
}

/** The window over which the rate is measured. */
const windowMs = 60_000;
/**
 * The reserve lasts this much longer than the outage, because a client takes some time to notice that its servers are
 * back.
 */
const marginMs = 10_000;
/**
 * Each request asks for a part of the missing IDs: this time divided by the age up to which IDs count as young. So a
 * fleet that starts does not flood its servers.
 */
const fillMs = 16_000;
/** The most pieces that the reserve may consist of. */
const piecesMax = 8_192;

/** The size of a reserve. */
export interface ReserveState {
  /** IDs that are young. */
  readonly youngCount: number;
  readonly pieceCount: number;
}

/**
 * Decides how many IDs to keep for an outage of all servers, and how gradually to ask for them. It gets the counts once
 * a second, and reads no clock. docs/internals/client-contract.md has the rules, and docs/adr/0198 says why.
 */
export class OutagePolicy {
  readonly #options: OutageOptions;
  readonly #targetMs: number;
  /**
   * The age below which IDs count, because they can still be used at the end of an outage that begins now. If all IDs
   * counted, the first ones would grow too old together, and an outage just before that would find a full stock that
   * expires at once.
   */
  readonly youngMs: number;
  /** Oldest first, over the window. */
  #samples: Handed[] = [];

  constructor(options: OutageOptions) {
    const { outageMs, maxAgeMs } = options;
    this.#options = options;
    // At most halfway to the age at which IDs are dropped: IDs that are used at an even rate are then used before that
    // age.
    this.#targetMs = Math.min(outageMs + marginMs, (outageMs + maxAgeMs) / 2);
    const spareMs = maxAgeMs - outageMs;
    // Never below an eighth of maxAge, so that at most about nine IDs are reserved for each one used.
    this.youngMs = Math.max((spareMs * 3) / 4, spareMs - 60_000, maxAgeMs / 8);
  }

  /** IDs handed out a second, over the last 60 s or since the buffer woke up. */
  get ratePerSecond(): number {
    const [first] = this.#samples;
    const last = this.#samples.at(-1);
    if (first === undefined || last === undefined || last.atMs <= first.atMs) return 0;
    return ((last.count - first.count) * 1_000) / (last.atMs - first.atMs);
  }

  /** Records how many IDs have been handed out so far. */
  noteHandedOut(now: Handed): void {
    this.#samples.push(now);
    while ((this.#samples[0]?.atMs ?? Infinity) < now.atMs - windowMs) this.#samples.shift();
  }

  /** Forgets the samples: the buffer goes to sleep. */
  forget(): void {
    this.#samples = [];
  }

  /** IDs to ask for; 0 if the reserve has what it needs. @param pieceSize - IDs of a piece. */
  reserveCount({ youngCount, pieceCount }: ReserveState, pieceSize: number): number {
    const { countMin, countMax, stockMax } = this.#options;
    const missing = Math.min((this.ratePerSecond * this.#targetMs) / 1_000, stockMax) - youngCount;
    const room = Math.min(countMax, (piecesMax - pieceCount) * pieceSize);
    if (missing <= 0 || room < countMin) return 0;
    return Math.min(room, Math.max(countMin, Math.ceil(missing * Math.min(1, fillMs / this.youngMs))));
  }
}
