/** Counts calls in flight, so that a drain can tell when none is left. */
export class CallCounter {
  #inFlight = 0;
  readonly #drained = Promise.withResolvers<void>();
  #draining = false;

  /** Whether {@link drain} was called. */
  get draining(): boolean {
    return this.#draining;
  }

  began(): void {
    this.#inFlight++;
  }

  ended(): void {
    this.#inFlight--;
    if (this.#draining && this.#inFlight === 0) this.#drained.resolve();
  }

  /** Resolves as soon as no call is in flight. */
  drain(): Promise<void> {
    this.#draining = true;
    if (this.#inFlight === 0) this.#drained.resolve();
    return this.#drained.promise;
  }
}
