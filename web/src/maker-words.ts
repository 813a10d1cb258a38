import { makersFieldName } from "../../src/snowflake/field-names.ts";
import type { ParsedId } from "../../src/snowflake/parse.ts";
import type { Texts } from "./texts/en.ts";

/** By which worker an ID was made, in the names of its layout's maker. */
export function madeBy({ layout, datacenterId, workerId, sequence }: ParsedId, texts: Texts): string {
  if (makersFieldName(layout.name, "worker") !== undefined) {
    const values = { datacenter: datacenterId, worker: workerId, sequence };
    return (["datacenter", "worker", "sequence"] as const)
      .flatMap((kind) =>
        values[kind] === undefined
          ? []
          : `${makersFieldName(layout.name, kind) ?? texts.fields[kind]} ${texts.number(values[kind])}`,
      )
      .join(", ");
  }
  return texts.parse.madeBy(datacenterId, workerId, sequence);
}
