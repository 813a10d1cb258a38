import { textForms } from "../../src/text/text-form.ts";
import { firstFormat, firstHand, type FormatChoice, type GenerateState } from "./state.ts";
import type { HandParts } from "./hand-ids.ts";

/** What an address says of Generate, as it would be typed. A part that it does not name is absent. */
export interface GenerateLink extends Partial<Pick<GenerateState, "source" | "count">> {
  readonly hand: Partial<HandParts>;
  readonly format: Partial<FormatChoice>;
}

/** The text fields by their names in an address. */
const handFields = { time: "time", datacenter: "datacenterId", worker: "workerId", sequence: "sequence" } as const;
const formatFields = { prefix: "serialPrefix", offset: "utcOffset", type: "typePrefix" } as const;

/** Writes what was chosen on Generate, unless the view begins with it. Never a token (docs/adr/0211). */
export function writeGenerate(parameters: URLSearchParams, { source, count, format, hand }: GenerateState): void {
  const write = (name: string, value: string, first: string): void => {
    if (value !== first) parameters.set(name, value);
  };
  write("from", source, "server");
  write("count", source === "hand" ? hand.count : count, firstHand.count);
  write("form", format.form, firstFormat.form);
  for (const [name, key] of Object.entries(formatFields)) write(name, format[key], firstFormat[key]);
  write("check", String(format.checkSymbol), String(firstFormat.checkSymbol));
  if (source === "hand") for (const [name, key] of Object.entries(handFields)) write(name, hand[key], firstHand[key]);
}

/** Reads what an address says of Generate; `broken` where it names something that there is not. */
export function readGenerate(parameters: URLSearchParams): GenerateLink | "broken" {
  const from = parameters.get("from") ?? undefined;
  const count = parameters.get("count") ?? undefined;
  const named = parameters.get("form") ?? undefined;
  const form = textForms.find((known) => known === named);
  if ((named !== undefined && form === undefined) || (from !== undefined && from !== "hand")) return "broken";
  const check = parameters.get("check");
  const counted = count === undefined ? {} : { count };
  return {
    ...(from === "hand" ? { source: "hand" as const } : counted),
    hand: { ...typedIn(parameters, handFields), ...(from === "hand" ? counted : {}) },
    format: {
      ...typedIn(parameters, formatFields),
      ...(form === undefined ? {} : { form }),
      ...(check === null ? {} : { checkSymbol: check === "true" }),
    },
  };
}

/** The text fields that an address names. */
function typedIn<Key extends string>(
  parameters: URLSearchParams,
  fields: Readonly<Record<string, Key>>,
): Partial<Record<Key, string>> {
  const typed: Partial<Record<Key, string>> = {};
  for (const [name, key] of Object.entries(fields)) {
    const value = parameters.get(name);
    if (value !== null) typed[key] = value;
  }
  return typed;
}

/** The state of Generate with what an address says of it. */
export function withLink(generate: GenerateState, { hand, format, ...parts }: GenerateLink): GenerateState {
  return { ...generate, ...parts, hand: { ...generate.hand, ...hand }, format: { ...generate.format, ...format } };
}
