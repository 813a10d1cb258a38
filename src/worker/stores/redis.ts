/**
 * Records in Redis: one hash a namespace, compared and set by a script.
 *
 * All records of a namespace lie under one key, so that whatever empties Redis takes all of them or none, and a script
 * touches that key alone. Redis may lose what it has answered (it is `lossy`): a write counts once a majority of the
 * servers have it, a read shows only what a majority has, and what a restart or a failover lost shows as another
 * run_id.
 */
import type { RedisClientType, createClient as CreateClient } from "@redis/client";
import { IdError } from "../../errors.ts";
import type {
  Entry,
  Incarnation,
  ListAnswer,
  ReadAnswer,
  RecordKey,
  RecordStore,
  StoreMoment,
  StoreOptions,
  WriteAnswer,
} from "../record-store.ts";
import { loadDriver } from "./load-driver.ts";
import { connectToAny, StoreLink, whileWanted } from "./store-link.ts";
import { type Endpoint, parseCount, parseRemoteUrl, readPassword, readTls, type RemoteUrl } from "./remote-url.ts";

const kind = "redis";

/** A field beside the records, which a read writes where there are replicas: see the script. */
const fence = "fence";

/**
 * One script for everything, so that each answer carries the moment at which it was true. HGET gives false for what is
 * absent, not nil. INFO is asked in two, for Redis 6 takes one section at a time.
 *
 * WAIT waits for the writes of its own connection. So that it also waits for those of others that a read has seen, and
 * for our own from before a reconnection, a read writes, too: whoever has that has all before it.
 */
const script = `
local replication = redis.call('INFO', 'replication')
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
local now = redis.call('TIME')
return { answer, now[1], now[2], redis.call('INFO', 'server'), replication }
`;

type Client = RedisClientType<{}, {}, {}, 2>;
type ScriptReply = readonly [answer: unknown, seconds: string, micros: string, server: string, replication: string];

/** What a script answered, and what Redis said of itself then. */
interface Answer {
  readonly value: unknown;
  readonly moment: StoreMoment;
  readonly replicas: number;
}

/**
 * Opens a Redis store; the server need not be there yet.
 *
 * @param text - `redis://` or `rediss://`, with a primary and its replicas in any order, or with `sentinel=` and the
 * name of the primary the sentinels that know it. The path is the database's number. `replicas=` is how many replicas
 * there should be: without it, as many as are connected count.
 * @throws IdError INVALID_CONFIG.
 */
export async function openRedisStore(text: string, options: StoreOptions): Promise<RecordStore> {
  const { createClient } = await loadDriver(kind, "@redis/client", () => import("@redis/client"));
  const url = parseRemoteUrl(text, {
    schemes: ["redis", "rediss"],
    defaultPort: 6_379,
    parameters: ["sentinel", "replicas"],
  });
  if (!/^\d{0,4}$/.test(url.path)) {
    const message = "The store URL is not valid: the path of a Redis URL is the number of a database.";
    throw new IdError("INVALID_CONFIG", message);
  }
  return new RedisStore(url, options, createClient);
}

class RedisStore implements RecordStore {
  readonly kind = kind;
  readonly durability = "lossy";
  readonly liveness = { kind: "ttl" } as const;
  readonly timing = { windowMs: 5_000, renewalPeriodMs: 1_500, ttlMs: 8_000 };
  readonly #url: RemoteUrl;
  readonly #options: StoreOptions;
  readonly #createClient: typeof CreateClient;
  readonly #link: StoreLink<Client>;
  readonly #hash: string;
  readonly #replicas: number;

  constructor(url: RemoteUrl, options: StoreOptions, createClient: typeof CreateClient) {
    this.#url = url;
    this.#options = options;
    this.#createClient = createClient;
    this.#hash = `snowlane:{${options.namespace}}`;
    this.#replicas = parseCount(url.parameters, "replicas", 100) ?? 0;
    this.#link = new StoreLink({
      kind,
      callTimeoutMs: options.callTimeoutMs,
      connect: async (signal, lost) => {
        const client = await connectToAny(url.endpoints, signal, options.callTimeoutMs, this.#connect);
        return client.on("end", lost).on("error", lost);
      },
      destroy,
      isRefusal,
    });
  }

  async moment(): Promise<StoreMoment> {
    return (await this.#link.call((client) => this.#run(client, "moment"))).moment;
  }

  async list(): Promise<ListAnswer> {
    const { value, moment } = await this.#link.call((client) => this.#read(client, "list"));
    const flat = value as readonly string[];
    const entries: Entry[] = [];
    for (let index = 0; index < flat.length; index += 2) {
      if (flat[index] !== fence) entries.push(toEntry(flat[index]!, flat[index + 1]!));
    }
    return { entries, moment };
  }

  async read(key: RecordKey): Promise<ReadAnswer> {
    const { value, moment } = await this.#link.call((client) => this.#read(client, "read", key));
    return { entry: typeof value === "string" ? toEntry(key, value) : undefined, moment };
  }

  async compareAndSet(key: RecordKey, expected: Entry | undefined, next: string): Promise<WriteAnswer> {
    return this.#link.call(async (client) => {
      const { value, moment, replicas } =
        expected === undefined
          ? await this.#run(client, "create", key, next)
          : await this.#run(client, "replace", key, next, expected.text);
      if (Number(value) !== 1) return { kind: "conflict", moment };
      await this.#awaitReplicas(client, replicas);
      return { kind: "applied", entry: toEntry(key, next), moment };
    });
  }

  async close(): Promise<void> {
    this.#link.close();
  }

  /** Nothing is shown that a failover could undo: what a majority lacks is no answer yet. */
  async #read(client: Client, operation: "list" | "read", ...args: readonly string[]): Promise<Answer> {
    const answer = await this.#run(client, operation, ...args);
    await this.#awaitReplicas(client, answer.replicas);
    return answer;
  }

  async #run(client: Client, operation: string, ...args: readonly string[]): Promise<Answer> {
    const keyed = ["EVAL", script, "1", this.#hash, operation, `${this.#replicas}`, ...args];
    const reply = await client.sendCommand<ScriptReply>(keyed);
    const [value, seconds, micros, server, replication] = reply;
    const clockMs = Number(seconds) * 1_000 + Math.floor(Number(micros) / 1_000);
    if (infoField(replication, "role") !== "master") throw new Error("it has become a replica");
    return {
      value,
      moment: { clockMs, incarnation: readIncarnation(server) },
      replicas: Number(infoField(replication, "connected_slaves")),
    };
  }

  /**
   * A write counts when more than half of all servers, the primary among them, have it: otherwise its outcome is
   * unknown.
   *
   * @param connected - Replicas that the primary sees; there may be more of them.
   */
  async #awaitReplicas(client: Client, connected: number): Promise<void> {
    const needed = Math.floor((Math.max(connected, this.#replicas) + 1) / 2);
    if (needed === 0) return;
    const timeoutMs = Math.ceil(this.#options.callTimeoutMs / 2);
    const reached = await client.sendCommand<number>(["WAIT", `${needed}`, `${timeoutMs}`]);
    if (reached < needed) throw new Error(`${reached} of ${needed} replicas have the write`);
  }

  readonly #connect = async (endpoint: Endpoint, signal: AbortSignal): Promise<Client> => {
    const sentinelName = this.#url.parameters.get("sentinel");
    if (sentinelName === undefined) return this.#open(endpoint, signal, await this.#credentials());
    const sentinel = await this.#open(endpoint, signal, {});
    try {
      const [host, port] = await sentinel.sendCommand<string[]>(["SENTINEL", "get-master-addr-by-name", sentinelName]);
      if (host === undefined || port === undefined) throw new Error("the sentinel does not know the primary");
      return await this.#open({ host, port: Number(port) }, signal, await this.#credentials());
    } finally {
      destroy(sentinel);
    }
  };

  async #open(endpoint: Endpoint, signal: AbortSignal, credentials: Credentials): Promise<Client> {
    const tls = await readTls(this.#url, endpoint, this.#url.scheme === "rediss");
    // The signal ends the socket itself: a driver that is destroyed before its socket is connected forgets it, open.
    const socket = { host: endpoint.host, port: endpoint.port, reconnectStrategy: false, signal } as const;
    const client = this.#createClient({
      ...credentials,
      socket: tls === undefined ? socket : { ...tls, ...socket, tls: true },
      RESP: 2,
      disableOfflineQueue: true,
      disableClientInfo: true,
    });
    // What goes wrong is told by the call that waits; without a listener the process would end.
    client.on("error", () => {});
    return whileWanted(
      signal,
      () => destroy(client),
      async () => {
        await client.connect();
        return client;
      },
    );
  }

  async #credentials(): Promise<Credentials> {
    const { user, path } = this.#url;
    const password = await readPassword(this.#url, this.#options.password);
    return {
      ...(user === undefined ? {} : { username: user }),
      ...(password === undefined ? {} : { password }),
      ...(path === "" ? {} : { database: Number(path) }),
    };
  }
}

interface Credentials {
  readonly username?: string;
  readonly password?: string;
  readonly database?: number;
}

/** Ends a client at once; the driver throws when it has ended by itself. */
function destroy(client: Client): void {
  if (client.isOpen) client.destroy();
}

function toEntry(key: RecordKey, text: string): Entry {
  return { key, text, version: text };
}

/** Its run_id is drawn anew at each start, so that it covers restarts. */
function readIncarnation(server: string): Incarnation {
  return {
    identity: infoField(server, "run_id"),
    startedMs: undefined,
    // An empty Redis may have been flushed a moment ago.
    emptyMeans: "lost",
  };
}

/** A line `name:value` of INFO. */
function infoField(info: string, name: string): string {
  const value = new RegExp(`^${name}:([^\\r\\n]*)`, "m").exec(info)?.[1];
  if (value === undefined) throw new Error(`its INFO lacks ${name}`);
  return value;
}

function isRefusal(cause: unknown): boolean {
  return (
    cause instanceof Error && /^(WRONGPASS|NOAUTH|NOPERM|ERR AUTH|ERR DB index|ERR invalid DB)/.test(cause.message)
  );
}
