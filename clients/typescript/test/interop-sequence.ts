/** The command `sequence` of the interop program: docs/internals/client-contract.md has its steps. */
import { SnowlaneError } from "../src/errors.ts";
import type { Sequence, SequenceValue } from "../src/sequence.ts";

/** Does one step, `OPERATION:NAME` or `OPERATION:NAME:COUNT`; what the program prints for it. */
export async function runSequenceStep(step: string, sequenceOf: (name: string) => Sequence): Promise<unknown> {
  const [operation = "", name = "", count = "1"] = step.split(":");
  try {
    return await operate(operation, sequenceOf(name), Number(count));
  } catch (error) {
    if (!(error instanceof SnowlaneError)) throw error;
    const { reason, code, metadata } = error;
    return { reason, code, metadata };
  }
}

async function operate(operation: string, sequence: Sequence, count: number): Promise<unknown> {
  switch (operation) {
    case "value":
      return shown([await sequence.nextValue()]);
    case "late":
      return shown([await sequence.nextValue({ timeoutMs: 200 })]);
    case "text":
      return { text: await sequence.nextText() };
    case "values":
      return shown(await sequence.nextValues(count));
    case "stream": {
      const all: SequenceValue[] = [];
      for await (const values of sequence.stream(count, { chunkSize: 64 })) all.push(...values);
      return shown(all);
    }
    case "leave":
    case "large": {
      const chunkSize = operation === "large" ? 65_536 : 64;
      for await (const values of sequence.stream(count, { chunkSize })) return { taken: values.length };
      throw new Error("The stream was empty.");
    }
    case "reserve": {
      const { runs, periodKey } = await sequence.reserve(count);
      const texts = runs.map((run) => [String(run.firstValue), String(run.count), String(run.increment)]);
      return { runs: texts, periodKey };
    }
    default:
      throw new Error(`There is no operation ${operation}.`);
  }
}

function shown(values: readonly SequenceValue[]): unknown {
  return {
    values: values.map(({ value }) => String(value)),
    texts: values.map(({ text }) => text),
    periodKeys: values.map(({ periodKey }) => periodKey),
  };
}
