/** Finds servers that have not seen a change that forbids or leaves out values, and so may still give such values. */
import type { StripePart } from "./stripe-set.ts";

/** A server that took values, as a database shows it. */
export interface SequenceServer {
  /** The name that it gave itself. */
  readonly server: string;
  /** How long ago the server last looked at the database, by the database's clock. */
  readonly agoMs: number;
  /** Whether it has seen the last change of any sequence. */
  readonly isCurrent: boolean;
  /** The stripe of the database. */
  readonly stripe: number;
}

/** Lists the servers of each database. */
export async function listServers(parts: readonly StripePart[]): Promise<readonly SequenceServer[]> {
  const lists = parts.map(async ({ store, stripe }) => {
    const [{ database, clockMs }, servers] = await Promise.all([store.look([]), store.servers()]);
    return servers.map(({ server, seenMs, epoch }) => ({
      server,
      agoMs: Math.max(0, clockMs - seenMs),
      isCurrent: epoch >= (database?.epoch ?? 0),
      stripe: stripe.index,
    }));
  });
  return (await Promise.all(lists)).flat();
}

/**
 * Finds the servers that have not seen the last change of one sequence.
 *
 * @param deadAfterMs - A server that has not looked for this long counts as dead.
 */
export async function serversBehind(
  parts: readonly StripePart[],
  name: string,
  deadAfterMs: number,
): Promise<readonly SequenceServer[]> {
  const key = { name, periodKey: "" };
  const lists = parts.map(async ({ store, stripe }) => {
    const [{ sequences, clockMs }, servers] = await Promise.all([store.look([key]), store.servers()]);
    const wanted = sequences.get(name)?.epoch ?? 0;
    return servers.flatMap(({ server, seenMs, epoch }) => {
      const agoMs = Math.max(0, clockMs - seenMs);
      if (epoch >= wanted || agoMs > deadAfterMs) return [];
      return [{ server, agoMs, isCurrent: false, stripe: stripe.index }];
    });
  });
  return (await Promise.all(lists)).flat();
}
