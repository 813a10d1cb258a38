/**
 * Draws the bits of an ID as the README shows them, by the code that issues and reads IDs. It is one SVG for dark and
 * light pages: the reader's setting chooses the colours.
 */
import { writeFileSync } from "node:fs";
import type { FieldPlace, Layout } from "../src/snowflake/layout.ts";
import { parseId } from "../src/snowflake/parse.ts";
import { layouts } from "../src/snowflake/presets.ts";

/** The picture's place in the repository. */
export const idPicturePath = "docs/pictures/id-bits.svg";

const exampleId = 2124070985228702552n;
const cell = 13;
const margin = 20;
const top = 62;
const width = 64 * cell + 2 * margin;
const height = 142;

interface Part {
  readonly name: string;
  readonly value: string;
  readonly highestBit: number;
  readonly bits: number;
}

function partOf(name: string, { shift, bits }: FieldPlace, value: string): Part {
  return { name, value, highestBit: shift + bits - 1, bits };
}

function partsOf(layout: Layout, id: bigint): readonly Part[] {
  const { createTimeMs, datacenterId, workerId, sequence } = parseId(layout, id);
  return [
    { name: "", value: "always 0", highestBit: 63, bits: 1 },
    partOf("timestamp", layout.timestamp, new Date(createTimeMs).toISOString()),
    partOf("datacenter", layout.datacenter, String(datacenterId)),
    partOf("worker", layout.worker, String(workerId)),
    partOf("sequence", layout.sequence, String(sequence)),
  ];
}

/** @param index - 0 for the sign bit. */
function partPicture({ name, value, highestBit, bits }: Part, index: number, id: bigint): string {
  const left = margin + (63 - highestBit) * cell;
  const middle = left + (bits * cell) / 2;
  const digits = Array.from({ length: bits }, (_, at) => {
    const bit = (id >> BigInt(highestBit - at)) & 1n;
    return `<text class="bit" x="${left + at * cell + cell / 2}" y="${top + 18}">${bit}</text>`;
  });
  const labels =
    index === 0
      ? `<text class="quiet start" x="${left}" y="${top + 50}">${value}</text>`
      : `<text class="quiet" x="${middle}" y="${top - 10}">${name}</text>
<text class="value" x="${middle}" y="${top + 50}">${value}</text>
<text class="quiet" x="${middle}" y="${top + 68}">${bits} bits</text>`;
  return `<g class="part${index}">
<rect x="${left + 1}" y="${top}" width="${bits * cell - 2}" height="26" rx="4"/>
${digits.join("")}
${labels}
</g>`;
}

/** The picture of an ID of the default layout. */
export function idPicture(): string {
  const parts = partsOf(layouts.twitter, exampleId);
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" aria-labelledby="title">
<title id="title">The 64 bits of the ID ${exampleId}: ${parts.map(({ name, value }) => `${name} ${value}`.trim()).join(", ")}</title>
<style>
text { font-family: ui-sans-serif, system-ui, sans-serif; font-size: 13px; fill: #1f2328; text-anchor: middle; }
.bit { font-family: ui-monospace, Menlo, Consolas, monospace; font-size: 12px; }
.id { font-family: ui-monospace, Menlo, Consolas, monospace; font-size: 18px; font-weight: 600; }
.value { font-weight: 600; }
.quiet { fill: #59636e; font-size: 12px; }
.start { text-anchor: start; }
.part0 rect { fill: #e4e7eb; } .part1 rect { fill: #b6e3ff; } .part2 rect { fill: #ffd8b5; }
.part3 rect { fill: #d8b9ff; } .part4 rect { fill: #aceebb; }
@media (prefers-color-scheme: dark) {
text { fill: #f0f6fc; } .quiet { fill: #9198a1; }
.part0 rect { fill: #30363d; } .part1 rect { fill: #0c4a6e; } .part2 rect { fill: #7c2d12; }
.part3 rect { fill: #4c1d95; } .part4 rect { fill: #14532d; }
}
</style>
<text class="id" x="${width / 2}" y="24">${exampleId}</text>
${parts.map((part, index) => partPicture(part, index, exampleId)).join("\n")}
</svg>
`;
}

if (import.meta.main) writeFileSync(idPicturePath, idPicture());
