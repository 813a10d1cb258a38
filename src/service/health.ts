import { Code, ConnectError, type ServiceImpl } from "@connectrpc/connect";
import { type Health, HealthCheckResponse_ServingStatus as ServingStatus } from "../gen/grpc/health/v1/health_pb.ts";

/** Whether a service serves, and who wants to hear of it. */
export interface HealthSource {
  isServing(): boolean;
  /** Calls `listener` after each change; returns what ends that. */
  onChange(listener: () => void): () => void;
}

/**
 * grpc.health.v1 for the services of `sources`, by full name; the empty name is the server as a whole.
 *
 * A watcher is told of each change, and let go with the reason of `drainSignal`, which would otherwise wait for it in
 * vain.
 *
 * Check of an unknown service is NOT_FOUND; Watch of one says SERVICE_UNKNOWN and goes on, as the protocol asks
 * (https://github.com/grpc/grpc/blob/master/doc/health-checking.md).
 */
export function createHealth(
  sources: Readonly<Record<string, HealthSource>>,
  drainSignal: AbortSignal,
): ServiceImpl<typeof Health> {
  const statusOf = (service: string): ServingStatus => {
    const source = Object.hasOwn(sources, service) ? sources[service] : undefined;
    if (source === undefined) return ServingStatus.SERVICE_UNKNOWN;
    return source.isServing() ? ServingStatus.SERVING : ServingStatus.NOT_SERVING;
  };
  return {
    check: ({ service }) => {
      const status = statusOf(service);
      if (status === ServingStatus.SERVICE_UNKNOWN) throw new ConnectError("unknown service", Code.NotFound);
      return { status };
    },
    list: () => ({
      statuses: Object.fromEntries(Object.keys(sources).map((service) => [service, { status: statusOf(service) }])),
    }),
    watch: ({ service }, context) =>
      watch(() => statusOf(service), sources[service], AbortSignal.any([context.signal, drainSignal])),
  };
}

async function* watch(status: () => ServingStatus, source: HealthSource | undefined, signal: AbortSignal) {
  let changed = Promise.withResolvers<void>();
  const unsubscribe = source?.onChange(() => changed.resolve());
  const onAbort = (): void => {
    // Now, and not at the end: a stream whose reader has gone may never be pulled again.
    unsubscribe?.();
    changed.resolve();
  };
  signal.addEventListener("abort", onAbort);
  try {
    let sent: ServingStatus | undefined;
    for (;;) {
      const current = status();
      if (current !== sent) {
        sent = current;
        yield { status: current };
        continue;
      }
      // Only now: a watcher hears the last change, NOT_SERVING, before it is let go.
      if (signal.aborted) throw signal.reason;
      await changed.promise;
      changed = Promise.withResolvers<void>();
    }
  } finally {
    unsubscribe?.();
    signal.removeEventListener("abort", onAbort);
  }
}
