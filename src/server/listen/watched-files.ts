import { isDeepStrictEqual } from "node:util";

/** How often a fault that lasts is reported. */
const reminderMs = 60_000;

/** The parts of {@link WatchedFiles}. */
export interface WatchOptions<T> {
  /** Reads the files. Throws if that cannot be done. */
  readonly read: () => T;
  /** Takes content that differs from the one before. May throw, if it cannot be used. */
  readonly onChange: (content: T) => void;
  /**
   * Called with what `onChange` threw, and with what `read` threw: once a minute for as long as it lasts. The earlier
   * content stays in use.
   */
  readonly onFault: (error: unknown) => void;
  /** How often the files are looked at. Default 10,000. */
  readonly lookMs?: number;
}

/** Files that may be replaced while the server runs. They are looked at every ten seconds and on demand. */
export class WatchedFiles<T> {
  readonly #options: WatchOptions<T>;
  readonly #timer: NodeJS.Timeout;
  readonly #looksAMinute: number;
  #content: T;
  /** How often in turn the files could not be read. */
  #unreadCount = 0;

  /** @param content - What is in use now. */
  constructor(content: T, options: WatchOptions<T>) {
    const { lookMs = 10_000 } = options;
    this.#content = content;
    this.#options = options;
    this.#looksAMinute = Math.ceil(reminderMs / lookMs);
    this.#timer = setInterval(() => this.look(), lookMs).unref();
  }

  /** Reads the files, and hands on what has changed. Never throws. */
  look(): void {
    const { read, onChange, onFault } = this.#options;
    let content: T;
    try {
      content = read();
      this.#unreadCount = 0;
    } catch (error) {
      if (this.#unreadCount++ % this.#looksAMinute === 0) onFault(error);
      return;
    }
    if (isDeepStrictEqual(content, this.#content)) return;
    this.#content = content;
    try {
      onChange(content);
    } catch (error) {
      onFault(error);
    }
  }

  close(): void {
    clearInterval(this.#timer);
  }
}
