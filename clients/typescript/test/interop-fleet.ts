/** The command of the interop program that runs many clients: docs/internals/client-contract.md has it. */
import { setTimeout as sleep } from "node:timers/promises";
import { createNodeClient } from "../src/node.ts";
import { type Keys, keyOf, shownError } from "./interop-session.ts";

/** Makes many clients, each with a buffer that hands out IDs at an even rate, and counts the calls that fail. */
export async function fleet(keys: Keys): Promise<unknown> {
  const perSecond = Number(keyOf(keys, "per_second"));
  const total = perSecond * Number(keyOf(keys, "seconds"));
  const reasons: Record<string, number> = {};
  let [count, failures] = [0, 0];
  const member = async (): Promise<void> => {
    const client = createNodeClient({ endpoints: keyOf(keys, "endpoints").split(",") });
    const buffer = client.prefetch();
    const startedMs = performance.now();
    for (let index = 0; index < total; index++) {
      await sleep(Math.max(0, startedMs + (index * 1_000) / perSecond - performance.now()));
      try {
        await buffer.nextId();
        count++;
      } catch (error) {
        failures++;
        const { reason } = shownError(error);
        reasons[reason] = (reasons[reason] ?? 0) + 1;
      }
    }
    client.close();
  };
  await Promise.all(Array.from({ length: Number(keyOf(keys, "clients")) }, member));
  return { count, failures, reasons };
}
