import { expect } from "vitest";
import { sequencesReady } from "../support/processes/sequences-ready.ts";

/** The samples that every client has. */
export const sampleNames = ["basic", "batch", "prefetch", "sequence", "parse"] as const;

/** One of {@link sampleNames}. */
export type SampleName = (typeof sampleNames)[number];

const id = String.raw`[1-9]\d{17,18}`;
const patterns: Readonly<Record<Exclude<SampleName, "parse">, readonly RegExp[]>> = {
  basic: [new RegExp(`^id ${id}$`), /^created 20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/, /^worker \d+$/],
  batch: [new RegExp(`^batch 10000 ${id} ${id}$`), new RegExp(`^stream 100000 ${id} ${id}$`)],
  prefetch: [new RegExp(`^prefetch 100000 ${id} ${id}$`), /^handed out 100000$/],
  sequence: [/^value 1$/, /^values 1000 2 1001$/, /^text INV-000001$/],
};

/** The output of the sample `parse`, in every language. */
const parseLines = [
  "ticks 367597485448",
  "created 2022-06-28T16:07:40.105Z",
  "datacenter 11",
  "worker 26",
  "sequence 0",
  "decimal 1541815603606036480",
  "hex 0x1565a11f6217a000",
  "base32 1ASD13XH1F800",
  "base58 4aaW4SzAyQK",
  "base62 1ptWyK4WgZU",
  "serial 2022062816074010503780000",
  "uuid 0181ab11-8149-75e8-800f-cd06cf6470a3",
  "typed order_4aaW4SzAyQK",
  "range 1541815603164086272 1541815607358390271",
];

/** Holds what a sample has printed to the table of docs/internals/client-contract.md. */
export function expectSampleLines(name: SampleName, output: string): void {
  const lines = output.trimEnd().split("\n");
  if (name === "parse") return expect(lines).toEqual(parseLines);
  const wanted = patterns[name];
  expect(lines).toHaveLength(wanted.length);
  for (const [index, pattern] of wanted.entries()) expect(lines[index]).toMatch(pattern);
}

/** Makes the sequences of the sample `sequence`. */
export async function makeSampleSequences(url: string): Promise<void> {
  await sequencesReady(url);
  for (const sequence of [{ name: "orders" }, { name: "invoices", textTemplate: "INV-{value:06}" }]) {
    const body = JSON.stringify({ sequence });
    const request = { method: "POST", headers: { "content-type": "application/json" }, body };
    const response = await fetch(`${url}/snowlane.v1.SequenceService/CreateSequence`, request);
    expect(response.status, await response.text()).toBe(200);
  }
}
