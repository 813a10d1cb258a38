import type { DescService } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import type { ServiceHealth } from "./hot/health-board.ts";
import type { HotMethod } from "./hot/hot-method.ts";

/** A service of a server: routes, health, reflection and the hot path are made from a list of these. */
export interface Service {
  /** Its name and its methods, from the protos. */
  readonly descriptor: DescService;
  /** Answers every method of the descriptor. {@link defineService} has checked that it matches the descriptor. */
  readonly implementation: ServiceImpl<DescService>;
  /** Whether it serves now, for grpc.health.v1. */
  readonly health: ServiceHealth;
  /** Those of its methods that are also answered on bytes. */
  readonly hotMethods: readonly HotMethod[];
}

/** The input of {@link defineService}. */
export interface ServiceDefinition<D extends DescService> {
  /** Its name and its methods, from the protos. */
  readonly descriptor: D;
  /** A function for each method of the descriptor. */
  readonly implementation: ServiceImpl<D>;
  /** Default: it serves for as long as the server does. */
  readonly health?: ServiceHealth;
  /** Default: none. */
  readonly hotMethods?: readonly HotMethod[];
}

const alwaysServing: ServiceHealth = { isServing: () => true, onChange: () => () => undefined };

/** Makes a service from its parts; the implementation must match the descriptor. */
export function defineService<D extends DescService>(definition: ServiceDefinition<D>): Service {
  const { descriptor, health = alwaysServing, hotMethods = [] } = definition;
  // The type of the descriptor is dropped, because a list holds services of different descriptors.
  const implementation = definition.implementation as ServiceImpl<DescService>;
  return { descriptor, implementation, health, hotMethods };
}
