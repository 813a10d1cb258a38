import { IdError } from "../../src/errors.ts";
import { createLayout, type Layout, type LayoutFieldKind, layoutFieldKinds } from "../../src/snowflake/layout.ts";
import { layouts, type PresetName, presetLayout } from "../../src/snowflake/presets.ts";
import { createTextCodec, type TextCodec } from "../../src/text/text-codec.ts";
import { readTimeMs } from "./time-words.ts";

/** One field of a custom layout, as it is typed. */
export interface TypedField {
  readonly kind: LayoutFieldKind;
  readonly bits: string;
}

/** The layout that the reader chose, as it is typed: it may be wrong. */
export interface LayoutChoice {
  /** `server`: the one that the server issues by; Twitter's as long as it is not known. */
  readonly name: "server" | PresetName | "custom";
  /** Both empty: the preset's own. Each follows the other; the one that cannot be read leaves the other as it was. */
  readonly epochDate: string;
  readonly epochMs: string;
  /** The two below are those of a custom layout, and idle otherwise. */
  readonly tickNs: number;
  readonly fields: readonly TypedField[];
}

/** A wrong part of a choice: which control it belongs to, and the reason for the texts. */
export type LayoutProblem =
  | { readonly at: "epoch"; readonly kind: "unreadable" | "future" | "range" }
  | { readonly at: "fields"; readonly kind: "bits" | "sum" | "identity" | "timestamp"; readonly bits: number };

/** A choice with the layout that it means; of a wrong choice, the layout without its wrong part. */
export interface ResolvedLayout {
  readonly layout: Layout;
  readonly problem: LayoutProblem | undefined;
}

/** The choice at the beginning. */
export const firstChoice: LayoutChoice = {
  name: "server",
  epochDate: "",
  epochMs: "",
  tickNs: layouts.twitter.tickNs,
  fields: typedFieldsOf(layouts.twitter),
};

/** The fields of a layout, with those that it has none of at 0 bits, so that they can be given some. */
export function typedFieldsOf({ fields }: Layout): readonly TypedField[] {
  const missing = layoutFieldKinds.filter((kind) => fields.every((field) => field.kind !== kind));
  return [
    ...fields.map(({ kind, bits }) => ({ kind, bits: String(bits) })),
    ...missing.map((kind) => ({ kind, bits: "0" })),
  ];
}

/** Takes an epoch that was typed as a date; the milliseconds follow where it can be read. */
export function withEpochDate(choice: LayoutChoice, epochDate: string): LayoutChoice {
  const ms = readTimeMs(epochDate);
  return { ...choice, epochDate, epochMs: epochDate === "" ? "" : ms === undefined ? choice.epochMs : String(ms) };
}

/** Takes an epoch that was typed in milliseconds; the date follows where it can be read. */
export function withEpochMs(choice: LayoutChoice, epochMs: string): LayoutChoice {
  const ms = readWhole(epochMs);
  const date = new Date(ms ?? Number.NaN);
  const isDate = !Number.isNaN(date.getTime());
  return { ...choice, epochMs, epochDate: epochMs === "" ? "" : isDate ? date.toISOString() : choice.epochDate };
}

let last: { readonly choice: LayoutChoice; readonly ofServer: Layout | undefined; readonly resolved: ResolvedLayout };

/** Gives the layout of a choice. The same choice gives the same object, so that what is derived from it can be kept. */
export function resolveLayout(choice: LayoutChoice, ofServer: Layout | undefined): ResolvedLayout {
  if (last?.choice === choice && last.ofServer === ofServer) return last.resolved;
  last = { choice, ofServer, resolved: resolve(choice, ofServer) };
  return last.resolved;
}

function resolve(choice: LayoutChoice, ofServer: Layout | undefined): ResolvedLayout {
  const named = choice.name === "server" ? (ofServer ?? layouts.twitter) : choice.name;
  const base =
    named === "custom" ? resolveCustom(choice) : { layout: typeof named === "string" ? presetLayout(named) : named };
  if (choice.epochDate === "" && choice.epochMs === "") return { problem: undefined, ...base };
  const epochMs = readWhole(choice.epochMs);
  const fromDate = readTimeMs(choice.epochDate);
  if (epochMs === undefined || fromDate === undefined || fromDate !== epochMs)
    return { ...base, problem: { at: "epoch", kind: "unreadable" } };
  if (epochMs > Date.now()) return { ...base, problem: { at: "epoch", kind: "future" } };
  try {
    return { problem: undefined, ...base, layout: createLayout({ ...base.layout, name: "custom", epochMs }) };
  } catch {
    return { ...base, problem: { at: "epoch", kind: "range" } };
  }
}

function resolveCustom({ fields, tickNs }: LayoutChoice): {
  readonly layout: Layout;
  readonly problem?: LayoutProblem;
} {
  const widths = fields.map(({ kind, bits }) => ({ kind, bits: readWhole(bits) ?? -1 }));
  const refuse = (kind: Extract<LayoutProblem, { at: "fields" }>["kind"], bits: number) =>
    ({ layout: layouts.twitter, problem: { at: "fields", kind, bits } }) as const;
  const wrong = widths.find(({ kind, bits }) => bits < 0 || bits > (kind === "timestamp" ? 62 : 32));
  if (wrong !== undefined) return refuse("bits", wrong.bits);
  const used = widths.filter(({ bits }) => bits > 0);
  const sum = used.reduce((total, { bits }) => total + bits, 0);
  if (sum > 63) return refuse("sum", sum);
  if (used.every(({ kind }) => kind !== "timestamp")) return refuse("timestamp", 0);
  try {
    return { layout: createLayout({ name: "custom", epochMs: layouts.twitter.epochMs, tickNs, fields: used }) };
  } catch (error) {
    // The one rule that is left: datacenter and worker together.
    return refuse("identity", error instanceof IdError ? Number(error.metadata["bits"]) : 0);
  }
}

/** Reads a whole number, with a sign if need be; undefined for anything else. */
export function readWhole(text: string): number | undefined {
  const number = /^-?\d{1,15}$/.test(text.trim()) ? Number(text) : Number.NaN;
  return Number.isSafeInteger(number) ? number : undefined;
}

const codecs = new WeakMap<Layout, TextCodec>();

/** The text forms of a layout, in the namespace that a server has by default: no call tells a server's namespace. */
export function codecOf(layout: Layout): TextCodec {
  const codec = codecs.get(layout) ?? createTextCodec({ layout, namespace: "default" });
  codecs.set(layout, codec);
  return codec;
}
