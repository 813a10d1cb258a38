import { vi } from "vitest";

/** Waits until a server answers calls of sequences: their database is opened later, on a busy machine much later. */
export async function sequencesReady(url: string): Promise<void> {
  const method = `${url}/snowlane.v1.SequenceService/ListSequences`;
  const request = { method: "POST", headers: { "content-type": "application/json" }, body: "{}" };
  const isReady = async (): Promise<boolean> => {
    const answer = await fetch(method, request);
    // An answer that is not read keeps its connection, and ends as an error when the server stops.
    await answer.arrayBuffer();
    return answer.ok;
  };
  await vi.waitUntil(isReady, { timeout: 120_000, interval: 200 });
}
