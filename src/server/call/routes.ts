import type { ConnectRouter } from "@connectrpc/connect";
import { createReflection } from "../../service/reflection.ts";
import type { Service } from "../../service/service.ts";

/** Registers the services of a server, with reflection over them. */
export function createRoutes(services: readonly Service[]): (router: ConnectRouter) => void {
  const all = [...services, ...createReflection(services)];
  return (router) => {
    for (const { descriptor, implementation } of all) router.service(descriptor, implementation);
  };
}
