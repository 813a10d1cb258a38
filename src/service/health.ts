import { Code, ConnectError } from "@connectrpc/connect";
import { Health, HealthCheckResponse_ServingStatus as ServingStatus } from "../gen/grpc/health/v1/health_pb.ts";
import { createHealthCheck } from "./hot/health-check.ts";
import { defineService, type Service, type ServiceHealth } from "./service.ts";

/**
 * Makes grpc.health.v1 over `services`, each by its full name. The empty name is the server as a whole: it serves while
 * every service does. Nothing serves once `drainSignal` is aborted.
 *
 * A watcher is told of each change. When `drainSignal` is aborted, its call ends with the signal's reason, because the
 * drain would otherwise wait for it.
 *
 * Check of an unknown service is NOT_FOUND; Watch of one sends SERVICE_UNKNOWN and goes on, as the protocol demands
 * (https://github.com/grpc/grpc/blob/master/doc/health-checking.md).
 */
export function createHealth(services: readonly Service[], drainSignal: AbortSignal): Service {
  const healthOf = new Map<string, ServiceHealth>([
    ["", wholeOf(services.map(({ health }) => health))],
    ...services.map(({ descriptor, health }) => [descriptor.typeName, health] as const),
  ]);
  const isServing = (service: string): boolean => healthOf.get(service)!.isServing() && !drainSignal.aborted;
  const statusOf = (service: string): ServingStatus => {
    if (!healthOf.has(service)) return ServingStatus.SERVICE_UNKNOWN;
    return isServing(service) ? ServingStatus.SERVING : ServingStatus.NOT_SERVING;
  };
  return defineService({
    descriptor: Health,
    implementation: {
      check: ({ service }) => {
        const status = statusOf(service);
        if (status === ServingStatus.SERVICE_UNKNOWN) throw new ConnectError("unknown service", Code.NotFound);
        return { status };
      },
      list: () => ({
        statuses: Object.fromEntries([...healthOf.keys()].map((service) => [service, { status: statusOf(service) }])),
      }),
      watch: ({ service }, context) =>
        watch(() => statusOf(service), healthOf.get(service), AbortSignal.any([context.signal, drainSignal])),
    },
    hotMethods: [createHealthCheck(healthOf.keys(), isServing)],
  });
}

/** The health of several services together: they serve while each of them does. */
function wholeOf(parts: readonly ServiceHealth[]): ServiceHealth {
  return {
    isServing: () => parts.every((part) => part.isServing()),
    onChange: (listener) => {
      const unsubscribes = parts.map((part) => part.onChange(listener));
      return () => {
        for (const unsubscribe of unsubscribes) unsubscribe();
      };
    },
  };
}

async function* watch(status: () => ServingStatus, health: ServiceHealth | undefined, signal: AbortSignal) {
  let changed = Promise.withResolvers<void>();
  const unsubscribe = health?.onChange(() => changed.resolve());
  const onAbort = (): void => {
    // At once, not at the end of this function: a stream whose reader has gone may never be pulled again.
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
      // Only after the status was sent: a watcher hears the last change, NOT_SERVING, before its call ends.
      if (signal.aborted) throw signal.reason;
      await changed.promise;
      changed = Promise.withResolvers<void>();
    }
  } finally {
    unsubscribe?.();
    signal.removeEventListener("abort", onAbort);
  }
}
