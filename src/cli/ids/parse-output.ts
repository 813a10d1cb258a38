import { makersFieldName } from "../../snowflake/field-names.ts";
import { type ParsedId, parseId } from "../../snowflake/parse.ts";
import type { ForeignText } from "../../text/foreign-text.ts";
import { parseSource } from "../../text/parse-source.ts";
import type { UuidInfo } from "../../text/uuid.ts";
import { isoOfId, isoOfMs, isoOfNs } from "../../snowflake/iso-time.ts";
import { otherLayouts, type TextPart } from "./parse-reading.ts";

/**
 * Writes all parts of an ID in one line, for programs. A number that may be above 2^53 - 1 is a text. An ID that was
 * found in a longer text has its place in it, in UTF-16 units.
 *
 * @param line - The number of the line that was read; absent for an argument.
 */
export function toJsonLine(part: TextPart, line?: number): string {
  const { codec, text, strict, options, place, notes } = part;
  const { format, parsed, uuid, foreign, texts, plausibleLayouts } = parseSource(codec, strict, options);
  return JSON.stringify({
    text,
    ...(line === undefined ? {} : { line }),
    ...place,
    ...(notes.size === 0 ? {} : { notes: [...notes.keys()] }),
    form: format?.form,
    ...(foreign === undefined ? {} : { foreign: foreignToJson(foreign) }),
    ...(parsed === undefined ? {} : idToJson(parsed)),
    ...(uuid === undefined ? {} : { uuid: uuidToJson(uuid, parsed !== undefined) }),
    ...(parsed === undefined
      ? {}
      : {
          texts: Object.fromEntries(texts.map((each) => [each.format.form, each.text])),
          plausibleLayouts: plausibleLayouts.map(({ name, createTimeMs }) => ({
            name,
            createTime: isoOfMs(createTimeMs),
          })),
        }),
  });
}

function idToJson(parsed: ParsedId) {
  const { id, layout, ticks, datacenterId, workerId, sequence, bits } = parsed;
  const createTime = isoOfId(parsed);
  return { id: String(id), layout: layout.name, createTime, ticks, datacenterId, workerId, sequence, bits };
}

function uuidToJson({ createTimeNs, ...rest }: UuidInfo, isSnowlane: boolean) {
  const createTime = createTimeNs === undefined ? {} : { createTime: isoOfNs(createTimeNs) };
  return { ...rest, ...createTime, isSnowlane };
}

function foreignToJson({ kind, createTimeNs, parts }: ForeignText) {
  return { kind, ...(createTimeNs === undefined ? {} : { createTime: isoOfNs(createTimeNs) }), parts };
}

/** The mark for a value that is absent. */
const nothing = "-";

/**
 * Writes a line for a pipe: text, ID, time, datacenter, worker, sequence and form, separated by tabs. A UUID that holds
 * no ID of ours has an empty ID and its own time; so does a text of another generator, whose kind takes the place of
 * the form.
 */
export function toLine({ codec: { layout }, text, reading }: TextPart): string {
  if ("kind" in reading) return lineWithoutId(text, reading.createTimeNs, reading.kind);
  const { id, format, uuid } = reading;
  if (id === undefined) return lineWithoutId(text, uuid?.createTimeNs, format.form);
  const parsed = parseId(layout, id);
  const { datacenterId = nothing, workerId = nothing, sequence = nothing } = parsed;
  return `${text}\t${id}\t${isoOfId(parsed)}\t${datacenterId}\t${workerId}\t${sequence}\t${format.form}`;
}

function lineWithoutId(text: string, createTimeNs: bigint | undefined, kind: string): string {
  const time = createTimeNs === undefined ? nothing : isoOfNs(createTimeNs);
  return [text, nothing, time, nothing, nothing, nothing, kind].join("\t");
}

/** Writes a table for people. */
export function toTable({ codec, text, strict, options, place }: TextPart): string {
  const { format, parsed, uuid, foreign, texts } = parseSource(codec, strict, options);
  const rows: readonly (readonly [string, string | number | undefined])[] = [
    ["found", place === undefined ? undefined : text],
    ["form", format?.form],
    ...(foreign === undefined ? [] : foreignRows(foreign)),
    ...(uuid === undefined ? [] : uuidRows(uuid, parsed !== undefined)),
    ...(parsed === undefined ? [] : idRows(parsed)),
    ...texts.filter((each) => each.format.form !== "decimal").map((each) => [each.format.form, each.text] as const),
    ...(parsed === undefined ? [] : otherLayouts(parsed.id, parsed.layout.name, options.nowMs)).map(
      ({ name, text: time }) => [`if ${name}`, time] as const,
    ),
  ];
  return rows.map(([name, value]) => (value === undefined ? "" : `${name.padEnd(14)}  ${value}\n`)).join("");
}

function foreignRows({ kind, createTimeNs, parts }: ForeignText): readonly (readonly [string, string | undefined])[] {
  return [
    ["kind", kind],
    ["time", createTimeNs === undefined ? undefined : isoOfNs(createTimeNs)],
    ...Object.entries(parts),
  ];
}

function idRows(parsed: ParsedId): readonly (readonly [string, string | number | undefined])[] {
  const { id, layout, ticks, datacenterId, workerId, sequence, bits } = parsed;
  return [
    ["id", String(id)],
    ["time", isoOfId(parsed)],
    [makersFieldName(layout.name, "datacenter") ?? "datacenter", datacenterId],
    [makersFieldName(layout.name, "worker") ?? "worker", workerId],
    [makersFieldName(layout.name, "sequence") ?? "sequence", sequence],
    ["ticks", ticks],
    ["layout", layout.name],
    ["bits", bits],
  ];
}

function uuidRows(uuid: UuidInfo, isSnowlane: boolean): readonly (readonly [string, string | number | undefined])[] {
  const { version, variant, createTimeNs, clockSequence, node } = uuid;
  return [
    ["version", version],
    ["variant", variant],
    // The ID in a UUID of ours shows the time more exactly than the UUID does.
    ["time", isSnowlane || createTimeNs === undefined ? undefined : isoOfNs(createTimeNs)],
    ["clock sequence", clockSequence],
    ["node", node],
    ["holds an ID", isSnowlane ? "yes" : "no, not one of this layout and namespace"],
  ];
}
