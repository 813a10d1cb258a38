import { setTimeout as sleep } from "node:timers/promises";
import type { Pool } from "pg";
import { type SnowlaneProcess, startSnowlane } from "../support/processes/snowlane-process.ts";
import type { Member } from "./fleet-members.ts";

/** Two servers of one deployment: the first is killed by kill -9 and comes back, the second is frozen and goes on. */
export class FaultyServers {
  readonly urls: readonly string[];
  readonly #store: string;
  readonly #listen: readonly string[];
  #killed: SnowlaneProcess | undefined;
  #frozen: SnowlaneProcess | undefined;

  constructor(store: string, ports: readonly [number, number]) {
    this.#store = store;
    this.#listen = ports.map((port) => `127.0.0.1:${port}`);
    this.urls = this.#listen.map((address) => `http://${address}`);
  }

  async start(): Promise<void> {
    this.#frozen = await this.#startOne(1);
    await this.restart();
  }

  #startOne(index: number): Promise<SnowlaneProcess> {
    return startSnowlane({ args: ["--store", this.#store], listen: this.#listen[index]! });
  }

  readonly kill = async (): Promise<void> => {
    await this.#killed?.stop("SIGKILL");
  };

  readonly restart = async (): Promise<void> => {
    this.#killed = await this.#startOne(0);
  };

  readonly freeze = async (): Promise<void> => {
    this.#frozen?.child.kill("SIGSTOP");
  };

  readonly thaw = async (): Promise<void> => {
    this.#frozen?.child.kill("SIGCONT");
  };

  async stop(): Promise<void> {
    await this.thaw();
    for (const server of [this.#killed, this.#frozen]) await server?.stop("SIGTERM");
  }
}

/** The programs of a run, their database, their servers, and how many rows they save together at least. */
interface Fleet {
  readonly members: readonly Member[];
  readonly database: Pool;
  readonly servers: FaultyServers;
  readonly rowCount: number;
}

type Fault = "kill" | "freeze";

/** How far a member is. */
interface Progress {
  /** Rows of its runs that have ended. */
  saved: number;
  /** Rows of the run that is under way. */
  count: number;
  /** What came in the middle of a run, which then saved more rows. */
  readonly came: Set<Fault>;
}

/**
 * Lets all members save their part of the rows at once, and go on in small parts until a server was killed, and one was
 * frozen, in the middle of a run of each of them.
 *
 * @returns How many rows they have saved.
 * @throws What a member that failed did, when all have ended.
 */
export async function runFleet({ members, database, servers, rowCount }: Fleet): Promise<number> {
  const each = Math.ceil(rowCount / members.length / 1_000) * 1_000;
  const working = new Map(
    members.map((member): [Member, Progress] => [member, { saved: 0, count: each, came: new Set() }]),
  );
  let saved = 0;
  const work = async (member: Member): Promise<void> => {
    const progress = working.get(member)!;
    for (; progress.count > 0; progress.count = progress.came.size === 2 ? 0 : 10_000) {
      await member.save(progress.count);
      progress.saved += progress.count;
      saved += progress.count;
    }
  };
  const runs = members.map((member) => work(member).finally(() => working.delete(member)));
  const ends = Promise.allSettled(runs);
  const lacking = (fault: Fault): readonly Member[] =>
    [...working].filter(([, { came }]) => !came.has(fault)).map(([member]) => member);
  const inTheMiddle = (rows: ReadonlyMap<string, number>): readonly Member[] =>
    [...working]
      .filter(([{ table }, { saved, count }]) => rows.get(table)! > saved && rows.get(table)! < saved + count)
      .map(([member]) => member);
  const pause = boundedPause(50 * 60_000);
  /** Causes a fault when a member that lacks it is in the middle of a run, and ends it when all of these went on. */
  const cause = async (fault: Fault, begin: () => Promise<void>, end: () => Promise<void>): Promise<void> => {
    let before = await countRows(database, members);
    for (; !inTheMiddle(before).some((member) => lacking(fault).includes(member)); await pause()) {
      if (lacking(fault).length === 0) return;
      before = await countRows(database, members);
    }
    const caught = inTheMiddle(before);
    await begin();
    before = await countRows(database, members);
    try {
      // For longer than the stock of a buffer lasts, and than an attempt may take.
      await sleep(5_000);
      for (let left = caught; left.length > 0; await pause()) {
        const now = await countRows(database, members);
        for (const member of left)
          if (now.get(member.table)! > before.get(member.table)!) working.get(member)?.came.add(fault);
        left = left.filter((member) => working.get(member)?.came.has(fault) === false);
      }
    } finally {
      await end();
    }
  };
  while (working.size > 0) {
    await cause("kill", servers.kill, servers.restart);
    await cause("freeze", servers.freeze, servers.thaw);
    await pause();
  }
  await ends;
  await Promise.all(runs);
  return saved;
}

/** Waits for half a second at a time. @throws Error when the bound is over. */
function boundedPause(maxMs: number): () => Promise<void> {
  const endMs = performance.now() + maxMs;
  return async () => {
    if (performance.now() > endMs) throw new Error(`The programs did not end within ${maxMs / 60_000} minutes.`);
    await sleep(500);
  };
}

/** How many rows each table has; none before it is made. */
async function countRows(database: Pool, members: readonly Member[]): Promise<ReadonlyMap<string, number>> {
  const { rows } = await database.query<{ tablename: string }>(
    "SELECT tablename FROM pg_tables WHERE schemaname = 'public'",
  );
  const made = new Set(rows.map(({ tablename }) => tablename));
  const counts = new Map<string, number>();
  for (const { table } of members) {
    const counted = made.has(table)
      ? await database.query<{ count: string }>(`SELECT count(*) FROM ${table}`)
      : undefined;
    counts.set(table, Number(counted?.rows[0]?.count ?? 0));
  }
  return counts;
}
