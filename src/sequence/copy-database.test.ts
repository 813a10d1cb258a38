import { expect, test } from "vitest";
import { SeededRandom } from "../../test/support/worlds/seeded-random.ts";
import { copyDatabase, type NamedStore } from "./copy-database.ts";
import type { MoveRequest } from "./movable-store.ts";
import { counterId, type DatabaseRow, type Look, type Mark } from "./sequence-store.ts";
import { completeDefinition, type StoredSequence } from "./sequence.ts";

const definition = completeDefinition({ name: "orders" });
const stored: StoredSequence = {
  definition,
  sequenceId: "s",
  createdMs: 1,
  updatedMs: 1,
  epoch: 0,
  closedBefore: "",
  begunCount: 0,
  revision: 1,
};
const key = { name: "orders", periodKey: "" };

/** A database of one sequence, as the statements of a move treat it. */
class Database {
  row: DatabaseRow;
  used: bigint | undefined;
  readonly identity: string;

  constructor(name: string) {
    this.identity = name;
    const member = { storeId: name.repeat(32), index: 0, count: 1, members: "" };
    const raised = { raisedCount: 0n, raisedUntilMs: 0 };
    const state = { stopped: "", revision: 1, openMs: 0, epoch: 0, emptiedRevision: -1, move: "" };
    this.row = { identity: name, ...state, ...raised, member };
  }

  get isOpen(): boolean {
    return this.row.stopped === "" && this.used !== undefined;
  }

  move(request: MoveRequest): boolean {
    const { row } = this;
    if (row.revision !== request.revision) return false;
    const revision = row.revision + 1;
    if (request.kind === "away") {
      if (row.stopped !== "") return false;
      this.row = { ...row, stopped: request.reason, move: request.move, revision };
    } else if (request.kind === "receive") {
      const { member } = request.from;
      const isSame = row.stopped !== "" && row.member.storeId === member.storeId;
      if (!isSame && this.used !== undefined) return false;
      this.row = { ...row, stopped: request.reason, move: request.move, revision, member };
    } else if (request.kind === "put") {
      if (row.move === "") return false;
      for (const { index } of request.counters) if (this.used === undefined || this.used < index) this.used = index;
    } else if (request.kind === "open") {
      if (row.move === "") return false;
      this.row = { ...row, stopped: "", move: "", revision: Math.max(revision, request.aboveRevision + 1) };
    }
    return true;
  }

  look(): Look {
    const counters = new Map(this.used === undefined ? [] : [[counterId(key), this.used]]);
    const sequences = new Map(this.used === undefined ? [] : [["orders", stored]]);
    const [lowered, witness] = [new Map<string, bigint>(), new Map<number, string>()];
    return { database: this.row, identity: this.identity, clockMs: 1e6, sequences, counters, lowered, witness };
  }

  counters(after: Mark["name"]): readonly Mark[] {
    return this.used === undefined || after !== "" ? [] : [{ ...key, index: this.used }];
  }
}

/** A process that was killed: its call never comes back. */
const killed = new Promise<never>(() => {});

/** A store whose calls are done when a test says so, or never. */
function storeOf(database: Database, place: string, gate: () => Promise<void>): NamedStore {
  const done = async <T>(work: () => T): Promise<T> => {
    await gate();
    const answer = work();
    await gate();
    return answer;
  };
  return {
    place,
    store: {
      look: () => done(() => database.look()),
      list: ({ afterName }) => done(() => (database.used === undefined || afterName !== "" ? [] : [stored])),
      counters: (after) => done(() => database.counters(after.name)),
      servers: () => done(() => []),
      move: (request) => done(() => database.move(request)),
    },
  };
}

test("copies to and fro, several at once and killed anywhere, never open two databases, and no index comes twice", async () => {
  let copiedCount = 0;
  for (let seed = 1; seed <= 400; seed += 1) {
    const seeded = new SeededRandom(seed);
    const random = (): number => seeded.below(1_000) / 1_000;
    const databases = [new Database("a"), new Database("b"), new Database("c")];
    databases[0]!.used = 0n;
    const given = new Set<bigint>();
    const waiting: (() => void)[] = [];
    /** Each call waits for its turn; one in thirty belongs to a process that is killed there. */
    const gate = (): Promise<void> => {
      if (random() < 1 / 30) return killed;
      const { promise, resolve } = Promise.withResolvers<void>();
      waiting.push(resolve);
      return promise;
    };
    for (let step = 0; step < 300; step += 1) {
      for (const database of databases.filter(({ isOpen }) => isOpen)) {
        if (random() < 0.7) continue;
        const index = database.used!;
        expect(given.has(index), `seed ${seed}`).toBe(false);
        given.add(index);
        database.used = index + 1n;
      }
      expect(databases.filter(({ isOpen }) => isOpen).length, `seed ${seed}`).toBeLessThanOrEqual(1);
      if (random() < 0.1) {
        const from = Math.floor(random() * 3);
        const to = (from + 1 + Math.floor(random() * 2)) % 3;
        const [source, target] = [from, to].map((at) => storeOf(databases[at]!, `sqlite:/${"abc"[at]}`, gate));
        copyDatabase(source!, target!).then(
          ({ kind }) => (copiedCount += kind === "copied" ? 1 : 0),
          () => {},
        );
      }
      if (waiting.length > 0) waiting.splice(Math.floor(random() * waiting.length), 1)[0]!();
      await new Promise((resolve) => setImmediate(resolve));
    }
  }
  expect(copiedCount).toBeGreaterThan(100);
});

test("a copy that ended says so when it is repeated, and the way back is the same command", async () => {
  const [a, b] = [new Database("a"), new Database("b")];
  a.used = 7n;
  const now = async (): Promise<void> => {};
  const [one, other] = [storeOf(a, "sqlite:/a", now), storeOf(b, "sqlite:/b", now)];
  expect(await copyDatabase(one, other)).toEqual({ kind: "copied", sequenceCount: 1, counterCount: 1 });
  expect([a.isOpen, b.isOpen, b.used, b.row.member.storeId]).toEqual([false, true, 7n, a.row.member.storeId]);
  expect(await copyDatabase(one, other)).toEqual({ kind: "done" });
  b.used = 9n;
  expect(await copyDatabase(other, one)).toMatchObject({ kind: "copied" });
  expect([a.isOpen, b.isOpen, a.used]).toEqual([true, false, 9n]);
});

test("a copy refuses a source that is stopped, a target with sequences of its own, and the same database", async () => {
  const now = async (): Promise<void> => {};
  const named = (database: Database) => storeOf(database, `sqlite:/${database.identity}`, now);
  const [a, b] = [new Database("a"), new Database("b")];
  [a.used, b.used] = [7n, 3n];
  await expect(copyDatabase(named(a), named(b))).rejects.toThrow("has sequences of its own");
  await expect(copyDatabase(named(a), named(a))).rejects.toThrow("is the same database");
  b.used = undefined;
  a.row = { ...a.row, stopped: "a loss" };
  await expect(copyDatabase(named(a), named(b))).rejects.toThrow("sqlite:/a is stopped: a loss");
  a.row = { ...a.row, stopped: "", identity: "older" };
  await expect(copyDatabase(named(a), named(b))).rejects.toThrow("older copy");
  a.row = { ...a.row, identity: "a", openMs: 1e6 + 20_000 };
  await expect(copyDatabase(named(a), named(b))).rejects.toThrow("opened just now");
});
