/**
 * An AbortController that aborts with others, until it is unlinked: unlike AbortSignal.any, nothing stays behind on
 * signals that live long.
 */
export class LinkedAbort {
  readonly #controller = new AbortController();
  readonly #sources: readonly AbortSignal[];
  readonly #listener = (event: Event): void => this.abort((event.target as AbortSignal).reason);

  constructor(sources: readonly (AbortSignal | undefined)[]) {
    this.#sources = sources.filter((source) => source !== undefined);
    for (const source of this.#sources) {
      if (source.aborted) this.abort(source.reason);
      else source.addEventListener("abort", this.#listener, { once: true });
    }
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  abort(reason: unknown): void {
    this.#controller.abort(reason);
  }

  unlink(): void {
    for (const source of this.#sources) source.removeEventListener("abort", this.#listener);
  }
}
