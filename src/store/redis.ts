/**
 * Records in Redis: one hash for each namespace, compared and set by a script.
 *
 * All records of a namespace are under one key, so that a loss affects all of them or none, and the script touches only
 * that key. Redis may lose a write that it has answered, so it is `lossy`. A write counts once a majority of the
 * servers has it, and a read shows only writes that a majority has. A loss by a restart shows as another run_id, one by
 * a failover as another replication ID.
 */
import {
  type Entry,
  type Incarnation,
  type ListAnswer,
  type ReadAnswer,
  type RecordKey,
  type RecordStore,
  redisTiming,
  type StoreAdvice,
  type StoreMoment,
  type StoreOptions,
  type StoreTiming,
  type WriteAnswer,
} from "./record-store.ts";
import { identityOf } from "./store-identity.ts";
import {
  infoField,
  openRedisDatabase,
  type RedisClient,
  type RedisDatabase,
  replicasForMajority,
} from "./link/redis-link.ts";
import { adviseOnRedis } from "./redis-advice.ts";
import type { StoreLink } from "./link/store-link.ts";

const kind = "redis";

/**
 * A field beside the records, which a read writes if there are replicas: see the script. docs/adr/0068 explains why a
 * read writes.
 */
const fence = "fence";

/**
 * One script does all operations, so that each answer carries the moment at which it was true. HGET returns false for
 * an absent field, not nil. INFO is called twice, because Redis 6 takes one section at a time. A script is atomic, and
 * nothing that may fail follows the write: so an error that names one of {@link refusals} comes from the write itself.
 *
 * WAIT waits only for the writes of its own connection. A read may have seen writes of other connections, and our own
 * from before a reconnection. So a read writes as well: a replica that has this write has all writes before it.
 */
const script = `
local replication = redis.call('INFO', 'replication')
local server = redis.call('INFO', 'server')
local now = redis.call('TIME')
local isRead = ARGV[1] == 'list' or ARGV[1] == 'read'
if isRead and (ARGV[2] ~= '0' or string.find(replication, 'connected_slaves:[1-9]')) then
  redis.call('HSET', KEYS[1], '${fence}', '')
end
local answer = false
if ARGV[1] == 'list' then
  answer = redis.call('HGETALL', KEYS[1])
elseif ARGV[1] == 'read' then
  answer = redis.call('HGET', KEYS[1], ARGV[3])
elseif ARGV[1] == 'create' then
  answer = redis.call('HSETNX', KEYS[1], ARGV[3], ARGV[4])
elseif ARGV[1] == 'replace' then
  answer = 0
  if redis.call('HGET', KEYS[1], ARGV[3]) == ARGV[5] then
    redis.call('HSET', KEYS[1], ARGV[3], ARGV[4])
    answer = 1
  end
end
return { answer, now[1], now[2], server, replication }
`;

type ScriptReply = readonly [answer: unknown, seconds: string, micros: string, server: string, replication: string];

/** The answer of the script, and the state of Redis at that moment. */
interface Answer {
  readonly value: unknown;
  readonly moment: StoreMoment;
  readonly replicas: number;
}

/**
 * Opens a Redis store; the server may start later.
 *
 * @param url - See {@link openRedisDatabase}.
 * @throws IdError INVALID_CONFIG.
 */
export async function openRedisStore(url: string, options: StoreOptions): Promise<RecordStore> {
  return new RedisStore(await openRedisDatabase(url, options), options);
}

class RedisStore implements RecordStore {
  readonly kind = kind;
  readonly durability = "lossy";
  readonly liveness = { kind: "ttl" } as const;
  readonly timing = redisTiming;
  readonly #link: StoreLink<RedisClient>;
  readonly #hash: string;
  readonly #replicas: number;
  readonly #canFailOver: boolean;
  readonly #waitTimeoutMs: number;

  constructor(database: RedisDatabase, { namespace, callTimeoutMs }: StoreOptions) {
    this.#hash = `snowlane:{${namespace}}`;
    this.#replicas = database.replicas;
    this.#canFailOver = database.canFailOver;
    this.#waitTimeoutMs = Math.ceil(callTimeoutMs / 2);
    this.#link = database.link();
  }

  async moment(): Promise<StoreMoment> {
    return (await this.#link.call((client) => this.#run(client, "moment"))).moment;
  }

  async list(): Promise<ListAnswer> {
    const { value, moment } = await this.#link.call((client) => this.#read(client, "list"));
    const flat = value as readonly string[];
    const entries: Entry[] = [];
    for (let index = 0; index < flat.length; index += 2) {
      if (flat[index] !== fence) entries.push({ key: flat[index]!, text: flat[index + 1]! });
    }
    return { entries, moment };
  }

  async read(key: RecordKey): Promise<ReadAnswer> {
    const { value, moment } = await this.#link.call((client) => this.#read(client, "read", key));
    return { entry: typeof value === "string" ? { key, text: value } : undefined, moment };
  }

  async compareAndSet(key: RecordKey, expected: Entry | undefined, next: string): Promise<WriteAnswer> {
    return this.#link.call(async (client) => {
      let written: Answer;
      try {
        written =
          expected === undefined
            ? await this.#run(client, "create", key, next)
            : await this.#run(client, "replace", key, next, expected.text);
      } catch (error) {
        if (isRefusedWrite(error)) return { kind: "refused", error: this.#link.refusal(error) };
        throw error;
      }
      const { value, moment, replicas } = written;
      if (Number(value) !== 1) return { kind: "conflict", moment };
      await this.#awaitReplicas(client, replicas);
      return { kind: "applied", entry: { key, text: next }, moment };
    }, "write");
  }

  async advise({ windowMs }: Pick<StoreTiming, "windowMs">): Promise<readonly StoreAdvice[]> {
    const info = (section: string): Promise<string> =>
      this.#link.call((client) => client.sendCommand<string>(["INFO", section]));
    const [persistence, memory] = [await info("persistence"), await info("memory")];
    return adviseOnRedis({ persistence, memory, canFailOver: this.#canFailOver, windowMs });
  }

  async close(): Promise<void> {
    this.#link.close();
  }

  /** Reads, and waits until a majority has everything that was read, so that a failover cannot undo it. */
  async #read(client: RedisClient, operation: "list" | "read", ...args: readonly string[]): Promise<Answer> {
    const answer = await this.#run(client, operation, ...args);
    await this.#awaitReplicas(client, answer.replicas);
    return answer;
  }

  async #run(client: RedisClient, operation: string, ...args: readonly string[]): Promise<Answer> {
    const keyed = ["EVAL", script, "1", this.#hash, operation, `${this.#replicas}`, ...args];
    const reply = await client.sendCommand<ScriptReply>(keyed).catch(throwPlainly);
    const [value, seconds, micros, server, replication] = reply;
    const clockMs = Number(seconds) * 1_000 + Math.floor(Number(micros) / 1_000);
    if (infoField(replication, "role") !== "master") throw new Error("it has become a replica");
    return {
      value,
      moment: { clockMs, incarnation: readIncarnation(server, replication) },
      replicas: Number(infoField(replication, "connected_slaves")),
    };
  }

  /**
   * A write counts when more than half of all servers, the primary among them, have it: otherwise its outcome is
   * unknown.
   *
   * @param connected - The replicas that the primary sees; there may be more.
   */
  async #awaitReplicas(client: RedisClient, connected: number): Promise<void> {
    const needed = replicasForMajority(Math.max(connected, this.#replicas));
    if (needed === 0) return;
    const reached = await client.sendCommand<number>(["WAIT", `${needed}`, `${this.#waitTimeoutMs}`]);
    if (reached < needed) throw new Error(`${reached} of ${needed} replicas have the write`);
  }
}

/**
 * Removes from an error the place in the script where it arose, which is of no use to an operator and differs by
 * operation.
 */
function throwPlainly(error: unknown): never {
  if (error instanceof Error)
    error.message = error.message.replace(/ script:(?: [0-9a-f]+,)? on @user_script:\d+\.?$/, "");
  throw error;
}

/** How Redis refuses a write: as a replica, or because of full memory, a failing disk, or too few replicas. */
const refusals = /^(READONLY|OOM|MISCONF|NOREPLICAS) /;

function isRefusedWrite(error: unknown): boolean {
  return error instanceof Error && refusals.test(error.message);
}

/**
 * The run_id is drawn again at each start, so that it covers restarts. The replication ID is drawn again at each
 * promotion: a server that became a replica and was promoted again has its old run_id.
 */
function readIncarnation(server: string, replication: string): Incarnation {
  return {
    identity: identityOf({ run: infoField(server, "run_id"), replication: infoField(replication, "master_replid") }),
    startedMs: undefined,
    // An empty Redis may have been flushed a moment ago.
    emptyMeans: "lost",
  };
}
