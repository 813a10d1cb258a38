import type { Layout, LayoutFieldKind } from "../../src/snowflake/layout.ts";
import type { SampleLanguage } from "./layout-samples.ts";

/** The parts of an ID by hand. */
interface SampledParts {
  /** Unix milliseconds. */
  readonly timeMs: number;
  readonly datacenterId: number;
  readonly workerId: number;
  readonly sequence: number;
}

/** How a language writes the one expression that makes an ID. */
interface Notation {
  readonly begin: string;
  readonly end: string;
  readonly number: (value: number) => string;
  readonly divide: (value: string, by: string) => string;
}

const plain: Notation = { begin: "id =", end: "", number: String, divide: (value, by) => `${value} / ${by}` };
const long = (value: number): string => `${value}L`;

const notations: Readonly<Record<SampleLanguage, Notation>> = {
  javascript: { ...plain, begin: "const id =", end: ";", number: (value) => `${value}n` },
  python: { ...plain, begin: "id = (", end: "\n)", divide: (value, by) => `${value} // ${by}` },
  java: { ...plain, begin: "long id =", end: ";", number: long },
  // Without a type, a constant of Go is an int, which has 32 bits on small machines.
  go: { ...plain, begin: "var id int64 =" },
  ruby: plain,
  php: { ...plain, begin: "$id =", end: ";", divide: (value, by) => `intdiv(${value}, ${by})` },
  csharp: { ...plain, begin: "long id =", end: ";", number: long },
  rust: { ...plain, begin: "let id: i64 =", end: ";" },
};

const nsPerMs = 1_000_000;

/** The expression that puts an ID together from its parts, in a language. */
export function handSample(language: SampleLanguage, layout: Layout, parts: SampledParts): string {
  const { begin, end, number, divide } = notations[language];
  const since = `(${number(parts.timeMs)} - ${number(layout.epochMs)})`.replace("- -", "+ ");
  const ticks =
    layout.tickNs > nsPerMs
      ? divide(since, number(layout.tickNs / nsPerMs))
      : layout.tickNs < nsPerMs
        ? `${since} * ${number(nsPerMs / layout.tickNs)}`
        : since;
  const values: Readonly<Record<LayoutFieldKind, string>> = {
    timestamp: layout.tickNs === nsPerMs ? ticks : `(${ticks})`,
    datacenter: number(parts.datacenterId),
    worker: number(parts.workerId),
    sequence: number(parts.sequence),
  };
  const terms = layout.fields.map(({ kind }) => {
    const { shift } = layout[kind];
    return shift === 0 ? values[kind] : `(${values[kind]} << ${language === "javascript" ? `${shift}n` : shift})`;
  });
  return `${begin}\n${terms.map((term) => `  ${term}`).join(" |\n")}${end}`;
}
