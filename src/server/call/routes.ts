import type { ConnectRouter } from "@connectrpc/connect";
import { createHealth } from "../../service/health.ts";
import { createReflection } from "../../service/reflection.ts";
import type { Service } from "../../service/service.ts";

/**
 * Registers the services of a server, with health and reflection over them.
 *
 * @param drainSignal - Aborted when the server begins to stop: health then says NOT_SERVING for all of them.
 */
export function createRoutes(services: readonly Service[], drainSignal: AbortSignal): (router: ConnectRouter) => void {
  const withHealth = [...services, createHealth(services, drainSignal)];
  const all = [...withHealth, ...createReflection(withHealth)];
  return (router) => {
    for (const { descriptor, implementation } of all) router.service(descriptor, implementation);
  };
}
