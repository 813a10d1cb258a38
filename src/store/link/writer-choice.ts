/**
 * Finds which of several servers is the one that takes writes, as far as their answers show.
 *
 * Two servers that both take writes are two stores: each could grant one worker ID. So if two answer, neither is used,
 * unless PostgreSQL's timeline shows which is the older. docs/adr/0109 has the decision.
 */
import type { Endpoint } from "./remote-url.ts";

/** What a server that takes writes reports about itself. */
export interface WriterRole {
  /**
   * Identifies this start of this server. It differs between two servers, even if one runs on a copy of the other's
   * data; undefined if the server does not report it. See {@link WriterRules.isOneServer}.
   */
  readonly server: string | undefined;
  /** Identifies the data, across copies and failovers; undefined if it is unknown. */
  readonly system?: string | undefined;
  /** Rises with each promotion of the same `system`; undefined if it is unknown, or there is no such number. */
  readonly timeline?: number | undefined;
}

/** A server that takes writes. */
export interface Writer<T> {
  readonly at: Endpoint;
  readonly connection: T;
  readonly role: WriterRole;
}

/** The servers of a URL that report that they take writes. */
export interface WritersFound<T> {
  /** The writers that count; a server with several names is listed once, under the first. */
  readonly writers: readonly Writer<T>[];
  /** The writers that were overtaken: a server on a later timeline of the same data was seen. */
  readonly overtaken: readonly Writer<T>[];
}

/** Remembers, for all links of one database, how far its timelines went: the process never uses an older one again. */
export class WriterChoice {
  readonly #timelines = new Map<string, number>();

  /**
   * Divides the servers that take writes into those that count and those that were overtaken.
   *
   * @param isOneServer - Asks two connections that report the same server whether they really lead to one.
   */
  async sort<T>(
    found: readonly Writer<T>[],
    isOneServer: (one: T, other: T) => Promise<boolean>,
  ): Promise<WritersFound<T>> {
    for (const { role } of found) this.#note(role);
    const overtaken = found.filter(({ role }) => this.#isOvertaken(role));
    const writers: Writer<T>[] = [];
    for (const one of found) {
      if (overtaken.includes(one) || (await isKnown(one, writers, isOneServer))) continue;
      writers.push(one);
    }
    return { writers, overtaken };
  }

  #note({ system, timeline }: WriterRole): void {
    if (system === undefined || timeline === undefined) return;
    this.#timelines.set(system, Math.max(timeline, this.#timelines.get(system) ?? timeline));
  }

  #isOvertaken({ system, timeline }: WriterRole): boolean {
    if (system === undefined || timeline === undefined) return false;
    return timeline < (this.#timelines.get(system) ?? timeline);
  }
}

async function isKnown<T>(
  { connection, role }: Writer<T>,
  others: readonly Writer<T>[],
  isOneServer: (one: T, other: T) => Promise<boolean>,
): Promise<boolean> {
  if (role.server === undefined) return false;
  for (const other of others) {
    if (other.role.server === role.server && (await isOneServer(other.connection, connection))) return true;
  }
  return false;
}
