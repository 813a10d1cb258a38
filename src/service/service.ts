import type { DescService } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import type { ServiceHealth } from "./hot/health-board.ts";
import type { HotMethod } from "./hot/hot-method.ts";

/** The parts of a service that a server needs: routes, health, reflection and the hot path are made from a list. */
export interface Service {
  readonly descriptor: DescService;
  /** Answers every method of the descriptor. {@link defineService} has checked that the two fit. */
  readonly implementation: ServiceImpl<DescService>;
  readonly health: ServiceHealth;
  /** Those of its methods that are also answered on bytes. */
  readonly hotMethods: readonly HotMethod[];
}

/** The parts of a service. */
export interface ServiceDefinition<D extends DescService> {
  readonly descriptor: D;
  readonly implementation: ServiceImpl<D>;
  /** Default: it serves for as long as the server does. */
  readonly health?: ServiceHealth;
  /** Default: none. */
  readonly hotMethods?: readonly HotMethod[];
}

const alwaysServing: ServiceHealth = { isServing: () => true, onChange: () => () => undefined };

/** Makes a service of its parts, of which the implementation must fit the descriptor. */
export function defineService<D extends DescService>(definition: ServiceDefinition<D>): Service {
  const { descriptor, health = alwaysServing, hotMethods = [] } = definition;
  // A list of services holds them as services of any descriptor.
  const implementation = definition.implementation as ServiceImpl<DescService>;
  return { descriptor, implementation, health, hotMethods };
}
