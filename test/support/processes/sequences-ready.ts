import { vi } from "vitest";

/** Waits until a server answers calls of sequences: their database is opened later, on a busy machine much later. */
export async function sequencesReady(url: string): Promise<void> {
  const method = `${url}/snowlane.v1.SequenceService/ListSequences`;
  const request = { method: "POST", headers: { "content-type": "application/json" }, body: "{}" };
  await vi.waitUntil(async () => (await fetch(method, request)).ok, { timeout: 120_000, interval: 200 });
}
