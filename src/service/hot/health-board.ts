import { HealthCheckResponse_ServingStatus as ServingStatus } from "../../gen/grpc/health/v1/health_pb.ts";

/** Whether a service can do its work now. */
export interface ServiceHealth {
  isServing(): boolean;
  /** Calls `listener` after each change; returns a function that ends this. */
  onChange(listener: () => void): () => void;
}

/** Called when the health of a service may have changed. Must not throw. */
export interface Watcher {
  onChange(): void;
}

/**
 * The health of the services of a server, each by its full name, and of the whole by the empty name. It listens once to
 * each service and to the drain, for all of its watchers.
 */
export class HealthBoard {
  readonly #healthOf: ReadonlyMap<string, ServiceHealth>;
  readonly #watchers = new Set<Watcher>();
  /** Nothing serves once it is aborted. */
  readonly drainSignal: AbortSignal;

  constructor(healthOf: ReadonlyMap<string, ServiceHealth>, drainSignal: AbortSignal) {
    this.#healthOf = healthOf;
    this.drainSignal = drainSignal;
    const tell = (): void => {
      for (const watcher of this.#watchers) watcher.onChange();
    };
    for (const health of healthOf.values()) health.onChange(tell);
    drainSignal.addEventListener("abort", tell);
  }

  get services(): Iterable<string> {
    return this.#healthOf.keys();
  }

  isServing(service: string): boolean {
    return this.#healthOf.get(service)!.isServing() && !this.drainSignal.aborted;
  }

  statusOf(service: string): ServingStatus {
    if (!this.#healthOf.has(service)) return ServingStatus.SERVICE_UNKNOWN;
    return this.isServing(service) ? ServingStatus.SERVING : ServingStatus.NOT_SERVING;
  }

  add(watcher: Watcher): void {
    this.#watchers.add(watcher);
  }

  delete(watcher: Watcher): void {
    this.#watchers.delete(watcher);
  }

  get watcherCount(): number {
    return this.#watchers.size;
  }
}
