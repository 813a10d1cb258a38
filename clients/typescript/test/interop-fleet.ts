/** The command of the interop program that runs many clients: docs/internals/client-contract.md has it. */
import { setTimeout as sleep } from "node:timers/promises";
import { createNodeClient } from "../src/node.ts";
import type { PrefetchBuffer } from "../src/prefetch-buffer.ts";
import type { CallOptions } from "../src/run-source.ts";
import { type Keys, keyOf, shownError } from "./interop-session.ts";

/** This many clients wait for their first ID at a time. */
const startingMax = 50;

/**
 * Makes many clients, each with a buffer that hands out IDs at an even rate once all have had their first one, and
 * counts the calls that fail.
 */
export async function fleet(keys: Keys): Promise<unknown> {
  const perSecond = Number(keyOf(keys, "per_second"));
  const total = perSecond * Number(keyOf(keys, "seconds"));
  const reasons: Record<string, number> = {};
  let [count, failures] = [0, 0];
  const take = async (buffer: PrefetchBuffer, options?: CallOptions): Promise<void> => {
    try {
      await buffer.nextId(options);
      count++;
    } catch (error) {
      failures++;
      const { reason } = shownError(error);
      reasons[reason] = (reasons[reason] ?? 0) + 1;
    }
  };
  const clients = Array.from({ length: Number(keyOf(keys, "clients")) }, () =>
    createNodeClient({ endpoints: keyOf(keys, "endpoints").split(",") }),
  );
  const buffers = clients.map((client) => client.prefetch());
  const unbegun = buffers.values();
  const begin = async (): Promise<void> => {
    // Connecting may take a busy machine a while.
    for (const buffer of unbegun) await take(buffer, { timeoutMs: 120_000 });
  };
  await Promise.all(Array.from({ length: startingMax }, begin));
  const startedMs = performance.now();
  const member = async (buffer: PrefetchBuffer): Promise<void> => {
    for (let index = 0; index < total; index++) {
      await sleep(Math.max(0, startedMs + (index * 1_000) / perSecond - performance.now()));
      await take(buffer);
    }
  };
  await Promise.all(buffers.map(member));
  for (const client of clients) client.close();
  return { count, failures, reasons };
}
