/** L: the record of what everyone in a namespace must agree on. */
import type { LayoutField } from "../../snowflake/layout.ts";
import type { AddedFields } from "./added-fields.ts";
import { encodeRecord } from "./record-text.ts";

/** A range of worker IDs, both ends inclusive. */
export interface WorkerIdRange {
  readonly first: number;
  readonly last: number;
}

/** L: what everyone in a namespace must agree on. Written once; any difference is refused. */
export interface LayoutRecord {
  /**
   * 128 random bits drawn when the record was written, as 32 hex digits: distinguishes deployments that look alike.
   * docs/adr/0012 says why it is random.
   */
  readonly deploymentId: string;
  readonly namespace: string;
  readonly epochMs: number;
  readonly tickNs: number;
  /** From the top bit down. */
  readonly fields: readonly LayoutField[];
  /** Datacenter IDs that this store may hand out, rising; `all` where it is bound to none. */
  readonly datacenterIds: readonly number[] | "all";
  /** Worker IDs that this store may hand out, where the layout has no datacenters; `all` where it is bound to none. */
  readonly workerIds: WorkerIdRange | "all";
  /** The longest window that a process of this namespace may reserve. */
  readonly windowMaxMs: number;
  /** A: the most that a timestamp may lead the wall clock. */
  readonly leadMaxMs: number;
  /**
   * None of these changes IDs: a field that does comes with a higher format version, and this version then refuses to
   * start.
   */
  readonly added: AddedFields;
}

/** Text of L. */
export function encodeLayoutRecord(record: LayoutRecord): string {
  return encodeRecord(record);
}
