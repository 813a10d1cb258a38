import { Code, ConnectError } from "@connectrpc/connect";
import { Health, HealthCheckResponse_ServingStatus as ServingStatus } from "../gen/grpc/health/v1/health_pb.ts";
import { HealthBoard, type ServiceHealth } from "./hot/health-board.ts";
import { createHealthCheck } from "./hot/health-check.ts";
import { createHealthWatch } from "./hot/health-watch.ts";
import { defineService, type Service } from "./service.ts";

/**
 * Makes grpc.health.v1 over the services of a board, each by its full name. The empty name is the server as a whole: it
 * serves while every service does. Nothing serves once the board's drain has begun.
 *
 * A watcher receives each change. When the drain begins, its call ends with the signal's reason, because the drain
 * would otherwise wait for it.
 *
 * Check of an unknown service is NOT_FOUND; Watch of one sends SERVICE_UNKNOWN and goes on, as the protocol demands
 * (https://github.com/grpc/grpc/blob/master/doc/health-checking.md).
 */
export function createHealth(board: HealthBoard): Service {
  return defineService({
    descriptor: Health,
    implementation: {
      check: ({ service }) => {
        const status = board.statusOf(service);
        if (status === ServingStatus.SERVICE_UNKNOWN) throw new ConnectError("unknown service", Code.NotFound);
        return { status };
      },
      list: () => ({
        statuses: Object.fromEntries(
          [...board.services].map((service) => [service, { status: board.statusOf(service) }]),
        ),
      }),
      watch: ({ service }, context) => watch(board, service, context.signal),
    },
    hotMethods: [createHealthCheck(board.services, (service) => board.isServing(service)), createHealthWatch(board)],
  });
}

/** Makes the board of services. @param drainSignal - Nothing serves once it is aborted. */
export function createHealthBoard(services: readonly Service[], drainSignal: AbortSignal): HealthBoard {
  return new HealthBoard(
    new Map<string, ServiceHealth>([
      ["", wholeOf(services.map(({ health }) => health))],
      ...services.map(({ descriptor, health }) => [descriptor.typeName, health] as const),
    ]),
    drainSignal,
  );
}

/**
 * The health of several services together: they serve while each of them does. Each of them reports its own changes.
 */
function wholeOf(parts: readonly ServiceHealth[]): ServiceHealth {
  return { isServing: () => parts.every((part) => part.isServing()), onChange: () => () => undefined };
}

/** Watch for a request that is not plain. */
async function* watch(board: HealthBoard, service: string, signal: AbortSignal) {
  let changed = Promise.withResolvers<void>();
  const watcher = { onChange: () => changed.resolve() };
  const onAbort = (): void => {
    // Removed at once, not at the end of this function: a stream whose reader has gone may never be pulled again.
    board.delete(watcher);
    changed.resolve();
  };
  board.add(watcher);
  signal.addEventListener("abort", onAbort);
  try {
    let sent: ServingStatus | undefined;
    for (;;) {
      const current = board.statusOf(service);
      if (current !== sent) {
        sent = current;
        yield { status: current };
        continue;
      }
      // Only after the status was sent, so that a watcher receives the last change, NOT_SERVING, before its call ends.
      signal.throwIfAborted();
      board.drainSignal.throwIfAborted();
      await changed.promise;
      changed = Promise.withResolvers<void>();
    }
  } finally {
    board.delete(watcher);
    signal.removeEventListener("abort", onAbort);
  }
}
