import { type Layout, layoutFieldKinds } from "../../src/snowflake/layout.ts";
import { layouts, presetNames } from "../../src/snowflake/presets.ts";
import { type GenerateLink, readGenerate, writeGenerate } from "./generate-link.ts";
import {
  firstChoice,
  type LayoutChoice,
  readWhole,
  resolveLayout,
  typedFieldsOf,
  withEpochMs,
} from "./layout-choice.ts";
import { type GenerateState, type View, views } from "./state.ts";

/** The part of an address behind `#`: it is never sent to a server. */
export interface Route {
  readonly view: View;
  /** IDs to parse; undefined where the address has none. */
  readonly text: string | undefined;
  /** Which of the IDs is shown: an index, 0 where the address has none. */
  readonly at: number;
  readonly layout: LayoutChoice | undefined;
  /** Undefined where another view is named. */
  readonly generate: GenerateLink | undefined;
  /** The run that Proof shows; empty where the address has none. */
  readonly proofLink: string;
  /** Whether the address has parts that cannot be read. */
  readonly link: "fine" | "broken";
}

/** Reads the fragment of an address, whatever it holds; the view is Parse where it names none. */
export function readRoute(fragment: string): Route {
  const [, path = "", query = ""] = /^#?\/?([^?]*)\??([\s\S]*)$/.exec(fragment) ?? [];
  const view = views.find((known) => known === path);
  const parameters = new URLSearchParams(query);
  const text = parameters.get("id") ?? undefined;
  const at = readWhole(parameters.get("at") ?? "") ?? 1;
  const layout = readLayout(parameters);
  const generate = view === "generate" ? readGenerate(parameters) : undefined;
  const isBroken = layout === "broken" || generate === "broken" || (view === undefined && path !== "");
  return {
    view: view ?? "parse",
    text,
    at: Math.max(at - 1, 0),
    layout: layout === "broken" ? undefined : layout,
    generate: generate === "broken" ? undefined : generate,
    proofLink: view === "proof" ? query : "",
    link: isBroken ? "broken" : "fine",
  };
}

function readLayout(parameters: URLSearchParams): LayoutChoice | undefined | "broken" {
  const wanted = parameters.get("layout");
  if (wanted === null) return undefined;
  const name = ["custom" as const, ...presetNames].find((known) => known === wanted);
  const epoch = parameters.get("epoch") ?? "";
  if (name === undefined || (epoch !== "" && readWhole(epoch) === undefined)) return "broken";
  const choice = withEpochMs({ ...firstChoice, name }, epoch);
  if (name !== "custom") return possible(choice);
  const fields = (parameters.get("fields") ?? "").split(",").map((part) => part.split("."));
  const typed = fields.flatMap(([kind, bits = ""]) => {
    const known = layoutFieldKinds.find((one) => one === kind);
    return known === undefined || readWhole(bits) === undefined ? [] : [{ kind: known, bits }];
  });
  const tickNs = readWhole(parameters.get("tick") ?? "");
  if (typed.length !== fields.length || tickNs === undefined || tickNs <= 0) return "broken";
  const missing = layoutFieldKinds.filter((kind) => typed.every((field) => field.kind !== kind));
  return possible({ ...choice, tickNs, fields: [...typed, ...missing.map((kind) => ({ kind, bits: "0" }))] });
}

/** A layout that cannot be, such as one of 64 bits, is a part of a link that cannot be read. */
function possible(choice: LayoutChoice): LayoutChoice | "broken" {
  return resolveLayout(choice, undefined).problems.length === 0 ? choice : "broken";
}

/** The longest fragment that is written (docs/adr/0211): some programs cut longer addresses. */
export const fragmentMax = 2_000;

/** Writes the fragment that shows IDs read by a layout; without one, each is read by the layout that is likeliest. */
export function writeLink(text: string, layout: Layout | undefined, at = 0): string {
  const parameters = new URLSearchParams();
  if (text !== "") parameters.set("id", text);
  if (at > 0) parameters.set("at", String(at + 1));
  if (layout !== undefined) writeLayout(parameters, layout);
  return fragmentOf("parse", parameters);
}

/** Writes the fragment that shows Learn with a layout; without one, with the server's. */
export function writeLearnLink(layout: Layout | undefined): string {
  const parameters = new URLSearchParams();
  if (layout !== undefined) writeLayout(parameters, layout);
  return fragmentOf("learn", parameters);
}

/** Writes the fragment that shows Generate with all that was chosen on it. */
export function writeGenerateLink(generate: GenerateState, layout: Layout | undefined): string {
  const parameters = new URLSearchParams();
  writeGenerate(parameters, generate);
  if (layout !== undefined) writeLayout(parameters, layout);
  return fragmentOf("generate", parameters);
}

function fragmentOf(view: View, parameters: URLSearchParams): string {
  const query = parameters.toString();
  return query === "" ? `#/${view}` : `#/${view}?${query}`;
}

function writeLayout(parameters: URLSearchParams, layout: Layout): void {
  const preset = presetNames.find((name) => isSameFields(layouts[name], layout));
  parameters.set("layout", preset ?? "custom");
  if (preset === undefined || layouts[preset].epochMs !== layout.epochMs) {
    parameters.set("epoch", String(layout.epochMs));
  }
  if (preset === undefined) {
    const fields = typedFieldsOf(layout).filter(({ bits }) => bits !== "0");
    parameters.set("fields", fields.map(({ kind, bits }) => `${kind}.${bits}`).join(","));
    parameters.set("tick", String(layout.tickNs));
  }
}

/** The presets whose epoch is the same come first, because {@link presetNames} has them in that order. */
function isSameFields(preset: Layout, layout: Layout): boolean {
  const isNamed = preset.name === layout.name || layout.name === "custom";
  return isNamed && preset.tickNs === layout.tickNs && JSON.stringify(preset.fields) === JSON.stringify(layout.fields);
}
