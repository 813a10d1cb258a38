import { kernelRandom128 } from "../kernel-random.ts";

/** A write to the row of one line, which is done only if the row holds `before`. */
export interface Note {
  readonly processId: string;
  /** The number of the connection, from 1 on; 0 is the line of the looks. */
  readonly line: number;
  readonly before: string;
  /** A count of the line's writes, a space, and 128 random bits. */
  readonly after: string;
}

/** What the row of each line may hold, for a look that is on its way. */
export interface WitnessWatch {
  /** Whether the rows had been created when the look was sent. */
  readonly isMade: boolean;
  readonly allowed: readonly Set<string>[];
  /** The count of the last confirmed write of each line when the look was sent. */
  readonly counts: readonly number[];
}

/** The rows of a process, as a look found them, by their lines. */
export type WitnessRows = ReadonlyMap<number, string>;

/**
 * What the rows show. `loss`: the database is older than a confirmed take. `copied`: another copy of this process has
 * written them. `expired`: they may have been deleted, because the process did not look for days.
 */
export type WitnessFinding =
  | { readonly kind: "right" }
  | { readonly kind: "loss"; readonly reason: string }
  | { readonly kind: "copied" }
  | { readonly kind: "expired" };

interface Line {
  /** The last write that was confirmed. */
  known: string;
  /** The writes since that may have been done. */
  sent: Note[];
  count: number;
}

/** A row is deleted when its process has not looked for this long, by the database's clock. */
export const witnessKeptMs = 7 * 86_400_000;
/** After this time without a look, a process no longer treats a missing row as a loss. */
const expiresMs = 6 * 86_400_000;

/**
 * The evidence of one process that its takes are still in the database. Each connection has a row that only it writes,
 * with every take, in the take's own statement. So if the database went back, an older row shows that to the process,
 * no matter what others took since. docs/adr/0195 explains why. Pure: it sends nothing.
 */
export class TakeWitness {
  /** 128 random bits, new for each revision of the database. */
  readonly processId = kernelRandom128();
  readonly #lines: readonly Line[];
  readonly #watches = new Set<WitnessWatch>();
  #isMade = false;
  #seenMs = 0;

  /** @param lineCount - How many connections there are, without the line of the looks. */
  constructor(lineCount: number) {
    const known = firstWrite(this.processId);
    this.#lines = Array.from({ length: lineCount + 1 }, () => ({ known, sent: [], count: 0 }));
  }

  /** The rows to be created before the first take; always the same ones. */
  get firstRows(): readonly { readonly line: number; readonly writeId: string }[] {
    return this.#lines.map((_, line) => ({ line, writeId: firstWrite(this.processId) }));
  }

  /** Notes that the rows were created. @param seenMs - The time of the database's clock in them. */
  made(seenMs: number): void {
    this.#isMade = true;
    this.#seenMs = seenMs;
  }

  /** Begins a write of a line. To be called when the line is free, not while the call waits for it. */
  begin(line: number): Note {
    const state = this.#lines[line]!;
    state.count += 1;
    const after = `${state.count} ${kernelRandom128()}`;
    const note = { processId: this.processId, line, before: state.known, after };
    state.sent.push(note);
    for (const { allowed } of this.#watches) allowed[line]!.add(after);
    return note;
  }

  /** Notes that a write was done. An earlier one that was given up no longer matters. */
  confirm({ line, after }: Note): void {
    const state = this.#lines[line]!;
    if (!state.sent.some((note) => note.after === after)) return;
    settle(state, after);
  }

  /** Notes that a write of the line of looks was done, with the time of the database's clock that it wrote. */
  confirmLook(note: Note, seenMs: number): void {
    this.confirm(note);
    this.#seenMs = seenMs;
  }

  /** Begins a look: its answer may show any write from now on. */
  watch(): WitnessWatch {
    const watch = {
      isMade: this.#isMade,
      allowed: this.#lines.map(({ known, sent }) => new Set([known, ...sent.map(({ after }) => after)])),
      counts: this.#lines.map(({ known }) => countOf(known)),
    };
    this.#watches.add(watch);
    return watch;
  }

  /** Ends a look that got no answer. */
  unwatch(watch: WitnessWatch): void {
    this.#watches.delete(watch);
  }

  /** Ends a look, and returns what it shows. An unanswered write that is found counts as confirmed. */
  judge(watch: WitnessWatch, rows: WitnessRows, clockMs: number): WitnessFinding {
    this.unwatch(watch);
    if (!watch.isMade) return { kind: "right" };
    for (const [line, state] of this.#lines.entries()) {
      const row = rows.get(line);
      if (row === undefined) {
        if (clockMs - this.#seenMs > expiresMs) return { kind: "expired" };
        return { kind: "loss", reason: "the takes of a running server are gone: its rows are missing" };
      }
      if (!watch.allowed[line]!.has(row)) return strangeRow(row, watch.counts[line]!);
      if (state.sent.some(({ after }) => after === row)) settle(state, row);
    }
    return { kind: "right" };
  }
}

/** A row that this process never wrote, or wrote before a write that was confirmed. */
function strangeRow(row: string, knownCount: number): WitnessFinding {
  const count = countOf(row);
  if (count >= knownCount) return { kind: "copied" };
  const reason = `the takes of a running server are gone: its write ${count} is there after write ${knownCount}`;
  return { kind: "loss", reason };
}

/** Takes a write as the one in the row. Only writes that name it as `before` can still be done. */
function settle(state: Line, known: string): void {
  state.known = known;
  state.sent = state.sent.filter(({ before }) => before === known);
}

function firstWrite(processId: string): string {
  return `0 ${processId}`;
}

/** The count in a write; -1 if no process can have written it. */
function countOf(writeId: string): number {
  const [count = ""] = writeId.split(" ");
  return /^\d{1,15}$/.test(count) ? Number(count) : -1;
}
