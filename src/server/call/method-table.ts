/** The permission that a caller needs for a method. `open`: none, and no credentials either. */
type MethodAccess = Permission | "open";

/**
 * A right of a caller. `ids`: IdService. `sequences`: values of sequences, and reading their definitions. `manage`:
 * creating and changing sequences, and ClaimPast. `observe`: the rest of AdminService, reflection, `/metrics`. `all`:
 * every method.
 */
export type Permission = (typeof permissions)[number];

/** Every {@link Permission}. */
export const permissions = ["ids", "sequences", "manage", "observe", "all"] as const;

/** What the server knows about a method before any call of it. There is one object for each method. */
export interface MethodTraits {
  /** Indexes start at 0 and have no gaps, because what is counted for each method is kept in arrays. */
  readonly index: number;
  /** `/` package.Service `/` Method. */
  readonly path: string;
  readonly access: MethodAccess;
  /** Whether it answers with a stream. */
  readonly streams: boolean;
  /** Whether it hands out one ID or value. */
  readonly handsOutOne: boolean;
}

/** Every method of every service that a server can offer, by its service. A test finds the methods that are missing. */
const accessOf: Readonly<Record<string, Readonly<Record<string, MethodAccess>>>> = {
  "snowlane.v1.IdService": {
    NextId: "ids",
    NextIds: "ids",
    BatchNextIds: "ids",
    ReserveIds: "ids",
    Parse: "ids",
    GetIdRange: "ids",
    GetInfo: "ids",
  },
  "snowlane.v1.SequenceService": {
    NextValue: "sequences",
    BatchNextValues: "sequences",
    ReserveValues: "sequences",
    GetSequence: "sequences",
    ListSequences: "sequences",
    CreateSequence: "manage",
    UpdateSequence: "manage",
  },
  "snowlane.v1.AdminService": { ListWorkers: "observe", GetStatus: "observe", ClaimPast: "manage" },
  "grpc.reflection.v1.ServerReflection": { ServerReflectionInfo: "observe" },
  "grpc.reflection.v1alpha.ServerReflection": { ServerReflectionInfo: "observe" },
  "grpc.health.v1.Health": { Check: "open", List: "open", Watch: "open" },
};

const streamMethods = new Set(["BatchNextIds", "BatchNextValues", "ServerReflectionInfo", "Watch"]);

const methodsOfOne = new Set(["NextId", "NextValue"]);

const traitsByPath = new Map<string, MethodTraits>();
for (const [service, methods] of Object.entries(accessOf)) {
  for (const [method, access] of Object.entries(methods)) {
    const path = `/${service}/${method}`;
    const [streams, handsOutOne] = [streamMethods.has(method), methodsOfOne.has(method)];
    traitsByPath.set(path, { index: traitsByPath.size, path, access, streams, handsOutOne });
  }
}

/** The traits of every method that has a row. */
export const tabledMethods: readonly MethodTraits[] = [...traitsByPath.values()];

/** Gives the traits of a method by its path: always the same object. A method without a row is for `all` alone. */
export function traitsOf(path: string): MethodTraits {
  let traits = traitsByPath.get(path);
  if (traits === undefined) {
    // Bounded: only the paths of registered methods are asked for.
    traits = { index: traitsByPath.size, path, access: "all", streams: false, handsOutOne: false };
    traitsByPath.set(path, traits);
  }
  return traits;
}
