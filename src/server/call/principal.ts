import type { Permission } from "./method-table.ts";

/** A caller that the operator named. */
export interface Principal {
  readonly name: string;
  readonly permissions: ReadonlySet<Permission>;
}
