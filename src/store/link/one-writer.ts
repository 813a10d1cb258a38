import { systemClock, systemTimers } from "../../clock/clock.ts";
import { IdError } from "../../errors.ts";
import { describe, nameOf, noneTakesUs } from "./problem-text.ts";
import type { Endpoint } from "./remote-url.ts";
import type { GivenUp, Route, RouteParts, Taken } from "./route.ts";
import { type ServerAnswer, type Sighting, WatchedServer } from "./watched-server.ts";
import type { Writer, WriterChoice } from "./writer-choice.ts";

/** How the server that takes writes is distinguished from the others. */
export interface WriterRules<T> {
  /** Scheme of the store, for messages. */
  readonly kind: string;
  /** What an operator does about a second server that takes writes: a sentence. */
  readonly severalHint: string;
  /** What an operator does if servers answer, but none of them takes writes: a sentence. */
  readonly noneHint: string;
  /** Whether servers are asked before each call; a single server is asked once for each connection. */
  readonly asksAgain: boolean;
  /** Finds the writers that count, and remembers how far timelines went; all links of a database share one. */
  readonly choice: WriterChoice;
  /** Asks a server what it is. */
  readonly ask: (connection: T, server: Endpoint) => Promise<ServerAnswer>;
  /** Asks two connections that report the same server whether they really lead to one. */
  readonly isOneServer: (one: T, other: T) => Promise<boolean>;
  /** Makes a connection ready for its first call. */
  readonly prepare: (connection: T) => Promise<void>;
}

/**
 * An answer is valid for this long from when the question was sent, by the monotonic clock: a call has to begin within
 * it.
 */
const evidenceMs = 1_000;
/** How often servers are asked because answers came too late for the call. */
const roundsMax = 3;
/**
 * The longest that a server that does not answer delays a call. A first connection may take half of the time of a call.
 */
const patienceMaxMs = 500;

/** What the servers have answered so far. */
interface Look<T> {
  readonly sightings: Sighting<T>[];
  readonly firstWriter: PromiseWithResolvers<void>;
}

/**
 * The route to the one server of several that takes writes.
 *
 * If a URL names several servers, each of them is asked before each call: two that both take writes would be two
 * stores. A server that does not answer is not evidence, so no call waits for it for long. docs/adr/0109 has the
 * decision.
 */
export class OneWriter<T> implements Route<T> {
  readonly #parts: RouteParts<T>;
  readonly #rules: WriterRules<T>;
  readonly #watched = new Map<string, WatchedServer<T>>();
  /** The connection that was made ready last, and one that is being made ready at this moment. */
  #prepared: T | undefined;
  #preparing: T | undefined;

  constructor(parts: RouteParts<T>, rules: WriterRules<T>) {
    this.#parts = parts;
    this.#rules = rules;
  }

  async take(): Promise<Taken<T>> {
    for (let round = 0; round < roundsMax; round += 1) {
      const sightings = await this.#look();
      const { connection, at } = await this.#choose(sightings);
      await this.#prepare(connection);
      if (this.#rules.asksAgain && ageMs(sightings) > evidenceMs) continue;
      return { connection, worked: () => this.#watch(at).worked() };
    }
    throw new Error("its servers answer too late to show which of them takes writes");
  }

  giveUp(connection: T | undefined, why: GivenUp): void {
    const given = connection ?? this.#preparing;
    this.#preparing = undefined;
    if (given === undefined) return;
    for (const server of this.#watched.values()) if (server.connection === given) server.drop(why);
  }

  close(): void {
    for (const server of this.#watched.values()) server.close();
  }

  /** Asks all servers at once, and waits for those that may still answer in time. */
  async #look(): Promise<readonly Sighting<T>[]> {
    const look: Look<T> = { sightings: [], firstWriter: Promise.withResolvers() };
    const asked = new Set<string>();
    const follow = async (server: Endpoint): Promise<void> => {
      if (asked.has(nameOf(server))) return;
      asked.add(nameOf(server));
      const sighting = await this.#watch(server).ask();
      look.sightings.push(sighting);
      if (sighting.answer.kind === "writer") look.firstWriter.resolve();
      if (sighting.answer.kind === "names") await follow(sighting.answer.server);
    };
    const all = Promise.all(this.#parts.servers.map(follow));
    await this.#whilePatient(all);
    // If none takes writes, all that can be done is to wait for one that does.
    if (!look.sightings.some(({ answer }) => answer.kind === "writer")) {
      await Promise.race([all, look.firstWriter.promise]);
    }
    this.#forgetAllBut(asked);
    const order = [...asked];
    return look.sightings.toSorted(
      (one, other) => order.indexOf(nameOf(one.server)) - order.indexOf(nameOf(other.server)),
    );
  }

  /** Waits for `answers`, but not for a server that has been silent for longer than the patience. */
  async #whilePatient(answers: Promise<unknown>): Promise<void> {
    const { callTimeoutMs } = this.#parts;
    const nowMs = systemClock.monotonicMs();
    const waits = [...this.#watched.values()].map(({ askedAtMs, isNew }) => {
      const patienceMs = isNew ? callTimeoutMs / 2 : Math.min(patienceMaxMs, callTimeoutMs / 4);
      return askedAtMs + patienceMs - nowMs;
    });
    const { promise: over, resolve } = Promise.withResolvers<void>();
    // After a pause of this process, the event loop runs the timers that became due before it reads the answers that
    // came.
    const cancel = systemTimers.after(Math.max(0, ...waits), () => setImmediate(resolve));
    await Promise.race([answers, over]);
    cancel();
  }

  async #choose(sightings: readonly Sighting<T>[]): Promise<Writer<T>> {
    const found: Writer<T>[] = [];
    for (const { server: at, answer } of sightings) {
      if (answer.kind === "writer") found.push({ at, connection: answer.connection, role: answer.role });
      if (answer.kind === "silent" && answer.problem instanceof IdError) throw answer.problem;
    }
    const { kind, severalHint, choice, isOneServer } = this.#rules;
    const { writers, overtaken } = await choice.sort(found, isOneServer);
    const [writer, ...others] = writers;
    if (others.length > 0) throw severalWriters(kind, severalHint, writers);
    if (writer !== undefined) return writer;
    const problems = sightings.flatMap(({ server, answer }) => {
      if (answer.kind === "other" || answer.kind === "silent") return [{ server, problem: answer.problem }];
      const isOvertaken = overtaken.some(({ at }) => at === server);
      return isOvertaken ? [{ server, problem: "it is on an older timeline than a server that was seen" }] : [];
    });
    if (sightings.some(({ answer }) => answer.kind === "silent" || answer.kind === "writer"))
      throw noneTakesUs(problems);
    throw noWriter(kind, describe(noneTakesUs(problems)), this.#rules.noneHint);
  }

  async #prepare(connection: T): Promise<void> {
    if (this.#prepared === connection) return;
    this.#preparing = connection;
    try {
      await this.#rules.prepare(connection);
      this.#prepared = connection;
    } catch (error) {
      this.giveUp(connection, "failed");
      throw error;
    } finally {
      if (this.#preparing === connection) this.#preparing = undefined;
    }
  }

  #watch(server: Endpoint): WatchedServer<T> {
    const name = nameOf(server);
    const known = this.#watched.get(name);
    if (known !== undefined) return known;
    const watched = new WatchedServer(server, this.#parts, this.#rules);
    this.#watched.set(name, watched);
    return watched;
  }

  /** Forgets servers that no sentinel names any more. */
  #forgetAllBut(asked: ReadonlySet<string>): void {
    for (const [name, watched] of this.#watched) {
      if (asked.has(name)) continue;
      watched.close();
      this.#watched.delete(name);
    }
  }
}

/** The age of the oldest answer. Servers that were silent gave none. */
function ageMs<T>(sightings: readonly Sighting<T>[]): number {
  const answers = sightings.filter(({ answer }) => answer.kind !== "silent");
  return systemClock.monotonicMs() - Math.min(...answers.map(({ askedAtMs }) => askedAtMs));
}

/** The error if all servers answered, so that neither the network nor credentials are the problem. */
function noWriter(kind: string, problem: string, hint: string): IdError {
  const message = `The ${kind} store cannot be used: ${problem}. ${hint}`;
  return new IdError("STORE_UNAVAILABLE", message, { metadata: { store: kind, problem, writers: "none" } });
}

function severalWriters<T>(kind: string, hint: string, writers: readonly Writer<T>[]): IdError {
  // Sorted, because servers that sentinels name come in the order of the answers.
  const names = writers.map(({ at }) => nameOf(at)).toSorted();
  const servers = names.join(" and ");
  const message = `Several servers of the ${kind} store take writes: ${servers}. Nothing is granted or renewed until only one of them does. ${hint}`;
  return new IdError("STORE_UNAVAILABLE", message, { metadata: { store: kind, servers } });
}
