/** What the clients do with the sequences of one real server, whose database is SQLite. */
import { type Client, createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { expect } from "vitest";
import { Period, SequenceService } from "../../src/gen/snowlane/v1/sequence_service_pb.ts";
import { valuesOfMessage } from "../../src/service/message-bytes.ts";
import type { ClientProgram } from "./client-programs.ts";

/** What an interop program prints for one step of `sequence`. */
type StepResult = Readonly<Record<string, unknown>>;

/** One client, and the way in which it is called. */
export interface SequenceCaller {
  readonly name: string;
  readonly run: (endpoints: string, steps: readonly string[]) => Promise<readonly StepResult[]>;
}

/** The callers of some programs; the Python client is two, with threads and with asyncio. */
export function sequenceCallers(programs: readonly ClientProgram[]): readonly SequenceCaller[] {
  return programs.flatMap((program) => {
    const caller = (name: string, keys: Readonly<Record<string, number>>): SequenceCaller => ({
      name,
      run: async (endpoints, steps) => {
        const all = { endpoints, steps: steps.join(","), ...keys };
        return (await program.run<{ readonly results: readonly StepResult[] }>(["sequence", all])).results;
      },
    });
    const { language } = program;
    return language === "python" ? [caller("python", {}), caller("python-aio", { aio: 1 })] : [caller(language, {})];
  });
}

/** Asks for the sequences of one server. */
function sequencesAt(url: string): Client<typeof SequenceService> {
  return createClient(SequenceService, createGrpcTransport({ baseUrl: url }));
}

/** Values one after the other, as a program prints them. */
function values(first: bigint, count: number, text: (value: bigint) => string = () => "", periodKey = ""): StepResult {
  const all = Array.from({ length: count }, (_, index) => first + BigInt(index));
  return { values: all.map(String), texts: all.map(text), periodKeys: all.map(() => periodKey) };
}

/** A text of 79 characters: 65,536 of them would be a message of 6 MB, which clients refuse. */
const longest = `${"A".repeat(60)}{value:019}`;
const invoice = (value: bigint): string => `INV-${String(value).padStart(4, "0")}`;

/** Lets one client call every method, and make every mistake, with sequences of its own. */
export async function expectSequenceCalls(caller: SequenceCaller, url: string): Promise<void> {
  const sequences = sequencesAt(url);
  const name = (kind: string): string => `${kind}.${caller.name}`;
  const make = (kind: string, more: Readonly<Record<string, unknown>> = {}) =>
    sequences.createSequence({ sequence: { name: name(kind), ...more } });
  const big = 2n ** 53n - 3n;
  const last = 2n ** 63n - 1n;
  await make("orders");
  await make("big", { startValue: big });
  await make("last", { startValue: last - 3n });
  await make("invoices", { textTemplate: "INV-{value:04}" });
  await make("long", { textTemplate: longest, stepMin: 65_536, stepMax: 65_536 });
  await make("off");
  await make("yearly", { period: Period.YEAR, textTemplate: "{yyyy}-{value}" });
  await sequences.updateSequence({
    sequence: { name: name("off"), disabled: true },
    updateMask: { paths: ["disabled"] },
  });
  const steps: readonly (readonly [step: string, result: unknown])[] = [
    [`value:${name("orders")}`, values(1n, 1)],
    [`reserve:${name("orders")}:3`, { runs: [["2", "3", "1"]], periodKey: "" }],
    [`values:${name("orders")}:150`, values(5n, 150)],
    [`stream:${name("orders")}:150`, values(155n, 150)],
    [
      `text:${name("orders")}`,
      refusal("INVALID_SEQUENCE", "INVALID_ARGUMENT", { name: name("orders"), value: "305", field: "text_template" }),
    ],
    [`values:${name("orders")}:0`, refusal("COUNT_OUT_OF_RANGE", "INVALID_ARGUMENT", expect.anything())],
    [`leave:${name("orders")}:100000000`, { taken: expect.toSatisfy((taken) => taken >= 1 && taken <= 64) }],
    [`values:${name("big")}:6`, values(big, 6)],
    [`stream:${name("last")}:2`, values(last - 3n, 2)],
    [`reserve:${name("last")}:1`, { runs: [[String(last - 1n), "1", "1"]], periodKey: "" }],
    [`value:${name("last")}`, values(last, 1)],
    [
      `value:${name("last")}`,
      refusal("VALUES_EXHAUSTED", "FAILED_PRECONDITION", { name: name("last"), value_max: String(last) }),
    ],
    [`text:${name("invoices")}`, { text: "INV-0001" }],
    [`stream:${name("invoices")}:3`, values(2n, 3, invoice)],
    // As large as a message may be: its texts take the rest of 1 MiB.
    [`large:${name("long")}:200000`, { taken: valuesOfMessage(longest) }],
    [`value:${name("off")}`, refusal("SEQUENCE_DISABLED", "FAILED_PRECONDITION", { name: name("off") })],
    ["value:absent", refusal("SEQUENCE_NOT_FOUND", "NOT_FOUND", { name: "absent" })],
    ["stream:absent:5", refusal("SEQUENCE_NOT_FOUND", "NOT_FOUND", { name: "absent" })],
  ];
  // A year may end meanwhile.
  const years = [new Date().getUTCFullYear()];
  const results = await caller.run(url, [...steps.map(([step]) => step), `value:${name("yearly")}`]);
  years.push(new Date().getUTCFullYear());
  const yearly = years.map((year) => values(1n, 1, (value) => `${year}-${value}`, String(year)));
  for (const [index, [step, expected]] of steps.entries())
    expect(results[index], `${caller.name} ${step}`).toEqual(expected);
  expect(yearly, caller.name).toContainEqual(results.at(-1));
}

function refusal(reason: string, code: string, metadata: unknown): StepResult {
  return { reason, code, metadata };
}
