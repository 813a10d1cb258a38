import type { Writable } from "node:stream";

/** How much may wait in memory for a reader that takes nothing. */
const waitingBytesMax = 1_048_576;

/** The members of a stream that are used here. */
type LogStream = Pick<Writable, "write" | "writableLength">;

/**
 * Writes log lines to a stream that may fail: its reader goes away, its disk is full, or nobody reads. A line that
 * cannot be written is lost and counted, and each further line is a new attempt. Never throws, never waits. The stream
 * needs a listener for its errors.
 */
export class LogWriter {
  readonly #stream: LogStream;
  readonly #onWritable: (lostCount: number) => void;
  #lostCount = 0;
  #isFailing = false;

  /** @param onWritable - Called once the stream takes lines again, with the number of lines lost since the start. */
  constructor(stream: LogStream, onWritable: (lostCount: number) => void) {
    this.#stream = stream;
    this.#onWritable = onWritable;
  }

  /** Lines that could not be written, since the start. */
  get lostCount(): number {
    return this.#lostCount;
  }

  write(line: string): void {
    if (this.#stream.writableLength > waitingBytesMax) return this.#lose();
    this.#stream.write(line, (error) => {
      if (error) return this.#lose();
      if (!this.#isFailing) return;
      this.#isFailing = false;
      this.#onWritable(this.#lostCount);
    });
  }

  #lose(): void {
    this.#lostCount += 1;
    this.#isFailing = true;
  }
}
