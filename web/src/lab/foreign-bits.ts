import type { ParsedSource } from "../../../src/text/parse-source.ts";

/** A field of a UUID, or of a text of another generator, from the highest bit down. */
export interface ForeignField {
  /** Its colour: that of the field of an ID which says the same. */
  readonly kind: "timestamp" | "worker" | "sequence" | "sign";
  /** As its own description calls it. */
  readonly name: string;
  /** Zeros and ones. */
  readonly digits: string;
}

type Widths = readonly (readonly [name: string, bits: number, kind: ForeignField["kind"]])[];

// https://www.rfc-editor.org/rfc/rfc9562#section-5
const uuidWidths: Readonly<Record<number, Widths>> = {
  1: [
    ["time_low", 32, "timestamp"],
    ["time_mid", 16, "timestamp"],
    ["ver", 4, "sign"],
    ["time_high", 12, "timestamp"],
    ["var", 2, "sign"],
    ["clock_seq", 14, "sequence"],
    ["node", 48, "worker"],
  ],
  6: [
    ["time_high", 32, "timestamp"],
    ["time_mid", 16, "timestamp"],
    ["ver", 4, "sign"],
    ["time_low", 12, "timestamp"],
    ["var", 2, "sign"],
    ["clock_seq", 14, "sequence"],
    ["node", 48, "worker"],
  ],
  7: [
    ["unix_ts_ms", 48, "timestamp"],
    ["ver", 4, "sign"],
    ["rand_a", 12, "sequence"],
    ["var", 2, "sign"],
    ["rand_b", 62, "sequence"],
  ],
};
const otherUuid: Widths = [
  ["custom_a", 48, "sequence"],
  ["ver", 4, "sign"],
  ["custom_b", 12, "sequence"],
  ["var", 2, "sign"],
  ["custom_c", 62, "sequence"],
];

// The widths of src/text/foreign-text.ts, with the source of each.
const foreignWidths: Readonly<Record<string, Widths>> = {
  ulid: [
    ["time", 48, "timestamp"],
    ["random", 80, "sequence"],
  ],
  ksuid: [
    ["time", 32, "timestamp"],
    ["random", 128, "sequence"],
  ],
  objectid: [
    ["time", 32, "timestamp"],
    ["random", 40, "worker"],
    ["counter", 24, "sequence"],
  ],
  xid: [
    ["time", 32, "timestamp"],
    ["machine", 24, "worker"],
    ["process", 16, "worker"],
    ["counter", 24, "sequence"],
  ],
};
const ksuidEpochSeconds = 1_400_000_000n;

/** Gives the fields of a UUID, or of a text of another generator, with their bits; none of a text that is neither. */
export function foreignFields(text: string, { uuid, foreign }: ParsedSource): readonly ForeignField[] {
  const uuidText = uuid === undefined ? foreign?.parts["uuid"] : text;
  if (uuidText !== undefined) {
    const digits = BigInt(`0x${uuidText.replace(/^urn:uuid:/i, "").replaceAll(/[^0-9a-fA-F]/g, "")}`);
    const widths = uuidWidths[Number((digits >> 76n) & 15n)] ?? otherUuid;
    const isKnown = uuid === undefined || uuid.variant === "rfc9562";
    return cut(digits.toString(2).padStart(128, "0"), isKnown ? widths : [["UUID", 128, "sign"]]);
  }
  const widths = foreign === undefined ? undefined : foreignWidths[foreign.kind];
  if (foreign === undefined || widths === undefined) return [];
  const digits = widths.map(([name, bits]) => {
    const part = foreign.parts[name] ?? "0";
    const isHex = name === "random" || name === "machine";
    const value = name === "time" ? timeOf(foreign) : BigInt(isHex ? `0x${part}` : part);
    return value.toString(2).padStart(bits, "0");
  });
  return cut(digits.join(""), widths);
}

function timeOf({ kind, createTimeNs = 0n }: NonNullable<ParsedSource["foreign"]>): bigint {
  if (kind === "ulid") return createTimeNs / 1_000_000n;
  const seconds = createTimeNs / 1_000_000_000n;
  return kind === "ksuid" ? seconds - ksuidEpochSeconds : seconds;
}

function cut(digits: string, widths: Widths): readonly ForeignField[] {
  let at = 0;
  return widths.map(([name, bits, kind]) => {
    at += bits;
    return { kind, name, digits: digits.slice(at - bits, at) };
  });
}

/** Puts fields into rows of 64 bits; one that goes over the end of a row goes on in the next. */
export function rowsOf64(fields: readonly ForeignField[]): readonly (readonly ForeignField[])[] {
  const rows: ForeignField[][] = [[]];
  let left = 64;
  for (const field of fields) {
    let { digits } = field;
    while (digits !== "") {
      if (left === 0) {
        rows.push([]);
        left = 64;
      }
      const part = digits.slice(0, left);
      rows.at(-1)!.push({ ...field, digits: part });
      digits = digits.slice(part.length);
      left -= part.length;
    }
  }
  return rows;
}
