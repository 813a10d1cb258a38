import { IdError } from "../../src/errors.ts";
import { composeId, decomposeId, type IdParts, type Layout } from "../../src/snowflake/layout.ts";
import { parseId } from "../../src/snowflake/parse.ts";
import { createTextCodec, type FormattedText, type TextCodec } from "../../src/text/text-codec.ts";
import type { TextFormat } from "../../src/text/text-form.ts";
import { timestampOf, vectorLayouts, vectorNamespace } from "./layout-vectors.ts";

/** Formats with options, beside every form without. */
const optionFormats: readonly TextFormat[] = [
  { form: "base32", checkSymbol: true },
  { form: "serial", serialPrefix: "PAY", utcOffsetMinutes: 480 },
  { form: "serial", serialPrefix: "A1B2C3D4E5F60789", utcOffsetMinutes: -1080 },
  { form: "typed", typePrefix: "order" },
];

/** Numbers at which arithmetic goes wrong. */
const edgeIds: readonly bigint[] = [0n, 1n, 2n ** 31n, 2n ** 32n, 2n ** 53n - 1n, 2n ** 53n, 2n ** 53n + 1n];

/** IDs of every layout with all that they say and all their texts. */
export function idVectors(): { readonly namespace: string; readonly vectors: readonly object[] } {
  const vectors = Array.from(vectorLayouts.values()).flatMap((layout) => {
    const codec = createTextCodec({ layout, namespace: vectorNamespace });
    return idsOf(layout).map((id) => idVector(layout, codec, id));
  });
  return { namespace: vectorNamespace, vectors };
}

function idVector(layout: Layout, codec: TextCodec, id: bigint): object {
  const parts = decomposeId(layout, id);
  const { createTimeNs, bits } = parseId(layout, id);
  const texts = [...codec.writeAll(id, {}), ...optionFormats.flatMap((format) => textIn(codec, format, id))];
  return {
    layout: layout.name,
    id: String(id),
    ...parts,
    createTime: timestampOf(createTimeNs),
    bits,
    texts: texts.map(({ format, text }) => Object.assign({}, format, { text })),
  };
}

/** A text, or none where the offset moves the time out of the years that the form can say. */
function textIn(codec: TextCodec, format: TextFormat, id: bigint): readonly FormattedText[] {
  try {
    return [{ format, text: codec.writer(format)(id) }];
  } catch (error) {
    if (error instanceof IdError && error.reason === "INVALID_TEXT_FORMAT") return [];
    throw error;
  }
}

/**
 * The edges of every field, alone and together, at a time in 2025 or in the middle of the layout's life; the edges of
 * the number; a few without a pattern.
 */
function idsOf(layout: Layout): readonly bigint[] {
  const { timestamp, datacenter, worker, sequence } = layout;
  const middle: IdParts = {
    ticks: ticksAt(layout, 1_741_828_184_349),
    datacenterId: datacenter.max >>> 1,
    workerId: worker.max >>> 1,
    sequence: sequence.max >>> 1,
  };
  const highest: IdParts = {
    ticks: timestamp.max,
    datacenterId: datacenter.max,
    workerId: worker.max,
    sequence: sequence.max,
  };
  const parts: readonly IdParts[] = [
    middle,
    highest,
    { ...middle, ticks: 0 },
    { ...middle, ticks: 1 },
    { ...middle, ticks: timestamp.max },
    { ...middle, datacenterId: 0 },
    { ...middle, datacenterId: datacenter.max },
    { ...middle, workerId: 0 },
    { ...middle, workerId: worker.max },
    { ...middle, sequence: 0 },
    { ...middle, sequence: sequence.max },
    { ...highest, ticks: middle.ticks },
    { ticks: middle.ticks + 1, datacenterId: 0, workerId: 0, sequence: 0 },
    {
      ticks: ticksAt(layout, 1_741_830_274_949),
      datacenterId: 0,
      workerId: Math.min(5, worker.max),
      sequence: Math.min(7, sequence.max),
    },
    ...patternless(layout, 4),
  ];
  const ids = [...edgeIds.filter((id) => isOf(layout, id)), ...parts.map((each) => composeId(layout, each))];
  return [...new Set(ids)];
}

/** The tick of a time, or the middle of the layout's life where the time is outside. */
function ticksAt({ epochMs, tickNs, timestamp }: Layout, unixMs: number): number {
  const ticks = Math.floor(((unixMs - epochMs) * 1e6) / tickNs);
  return ticks > 0 && ticks < timestamp.max ? ticks : Math.floor(timestamp.max / 2);
}

function isOf(layout: Layout, id: bigint): boolean {
  const parts = decomposeId(layout, id);
  return parts.ticks <= layout.timestamp.max && composeId(layout, parts) === id;
}

/**
 * The same at each run: the multiplicative congruential generator of https://doi.org/10.1090/S0025-5718-99-00996-5, m =
 * 2^32 - 5.
 */
function patternless(layout: Layout, count: number): readonly IdParts[] {
  let state = 20_250_313;
  const below = (end: number): number => {
    state = Number((BigInt(state) * 1_588_635_695n) % 4_294_967_291n);
    return Math.floor((state / 4_294_967_291) * end);
  };
  return Array.from({ length: count }, () => ({
    ticks: below(layout.timestamp.max + 1),
    datacenterId: below(layout.datacenter.max + 1),
    workerId: below(layout.worker.max + 1),
    sequence: below(layout.sequence.max + 1),
  }));
}
