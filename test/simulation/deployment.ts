import type { Layout } from "../../src/snowflake/layout.ts";
import type { WorkerOptions } from "../../src/lease/worker-settings.ts";
import { SeededRandom } from "./seeded-random.ts";

/** The parts of worker settings that say which worker IDs a process may take. */
export type Binding = Pick<WorkerOptions, "datacenterId" | "workerId" | "datacenterIds" | "workerIds">;

/** How worker IDs are handed out in a deployment. */
const bindingKinds = ["datacenter-each", "store-datacenters", "store-workers", "pinned", "pinned-in-pairs"] as const;

/** How a seed's deployment differs from the plainest one. */
export interface Deployment {
  /** Whether the store has the properties of the product's store whose durability and clock it has. */
  readonly isModelled: boolean;
  /** undefined: every process takes any worker ID. */
  readonly bindings: (typeof bindingKinds)[number] | undefined;
  /** How often an operator releases a worker ID in place of its holder. */
  readonly operatorReleases: number;
  /** Whether the store once loses writes, where nothing else is lost, and nothing that it says of itself shows it. */
  readonly losesUnseen: boolean;
  /** Whether a machine that is copied has its processes' resume records on its disk. */
  readonly copiesDisks: boolean;
}

const plainest: Deployment = {
  isModelled: false,
  bindings: undefined,
  operatorReleases: 0,
  losesUnseen: false,
  copiesDisks: false,
};

/** Chosen so that the seeds of seed-mutants.ts and regression-seeds.ts keep the histories that they have without. */
const deploymentSalt = 51_881;
const deploymentShare = 0.4;

/**
 * Drawing it takes no random numbers from anything else. A story has all worker IDs for every process, and with
 * the losses that it tells of.
 */
export function drawDeployment(seed: number, tellsStory: boolean): Deployment {
  const random = new SeededRandom(seed ^ deploymentSalt);
  if (!random.chance(deploymentShare)) return plainest;
  const isModelled = random.chance(tellsStory ? 0.3 : 0.5);
  const copiesDisks = random.chance(0.7);
  if (tellsStory) return { ...plainest, isModelled, copiesDisks };
  return {
    isModelled,
    copiesDisks,
    bindings: random.chance(0.4) ? random.pick(bindingKinds) : undefined,
    operatorReleases: random.chance(0.6) ? random.between(1, 3) : 0,
    losesUnseen: random.chance(0.6),
  };
}

/** Bits of the datacenter field that the bindings need. */
export function datacenterBits({ bindings }: Deployment): number {
  return bindings === "datacenter-each" || bindings === "store-datacenters" ? 1 : 0;
}

/** The worker IDs that a process may take. */
export function bindingOf({ bindings }: Deployment, layout: Layout, processIndex: number): Binding {
  switch (bindings) {
    case "datacenter-each":
      return { datacenterId: processIndex % 2 };
    case "store-datacenters":
      return { datacenterIds: [1] };
    case "store-workers":
      return { workerIds: { first: 1, last: layout.worker.max } };
    case "pinned":
      return { workerId: processIndex % (layout.worker.max + 1) };
    case "pinned-in-pairs":
      return { workerId: (processIndex >> 1) % (layout.worker.max + 1) };
    case undefined:
      return {};
  }
}

/** First and last worker index of a binding. */
export function indexesOf(binding: Binding, layout: Layout): { readonly first: number; readonly last: number } {
  const { datacenterIds, workerIds, workerId } = binding;
  const datacenterId = binding.datacenterId ?? datacenterIds?.[0];
  if (workerIds !== undefined) return workerIds;
  if (workerId !== undefined) return { first: workerId, last: workerId };
  if (datacenterId === undefined) return { first: 0, last: layout.workerCount - 1 };
  const perDatacenter = layout.worker.max + 1;
  return { first: datacenterId * perDatacenter, last: (datacenterId + 1) * perDatacenter - 1 };
}

/** How many of the processes can serve at once. Bindings of two processes are the same, or have no ID in common. */
export function servingMax(deployment: Deployment, layout: Layout, processCount: number): number {
  const wanting = new Map<number, { readonly ids: number; processes: number }>();
  for (let index = 0; index < processCount; index += 1) {
    const { first, last } = indexesOf(bindingOf(deployment, layout, index), layout);
    const group = wanting.get(first) ?? { ids: last - first + 1, processes: 0 };
    group.processes += 1;
    wanting.set(first, group);
  }
  return [...wanting.values()].reduce((sum, { ids, processes }) => sum + Math.min(ids, processes), 0);
}
