import { isDeepStrictEqual } from "node:util";

/** How often a fault that lasts is reported. */
const reminderMs = 60_000;

/** How {@link WatchedFiles} reads its files, how often, and how it reports changes and faults. */
export interface WatchOptions<T> {
  /** Reads the files. Throws if that cannot be done. */
  readonly read: () => T;
  /** Takes content that differs from the one before. May throw, if it cannot be used. */
  readonly onChange: (content: T) => void;
  /**
   * Called with what `read` or `onChange` threw: at once, and once a minute while the fault lasts. The earlier content
   * stays in use.
   */
  readonly onFault: (error: unknown) => void;
  /** How often the files are checked, in milliseconds. Default: 10,000. */
  readonly lookMs?: number;
}

/** Files that may be replaced while the server runs. They are checked every ten seconds and on demand. */
export class WatchedFiles<T> {
  readonly #options: WatchOptions<T>;
  readonly #timer: NodeJS.Timeout;
  readonly #looksAMinute: number;
  #content: T;
  /** The fault that the last look found; undefined where it found none. */
  #fault: { readonly text: string; looks: number } | undefined;

  /** @param content - The content that is in use now. */
  constructor(content: T, options: WatchOptions<T>) {
    const { lookMs = 10_000 } = options;
    this.#content = content;
    this.#options = options;
    this.#looksAMinute = Math.ceil(reminderMs / lookMs);
    this.#timer = setInterval(() => this.#look(), lookMs).unref();
  }

  /** Checks the files at once. A fault is then reported, even if it was reported a moment ago. Never throws. */
  look(): void {
    if (this.#fault !== undefined) this.#fault.looks = 0;
    this.#look();
  }

  close(): void {
    clearInterval(this.#timer);
  }

  /** Reads the files, and hands on what has changed, or is good again after a fault. */
  #look(): void {
    const { read, onChange, onFault } = this.#options;
    try {
      const content = read();
      if (this.#fault === undefined && isDeepStrictEqual(content, this.#content)) return;
      onChange(content);
      this.#content = content;
      this.#fault = undefined;
    } catch (error) {
      const text = String(error);
      if (this.#fault?.text !== text) this.#fault = { text, looks: 0 };
      if (this.#fault.looks++ % this.#looksAMinute === 0) onFault(error);
    }
  }
}
