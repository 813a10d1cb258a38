import { equals } from "@bufbuild/protobuf";
import { type GetInfoResponse, LayoutSchema, type WorkerBinding } from "../../../src/gen/snowlane/v1/id_service_pb.ts";
import { createDeploymentNumber } from "../../../src/service/deployment-number.ts";
import { SnowlaneError } from "./errors.ts";

/** A server, and the number of its deployment. */
export interface MetServer {
  readonly url: string;
  /** Never 0. */
  readonly number: number;
  /** The server's description of itself, if it was asked. */
  readonly info: GetInfoResponse | undefined;
}

/** Returns the number of the deployment with a fingerprint, as answers carry it; 0 for an empty fingerprint. */
export function deploymentNumber(fingerprint: string): number {
  return createDeploymentNumber(() => fingerprint)();
}

/** The kind of thing that a number identifies, in texts and in metadata. */
const nouns = {
  deployment: { name: "deployment", items: "IDs" },
  database: { name: "database of sequences", items: "values" },
} as const;

/**
 * The deployments whose IDs a client uses: the first that it meets, and others whose IDs certainly differ from those of
 * the first. Of databases of sequences, a client uses only the first (docs/adr/0227). Attempts 14 of
 * docs/internals/client-contract.md has the rule.
 */
export class Deployments {
  /** The deployments that the option lists: these and no others may be used. */
  readonly #listed: ReadonlySet<number> | undefined;
  /** The first server of each number in use. */
  readonly #used = new Map<number, MetServer>();
  readonly #noun: keyof typeof nouns;
  #current = 0;
  #conflict: SnowlaneError | undefined;

  /** @param fingerprints - The deployments that the option lists; undefined: the first one that is met. */
  constructor(fingerprints: readonly string[] | undefined, noun: keyof typeof nouns = "deployment") {
    this.#noun = noun;
    this.#listed = fingerprints && new Set(fingerprints.map(deploymentNumber));
  }

  /** The number in the last answer; 0 before the first one that has a number. */
  get current(): number {
    return this.#current;
  }

  /** Two deployments were met before the first ID. @throws SnowlaneError DEPLOYMENT_MISMATCH. */
  checkConflict(): void {
    if (this.#conflict !== undefined) throw this.#conflict;
  }

  /**
   * Adds a server that was met before the first ID. No call gets an ID if the deployments of two such servers must not
   * be mixed.
   *
   * @returns Whether its deployment may be mixed with those before.
   */
  meetAtStart(server: MetServer): boolean {
    const goesTogether = this.#join(server);
    if (!goesTogether) this.#conflict ??= this.#mismatch(server);
    return goesTogether;
  }

  /** Whether an answer with this number may be used as it is. */
  knows(number: number): boolean {
    return number === 0 || this.#used.has(number);
  }

  /**
   * Checks an answer's number, before any ID of it is read.
   *
   * @throws SnowlaneError DEPLOYMENT_MISMATCH: it must be dropped whole.
   */
  admit(server: MetServer): void {
    this.checkConflict();
    if (!this.#join(server)) throw this.#mismatch(server);
    this.#current = server.number;
  }

  #join(server: MetServer): boolean {
    const { number } = server;
    if (this.#used.has(number)) return true;
    const goesTogether =
      this.#listed?.has(number) ?? [...this.#used.values()].every((used) => areDisjoint(used.info, server.info));
    if (goesTogether) this.#used.set(number, server);
    return goesTogether;
  }

  #mismatch({ url, number }: MetServer): SnowlaneError {
    const [first] = this.#used.values();
    const [deployment, expected] = [hexOf(number), [...(this.#listed ?? [first?.number ?? 0])].map(hexOf).join(", ")];
    const inUse = first === undefined ? expected : `${expected}, first at ${first.url}`;
    const { name, items } = nouns[this.#noun];
    const message =
      `This server is of another ${name} (${deployment}) than the one in use (${inUse}): their ${items} can be equal. ` +
      "Correct the endpoints, or restart this process if the change is meant.";
    const metadata = {
      [this.#noun]: deployment,
      [`expected_${this.#noun}`]: expected,
      ...(first && { endpoint_first: first.url }),
    };
    return new SnowlaneError("DEPLOYMENT_MISMATCH", message, { code: "FAILED_PRECONDITION", metadata, endpoint: url });
  }
}

function hexOf(number: number): string {
  return number.toString(16).padStart(8, "0");
}

/** Whether two stores of one layout are bound to different worker IDs, so that their IDs differ. */
function areDisjoint(a: GetInfoResponse | undefined, b: GetInfoResponse | undefined): boolean {
  if (a?.layout === undefined || b?.layout === undefined || !equals(LayoutSchema, a.layout, b.layout)) return false;
  return a.binding !== undefined && b.binding !== undefined && areBindingsDisjoint(a.binding, b.binding);
}

function areBindingsDisjoint(a: WorkerBinding, b: WorkerBinding): boolean {
  if (a.workerIds !== undefined && b.workerIds !== undefined)
    return a.workerIds.last < b.workerIds.first || b.workerIds.last < a.workerIds.first;
  const isBound = a.datacenterIds.length > 0 && b.datacenterIds.length > 0;
  return isBound && !a.datacenterIds.some((id) => b.datacenterIds.includes(id));
}
