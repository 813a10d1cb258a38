import { closeSync, openSync, writeFileSync, writeSync } from "node:fs";
import { preloadedLibrary } from "./preloaded-library.ts";

/** The clocks of a machine that can be held: while it stands still, so do both its clocks. */
export class HeldClock {
  /** The variables that the server's environment needs. */
  readonly environment: Readonly<Record<string, string>>;
  readonly #path: string;
  #heldMs = 0;
  #wallBehindMs = 0;

  private constructor(path: string, library: string) {
    this.#path = path;
    this.environment = { LD_PRELOAD: library, FAULT_CLOCK_FILE: path };
    writeFileSync(path, Buffer.alloc(16));
  }

  /** @param path - A file that is to hold the length of all pauses. */
  static async create(path: string): Promise<HeldClock> {
    return new HeldClock(path, await preloadedLibrary("held-clock"));
  }

  /** Sets both clocks back by this many milliseconds. Its process must stand still. */
  hold(lengthMs: number): void {
    this.#heldMs += lengthMs;
    this.#write();
  }

  /** Steps the wall clock: back where `stepMs` is negative. */
  step(stepMs: number): void {
    this.#wallBehindMs -= stepMs;
    this.#write();
  }

  /** How far the wall clock is ahead of the machine's; negative: behind. */
  get wallAheadMs(): number {
    return -this.#heldMs - this.#wallBehindMs;
  }

  /** Sets both clocks right. Its process must not run. */
  setRight(): void {
    this.#heldMs = 0;
    this.#wallBehindMs = 0;
    this.#write();
  }

  #write(): void {
    const bytes = Buffer.alloc(16);
    bytes.writeBigInt64LE(BigInt(Math.round(this.#heldMs * 1e6)));
    bytes.writeBigInt64LE(BigInt(Math.round(this.#wallBehindMs * 1e6)), 8);
    // In place: the process has mapped this very file.
    const file = openSync(this.#path, "r+");
    writeSync(file, bytes, 0, bytes.length, 0);
    closeSync(file);
  }
}
