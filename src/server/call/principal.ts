import type { Allowance } from "../../queue/allowance.ts";
import type { Permission } from "./method-table.ts";

/** A caller that the operator named. */
export interface Principal {
  readonly name: string;
  readonly permissions: ReadonlySet<Permission>;
  /** Its quotas, and how many IDs and values were handed out to it. */
  readonly allowance: Allowance;
}
