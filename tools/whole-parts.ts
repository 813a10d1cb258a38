import { suitesApart } from "./test-suites.ts";
import { sizeVariable } from "../test/support/worlds/scale.ts";

/** Tests of which `npm test` runs a part, and which `npm run all -- NAME` runs whole: each ends within an hour. */
export interface WholePart {
  readonly name: string;
  readonly suite: string;
  readonly files: readonly string[];
  readonly doc: string;
}

export const wholeParts: readonly WholePart[] = [
  {
    name: "seeds",
    suite: "proof",
    files: ["test/simulation/simulation.test.ts"],
    doc: "30,000 seeds of the simulation; `npm test` runs 3,000",
  },
  {
    name: "shown-runs",
    suite: "proof",
    files: ["test/simulation/shown/"],
    doc: "1,000 runs of the page's view Proof in Node; `npm test` runs 100",
  },
  {
    name: "proof-runs",
    suite: "web",
    files: ["test/web/proof-histories.test.ts"],
    doc: "1,000 runs of the page's view Proof in Chromium; `npm test` runs 100",
  },
  {
    name: "sql-takes",
    suite: "stores",
    files: ["test/stores/sql-mutants.test.ts"],
    doc: "each slip in a statement of takes, looks, openings and records, on a file and a server; `npm test` tries two",
  },
  {
    name: "sql-changes",
    suite: "stores",
    files: ["test/stores/sql-mutants-of-changes.test.ts"],
    doc: "the same of changes, raises, moves and periods; `npm test` tries one",
  },
  {
    name: "sequence-trial",
    suite: "stores",
    files: ["test/stores/sequence-trial.test.ts"],
    doc: "a million values of 16 servers that are killed with their database; `npm test`: a quarter of it, of six",
  },
  {
    name: "interop",
    suite: "clients",
    files: ["test/interop/interop.test.ts"],
    doc: "ten million IDs by all clients at once; `npm test` takes a million",
  },
  {
    name: "conformance",
    suite: "clients",
    files: [
      "test/clients/conformance.test.ts",
      "test/clients/broken-clients.test.ts",
      "test/clients/php.test.ts",
      "test/clients/rust.test.ts",
    ],
    doc: "fleets of 2,000 clients, Ruby, PHP and Rust whole, each rule switched off; `npm test`: 50, the quick, two",
  },
  {
    name: "fault-lines",
    suite: "stores",
    files: ["test/stores/fault-lines.test.ts"],
    doc: "the lines of all faults that the tests stage; `npm test` stages four",
  },
  {
    name: "backfill",
    suite: "stores",
    files: [
      "test/stores/million-orders.test.ts",
      "test/stores/backfill-sql.test.ts",
      "test/stores/claimed-past.test.ts",
    ],
    doc: "a million rows in each database, and ten million live IDs beside a million of claims; `npm test`: a part",
  },
  {
    name: "node-http2",
    suite: "http2",
    files: ["test/server/", "test/conformance/conformance.test.ts"],
    doc: "the server's tests and Connect's suite on node:http2; `npm test`: what it serves in its own way",
  },
];

/** Of the environment of a whole part. */
export const wholeSize = { [sizeVariable]: "whole" };

/** The parts of `npm run all`, in their order. `gutted` is the control of test/fault: its rows, without their rules. */
export function allParts(): readonly string[] {
  return ["lint", "test", ...wholeParts.map(({ name }) => name), "gutted", ...suitesApart()];
}
