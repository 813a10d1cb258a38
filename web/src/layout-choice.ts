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

/** A text field of a choice: one of its epoch, or the bits of a field. */
export type LayoutControl = "epochDate" | "epochMs" | LayoutFieldKind;

/** A wrong part of a choice: the text fields that it concerns, at least one, and the reason for the texts. */
export interface LayoutProblem {
  readonly controls: readonly LayoutControl[];
  readonly kind: "date" | "milliseconds" | "future" | "range" | "bits" | "sum" | "identity" | "timestamp";
  /** The sum of `sum` and `identity`; 0 otherwise. */
  readonly bits: number;
}

/** A choice with the layout that it means; of a wrong choice, the layout without its wrong parts. */
export interface ResolvedLayout {
  readonly layout: Layout;
  /** Empty if the choice is right. At most one for each text field. */
  readonly problems: readonly LayoutProblem[];
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
    named === "custom"
      ? resolveCustom(choice)
      : { layout: typeof named === "string" ? presetLayout(named) : named, problems: [] };
  const { layout, problems } = base;
  if (choice.epochDate === "" && choice.epochMs === "") return base;
  const epochMs = readWhole(choice.epochMs);
  const wrong = wrongEpochTexts(choice, epochMs);
  if (epochMs === undefined || wrong.length > 0) return { layout, problems: [...problems, ...wrong] };
  const refuse = (kind: "future" | "range"): ResolvedLayout => ({
    layout,
    problems: [...problems, { controls: ["epochDate", "epochMs"], kind, bits: 0 }],
  });
  if (epochMs > Date.now()) return refuse("future");
  try {
    return { layout: createLayout({ ...layout, name: "custom", epochMs }), problems };
  } catch {
    return refuse("range");
  }
}

/** Which of the two texts of an epoch cannot be read. One that is empty waits for the other. */
function wrongEpochTexts(choice: LayoutChoice, epochMs: number | undefined): readonly LayoutProblem[] {
  // Milliseconds may lead to a date of a year that nobody can type: that text is ours, and not what is wrong.
  const isOurs = epochMs !== undefined && withEpochMs(choice, choice.epochMs).epochDate === choice.epochDate;
  const isDate = choice.epochDate === "" || isOurs || readTimeMs(choice.epochDate) !== undefined;
  const isMs = choice.epochMs === "" || epochMs !== undefined;
  return [
    ...(isDate ? [] : [{ controls: ["epochDate"], kind: "date", bits: 0 } as const]),
    ...(isMs ? [] : [{ controls: ["epochMs"], kind: "milliseconds", bits: 0 } as const]),
  ];
}

function resolveCustom({ fields, tickNs }: LayoutChoice): ResolvedLayout {
  const widths = fields.map(({ kind, bits }) => ({ kind, bits: readWhole(bits) ?? -1 }));
  const wrong = widths.filter(({ kind, bits }) => bits < 0 || bits > (kind === "timestamp" ? 62 : 32));
  if (wrong.length > 0) {
    return refused(wrong.map(({ kind }) => ({ controls: [kind], kind: "bits", bits: 0 })));
  }
  const used = widths.filter(({ bits }) => bits > 0);
  const sum = used.reduce((total, { bits }) => total + bits, 0);
  if (sum > 63) return refused([{ controls: widths.map(({ kind }) => kind), kind: "sum", bits: sum }]);
  if (used.every(({ kind }) => kind !== "timestamp"))
    return refused([{ controls: ["timestamp"], kind: "timestamp", bits: 0 }]);
  try {
    const layout = createLayout({ name: "custom", epochMs: layouts.twitter.epochMs, tickNs, fields: used });
    return { layout, problems: [] };
  } catch (error) {
    // The one rule that is left: datacenter and worker together.
    const bits = error instanceof IdError ? Number(error.metadata["bits"]) : 0;
    return refused([{ controls: ["datacenter", "worker"], kind: "identity", bits }]);
  }
}

/** Fields that make no layout are read by Twitter's meanwhile. */
function refused(problems: readonly LayoutProblem[]): ResolvedLayout {
  return { layout: layouts.twitter, problems };
}

/** Reads a whole number, with a sign and commas between groups of three if need be; undefined for anything else. */
export function readWhole(text: string): number | undefined {
  const digits = /^-?\d{1,3}(?:,\d{3})+$/.test(text.trim()) ? text.replaceAll(",", "") : text;
  const number = /^-?\d{1,15}$/.test(digits.trim()) ? Number(digits) : Number.NaN;
  return Number.isSafeInteger(number) ? number : undefined;
}

const codecs = new WeakMap<Layout, TextCodec>();

/** The text forms of a layout, in the namespace that a server has by default: no call tells a server's namespace. */
export function codecOf(layout: Layout): TextCodec {
  const codec = codecs.get(layout) ?? createTextCodec({ layout, namespace: "default" });
  codecs.set(layout, codec);
  return codec;
}
