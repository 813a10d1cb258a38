/** Since 1972, every zone has changed its offset only at whole quarters of an hour. */
const quarterMs = 900_000;
const dayMs = 86_400_000;
/** Rows come sorted by time, so few times are looked up again after many others. */
const keptMax = 100_000;

/**
 * The offsets of local times in a time zone.
 *
 * An hour that occurs twice in autumn is read as the second one, and an hour that is skipped in spring as if the clock
 * had not been changed yet. PostgreSQL does the same.
 */
export class ZoneOffsets {
  readonly #format: Intl.DateTimeFormat;
  readonly #known = new Map<number, number>();

  /** @throws RangeError if there is no such zone. */
  constructor(timeZone: string) {
    this.#format = new Intl.DateTimeFormat("en-US", {
      timeZone,
      hourCycle: "h23",
      year: "numeric",
      month: "numeric",
      day: "numeric",
      hour: "numeric",
      minute: "numeric",
      second: "numeric",
    });
  }

  /** @param localMs - A local time, written as if it were UTC: Unix milliseconds. */
  offsetMs(localMs: number): number {
    const quarter = Math.floor(localMs / quarterMs);
    const known = this.#known.get(quarter);
    if (known !== undefined) return known;
    if (this.#known.size >= keptMax) this.#known.clear();
    const offset = this.#find(quarter * quarterMs);
    this.#known.set(quarter, offset);
    return offset;
  }

  #find(localMs: number): number {
    const before = this.#offsetAt(localMs - dayMs);
    const after = this.#offsetAt(localMs + dayMs);
    return this.#offsetAt(localMs - after) === after ? after : before;
  }

  #offsetAt(unixMs: number): number {
    const parts = new Map(this.#format.formatToParts(unixMs).map(({ type, value }) => [type, Number(value)]));
    const of = (type: Intl.DateTimeFormatPartTypes): number => parts.get(type) ?? 0;
    const shown = Date.UTC(of("year"), of("month") - 1, of("day"), of("hour"), of("minute"), of("second"));
    return shown - Math.floor(unixMs / 1_000) * 1_000;
  }
}

/** Whether there is a time zone of that name. */
export function isZone(timeZone: string): boolean {
  try {
    return Intl.DateTimeFormat("en-US", { timeZone }) !== undefined;
  } catch {
    return false;
  }
}
