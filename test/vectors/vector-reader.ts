/**
 * Reads the vectors as TypeScript does, through the face of its client. It runs in Node and in a browser, so it needs
 * nothing of either.
 */
import { SnowlaneError } from "../../clients/typescript/src/errors.ts";
import {
  createLayout,
  createTextCodec,
  type Layout,
  type LayoutSpec,
  parseId,
  presetLayout,
  PublicId,
  type TextCodec,
  type TextForm,
  type TextFormat,
  type TextReading,
} from "../../clients/typescript/src/offline.ts";
import { createNumberPermutation, type NumberPermutation } from "../../src/text/public-id.ts";
import { SipHash } from "../../src/text/sip-hash.ts";
import { timestampOf } from "../../tools/vectors/layout-vectors.ts";

/** One of the files whose vectors are read here. */
export type VectorFileName =
  | "layouts"
  | "ids"
  | "detection"
  | "uuids"
  | "published-uuids"
  | "published-texts"
  | "refused"
  | "public-ids";

/** What a file holds. README.md has the shapes. */
export interface VectorFile {
  readonly namespace?: string;
  readonly nowMs?: number;
  readonly layout?: string;
  readonly sipHash?: readonly Vector[];
  readonly vectors: readonly Vector[];
}

/** The files of vectors by their names, without `.json`. */
export type VectorFiles = Readonly<Record<VectorFileName, VectorFile>>;

/** The fields of vectors that are read here: each kind of vector has some of them. */
export interface Vector extends LayoutSpec {
  readonly layout: string;
  readonly kind: "text" | "format" | "id";
  readonly text: string;
  readonly form: TextForm | null;
  readonly checkSymbol: boolean;
  readonly typePrefix?: string;
  readonly utcOffsetMinutes: number;
  readonly format: TextFormat;
  readonly texts: readonly (TextFormat & { readonly text: string })[];
  readonly id: string;
  readonly number: string;
  readonly published: string;
  readonly error: string;
  readonly metadata?: { readonly reason?: string };
  readonly key: string;
  readonly message: string;
  readonly hash: string;
  readonly bits: number;
  readonly publicId: string;
}

/** The vectors as they were found, a list a file: one that holds is found as it is written. JSON can carry them. */
export type FoundVectors = Readonly<Record<VectorFileName | "sipHash", readonly object[]>>;

/** Reads all vectors. Fields that this does not find out are left out of what it gives. */
export function findVectors(files: VectorFiles): FoundVectors {
  const layouts = new Map(files.layouts.vectors.map((spec) => [spec.name, createLayout(spec)]));
  const layoutOf = (name: string): Layout => layouts.get(name)!;
  const readAll = (
    { namespace, nowMs = 0, layout, vectors }: VectorFile,
    find: (vector: Vector, codec: TextCodec, nowMs: number) => object,
  ): readonly object[] =>
    vectors.map((vector) =>
      find(vector, createTextCodec(layoutOf(vector.layout ?? layout ?? "twitter"), namespace), nowMs),
    );
  return {
    layouts: files.layouts.vectors.map(findLayout),
    ids: readAll(files.ids, (vector, codec) => findId(layoutOf(vector.layout), codec, vector)),
    detection: readAll(files.detection, ({ layout, text, utcOffsetMinutes }, codec, nowMs) => {
      const reading = codec.read(text, { utcOffsetMinutes, nowMs });
      return { layout, text, utcOffsetMinutes, format: reading.format, id: idOf(reading) };
    }),
    uuids: readAll(files.uuids, findUuid),
    "published-uuids": readAll(files["published-uuids"], findUuid),
    "published-texts": readAll(files["published-texts"], ({ form, checkSymbol, number, text }, codec) => ({
      form,
      checkSymbol,
      number: idOf(codec.read(text, { form: form! })),
      text: codec.write(BigInt(number), { form: form!, checkSymbol }),
    })),
    refused: readAll(files.refused, findRefusal),
    "public-ids": files["public-ids"].vectors.map(findPublicId),
    sipHash: files["public-ids"].sipHash!.map(findHash),
  };
}

function findLayout({ name, ...spec }: Vector): object {
  const layout = name.startsWith("custom-") ? createLayout({ name, ...spec }) : presetLayout(name);
  const { epochMs, tickNs, fields, timestamp } = layout;
  return { name, epochMs, tickNs, fields, timestampMax: timestamp.max };
}

function findId(layout: Layout, codec: TextCodec, { id, texts }: Vector): object {
  const { ticks, datacenterId = 0, workerId = 0, sequence = 0, createTimeNs, bits } = parseId(layout, BigInt(id));
  return {
    layout: layout.name,
    id,
    ticks,
    datacenterId,
    workerId,
    sequence,
    createTime: timestampOf(createTimeNs),
    bits,
    texts: texts.map(({ text, ...format }) => {
      const { form, utcOffsetMinutes = 0 } = format;
      const reading = codec.read(text, { form, utcOffsetMinutes, nowMs: 0 });
      return { ...reading.format, text: codec.write(BigInt(id), format), id: idOf(reading) };
    }),
  };
}

const idOf = ({ id }: TextReading): string | null => id?.toString() ?? null;

function findUuid({ text }: Vector, codec: TextCodec): object {
  const reading = codec.read(text, { nowMs: 0 });
  const { createTimeNs, clockSequence = null, node = null, ...rest } = reading.uuid!;
  const createTime = createTimeNs === undefined ? null : timestampOf(createTimeNs);
  return { text, ...rest, createTime, clockSequence, node, id: idOf(reading) };
}

function findRefusal(
  { kind, layout, form, typePrefix, text, format, id }: Vector,
  codec: TextCodec,
  nowMs: number,
): object {
  const actions = {
    text: () =>
      codec.read(text, {
        ...(form === null ? {} : { form }),
        ...(typePrefix === undefined ? {} : { typePrefix }),
        nowMs,
      }),
    format: () => codec.write(1n, format),
    id: () => codec.write(BigInt(id), format),
  };
  const { reason, metadata } = errorOf(actions[kind]);
  if (kind === "text") return { kind, layout, form, typePrefix, text, error: reason, metadata };
  return { kind, layout, format, id, error: reason };
}

function errorOf(action: () => unknown): { readonly reason: string; readonly metadata: object } {
  try {
    action();
  } catch (error) {
    if (error instanceof SnowlaneError) return error;
    throw error;
  }
  return { reason: "nothing was refused", metadata: {} };
}

function findPublicId({ key, bits, id, publicId }: Vector): object {
  // The package itself has the permutation of IDs alone; fewer bits show all of one.
  const permutation = bits === 63 ? permutationOfIds(bytesOf(key)) : createNumberPermutation(bytesOf(key), bits);
  const found = { id: permutation.invert(BigInt(publicId)), publicId: permutation.apply(BigInt(id)) };
  return { key, bits, id: String(found.id), publicId: String(found.publicId) };
}

function permutationOfIds(key: Uint8Array): NumberPermutation {
  const publicIds = new PublicId(key);
  return { apply: (id) => publicIds.hide(id), invert: (publicId) => publicIds.reveal(publicId) };
}

function findHash({ key, message }: Vector): object {
  const hasher = new SipHash(bytesOf(key));
  hasher.hash(blocksOf(bytesOf(message)));
  const halves = Uint32Array.of(hasher.high, hasher.low);
  return { key, message, hash: Array.from(halves, (half) => half.toString(16).padStart(8, "0")).join("") };
}

/** A message in the blocks that SipHash takes: filled up with zeros, the last byte its length. */
function blocksOf(message: Uint8Array): Uint32Array {
  const filled = new Uint8Array((Math.floor(message.length / 8) + 1) * 8);
  filled.set(message);
  filled[filled.length - 1] = message.length;
  const view = new DataView(filled.buffer);
  return Uint32Array.from({ length: filled.length / 4 }, (_, i) => view.getUint32(i * 4, true));
}

const bytesOf = (hex: string): Uint8Array =>
  Uint8Array.from(hex.match(/../g) ?? [], (byte) => Number.parseInt(byte, 16));
