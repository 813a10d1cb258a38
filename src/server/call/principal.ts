import type { Allowance } from "../../queue/allowance.ts";
import type { Permission } from "./method-table.ts";

/** A caller that the operator named. */
export interface Principal {
  readonly name: string;
  readonly permissions: ReadonlySet<Permission>;
  /** What it may still take, and what it was handed out. */
  readonly allowance: Allowance;
}
