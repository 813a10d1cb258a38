/** Two servers whose stores know nothing of each other under one list of endpoints: the likeliest way to equal IDs. */
import { ProgramUnderTest } from "../clients/conformance/program-under-test.ts";
import type { CallResult } from "../clients/conformance/world.ts";
import type { ClientProgram } from "./client-programs.ts";

/** Calls that each client makes. */
const callCount = 20;
/** A process makes at most this many clients. */
const roundMax = 10;

/** The different outcomes of the calls of a process's last client: reasons, or IDs. */
export function outcomesOfLast(results: readonly CallResult[]): readonly string[] {
  return [...new Set(results.slice(-callCount).map(({ reason, id }) => reason ?? `the ID ${id}`))];
}

/**
 * Makes clients in a process of its own, one after the other, until one has met all of its servers: on a busy machine a
 * server may answer later than a client waits for it before its first ID. Gives the results of all calls.
 *
 * @param isBuffered - Whether the clients call by a buffer.
 */
export async function callUntilRefused(
  { call }: ClientProgram,
  urls: readonly string[],
  isBuffered: boolean,
): Promise<readonly CallResult[]> {
  const program = new ProgramUnderTest(call);
  const results: CallResult[] = [];
  try {
    for (let round = 0; round < roundMax && outcomesOfLast(results).join("") !== "DEPLOYMENT_MISMATCH"; round++) {
      const client = `two-${round}`;
      await program.send("open", { client, endpoints: urls.join(","), buffer: Number(isBuffered), timeout_ms: 20_000 });
      const { results: found } = await program.send<{ readonly results: readonly CallResult[] }>("call", {
        client,
        count: callCount,
      });
      results.push(...found);
      await program.send("close", { client });
    }
  } finally {
    await program.end();
  }
  return results;
}
