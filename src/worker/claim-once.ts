import { ClockJudge } from "../clock/clock-judge.ts";
import { UnchangedRecords } from "../lease/candidates.ts";
import { type ClaimAnswer, claimPast, type PastRequest } from "../lease/claim-past.ts";
import { ObservedStore } from "../lease/observed-store.ts";
import { HighestMark, type ProtocolContext } from "../lease/protocol-context.ts";
import { StoreChanges } from "../lease/store-changes.ts";
import { UnusedGrants } from "../lease/unused-grants.ts";
import type { WorkerPorts } from "../lease/worker-ports.ts";
import type { WorkerSettings } from "../lease/worker-settings.ts";
import type { RecordStore } from "../store/record-store.ts";

/** The store and the settings of a claim by a process that holds no worker ID. */
export interface ClaimParts {
  /** The store in which the past is claimed. */
  readonly store: RecordStore;
  /** The namespace, the layout and the worker IDs that may be claimed. */
  readonly settings: WorkerSettings;
  /** The clocks and the randomness of the claim, and where it reports. */
  readonly ports: WorkerPorts;
}

/** Claims the past once, as a process that holds no worker ID and remembers nothing. Writes no resume record. */
export async function claimOnce({ store, settings, ports }: ClaimParts, request: PastRequest): Promise<ClaimAnswer> {
  const judge = new ClockJudge(ports);
  const storeChanges = new StoreChanges();
  const observed = new ObservedStore(store, judge, {
    onMoment: ({ incarnation }) => storeChanges.see(incarnation.identity),
    onOlderPosition: () => storeChanges.regressed(),
    onProblem: () => {},
    onRecovery: () => {},
  });
  const context: ProtocolContext = {
    store: observed,
    settings,
    ports,
    judge,
    unchanged: new UnchangedRecords(),
    used: new Map(),
    unused: new UnusedGrants(),
    marks: new HighestMark(),
    storeChanges,
  };
  return await claimPast(context, request, { layout: undefined, deploymentId: undefined });
}
