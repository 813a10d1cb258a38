import { type ParsedId, parseId } from "../snowflake/parse.ts";
import type { ParsedSource } from "../text/parse-source.ts";
import type { TextCodec, TextReading } from "../text/text-codec.ts";
import type { UuidInfo } from "../text/uuid.ts";
import { isoOfId, isoOfMs, isoOfNs } from "./iso-time.ts";

/** What a program reads: everything, in one line. Whatever may be above 2^53 - 1 is a text. */
export function toJsonLine(text: string, { format, parsed, uuid, texts, plausibleLayouts }: ParsedSource): string {
  return JSON.stringify({
    text,
    form: format?.form,
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

/** What stands in place of a value that there is not. */
const nothing = "-";

/**
 * What comes out of a pipe: text, ID, time, datacenter, worker, sequence and form, with tabs between. A UUID that holds
 * no ID of ours has no ID, and the time that it says itself.
 */
export function toLine(text: string, codec: TextCodec, { id, format, uuid }: TextReading): string {
  if (id === undefined) {
    const time = uuid?.createTimeNs === undefined ? nothing : isoOfNs(uuid.createTimeNs);
    return [text, nothing, time, nothing, nothing, nothing, format.form].join("\t");
  }
  const parsed = parseId(codec.layout, id);
  const { datacenterId = nothing, workerId = nothing, sequence = nothing } = parsed;
  return `${text}\t${id}\t${isoOfId(parsed)}\t${datacenterId}\t${workerId}\t${sequence}\t${format.form}`;
}

/** What people read. */
export function toTable({ format, parsed, uuid, texts, plausibleLayouts }: ParsedSource): string {
  const rows: readonly (readonly [string, string | number | undefined])[] = [
    ["form", format?.form],
    ...(uuid === undefined ? [] : uuidRows(uuid, parsed !== undefined)),
    ...(parsed === undefined ? [] : idRows(parsed)),
    ...texts.filter((each) => each.format.form !== "decimal").map((each) => [each.format.form, each.text] as const),
    ...plausibleLayouts
      .filter(({ name }) => name !== parsed?.layout.name)
      .map(({ name, createTimeMs }) => [`if ${name}`, isoOfMs(createTimeMs)] as const),
  ];
  return rows.map(([name, value]) => (value === undefined ? "" : `${name.padEnd(14)}  ${value}\n`)).join("");
}

function idRows(parsed: ParsedId): readonly (readonly [string, string | number | undefined])[] {
  const { id, layout, ticks, datacenterId, workerId, sequence, bits } = parsed;
  return [
    ["id", String(id)],
    ["time", isoOfId(parsed)],
    ["datacenter", datacenterId],
    ["worker", workerId],
    ["sequence", sequence],
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
    // Of a UUID of ours the ID says the time, and more exactly.
    ["time", isSnowlane || createTimeNs === undefined ? undefined : isoOfNs(createTimeNs)],
    ["clock sequence", clockSequence],
    ["node", node],
    ["ours", isSnowlane ? "yes" : "no"],
  ];
}
