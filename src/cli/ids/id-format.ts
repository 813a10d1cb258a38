import { decomposeId, type Layout, ticksToMsDown } from "../../snowflake/layout.ts";
import type { IdChunk } from "./id-chunks.ts";

/** How `snowlane next` writes IDs. */
export const idFormats = ["lines", "csv", "binary"] as const;

/** One of {@link idFormats}. */
export type IdFormat = (typeof idFormats)[number];

/** Writes IDs in one format. */
export interface IdWriter {
  /** The text before the first ID. */
  readonly head: string;
  readonly write: (chunk: IdChunk) => string | Uint8Array;
}

/**
 * Makes a writer of IDs.
 *
 * lines: one ID a line, as its text where there are texts, otherwise decimal. csv (RFC 4180 except for the line end,
 * which is LF): a header, then ID, its parts, and its text where there are texts. binary: eight bytes an ID, highest
 * byte first, so that the files sort as the IDs do.
 */
export function createIdWriter(format: IdFormat, layout: Layout, hasTexts: boolean): IdWriter {
  switch (format) {
    case "lines":
      return { head: "", write: ({ ids, texts }) => linesOf(texts ?? ids.map(String)) };
    case "csv": {
      const row = csvRow(layout);
      return {
        head: `id,create_time,datacenter_id,worker_id,sequence${hasTexts ? ",text" : ""}\n`,
        write: ({ ids, texts }) =>
          linesOf(ids.map((id, index) => (texts === undefined ? row(id) : `${row(id)},${texts[index]}`))),
      };
    }
    case "binary":
      return { head: "", write: ({ ids }) => bytesOf(ids) };
  }
}

function linesOf(lines: readonly string[]): string {
  return lines.map((line) => `${line}\n`).join("");
}

function csvRow(layout: Layout): (id: bigint) => string {
  return (id) => {
    const { ticks, datacenterId, workerId, sequence } = decomposeId(layout, id);
    return `${id},${new Date(ticksToMsDown(layout, ticks)).toISOString()},${datacenterId},${workerId},${sequence}`;
  };
}

function bytesOf(ids: readonly bigint[]): Uint8Array {
  const bytes = Buffer.allocUnsafe(ids.length * 8);
  for (const [index, id] of ids.entries()) bytes.writeBigUInt64BE(id, index * 8);
  return bytes;
}
