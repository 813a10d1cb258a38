/**
 * Links to the primary of a Redis: connecting, TLS, sentinels, which server is the primary, and the refusal of Redis
 * Cluster.
 *
 * A server that a sentinel names is asked for its role like any other: the sentinel may still name an old primary.
 */
import type { RedisClientType, createClient as CreateClient } from "@redis/client";
import { IdError } from "../../errors.ts";
import { loadDriver } from "./load-driver.ts";
import {
  type Endpoint,
  invalidUrl,
  parseCount,
  parseRemoteUrl,
  readPassword,
  readPasswordFile,
  readTls,
  type RemoteUrl,
} from "./remote-url.ts";
import { StoreLink } from "./store-link.ts";
import type { ServerAnswer } from "./watched-server.ts";
import { whileWanted } from "./while-wanted.ts";
import { WriterChoice } from "./writer-choice.ts";

const kind = "redis";

/** A connection. It uses RESP 2, in which every reply is a text, a number or a list. */
export type RedisClient = RedisClientType<{}, {}, {}, 2>;

/** How to connect to a Redis. */
export interface RedisDatabaseOptions {
  /** Longest time of a call, from its start to its answer, a connection included. */
  readonly callTimeoutMs: number;
  /** The password, if the URL names neither one nor a file with one. Never logged. */
  readonly password?: string | undefined;
}

interface Credentials {
  readonly username?: string;
  readonly password?: string;
  readonly database?: number;
}

/**
 * Opens a Redis database; the server may start later.
 *
 * @param text - `redis://` or `rediss://`, with a primary and its replicas in any order; or, with `sentinel=` and the
 * name of the primary, with the sentinels that monitor it. `sentinelUser=` and `sentinelPasswordFile=` are for the
 * sentinels; user and password are for the servers. The path is the database's number. `replicas=` is how many replicas
 * there should be: by default one less than the number of servers named; with sentinels, or with one server, as many as
 * are connected.
 * @throws IdError INVALID_CONFIG.
 */
export async function openRedisDatabase(text: string, options: RedisDatabaseOptions): Promise<RedisDatabase> {
  const { createClient } = await loadDriver(kind, "@redis/client", () => import("@redis/client"));
  const url = parseRemoteUrl(text, {
    schemes: ["redis", "rediss"],
    defaultPort: 6_379,
    parameters: ["sentinel", "sentinelUser", "sentinelPasswordFile", "replicas"],
  });
  const { parameters } = url;
  if (!/^\d{0,4}$/.test(url.path)) {
    throw invalidUrl("the path of a Redis URL is the number of a database");
  }
  if (parameters.has("sentinelPasswordFile") && !parameters.has("sentinel")) {
    throw invalidUrl("its parameter sentinelPasswordFile needs sentinel=, the name of the primary");
  }
  if (parameters.has("sentinelUser") && !parameters.has("sentinelPasswordFile")) {
    throw invalidUrl("its parameter sentinelUser needs sentinelPasswordFile=");
  }
  return new RedisDatabase(url, options, createClient);
}

/** The servers that a URL of Redis names. */
export class RedisDatabase {
  readonly #url: RemoteUrl;
  readonly #options: RedisDatabaseOptions;
  readonly #createClient: typeof CreateClient;
  readonly #replicas: number;

  constructor(url: RemoteUrl, options: RedisDatabaseOptions, createClient: typeof CreateClient) {
    this.#url = url;
    this.#options = options;
    this.#createClient = createClient;
    const othersNamed = url.parameters.has("sentinel") ? 0 : url.endpoints.length - 1;
    this.#replicas = parseCount(url.parameters, "replicas", 100) ?? othersNamed;
  }

  /** How many replicas there should be; 0 = as many as are connected. */
  get replicas(): number {
    return this.#replicas;
  }

  /** Whether another server can become the primary, as far as the URL shows. */
  get canFailOver(): boolean {
    return this.#replicas > 0 || this.#url.endpoints.length > 1 || this.#url.parameters.has("sentinel");
  }

  /** Makes the connection to the primary. Connects on first use. */
  link(): StoreLink<RedisClient> {
    const { endpoints: servers, parameters } = this.#url;
    return new StoreLink({
      kind,
      callTimeoutMs: this.#options.callTimeoutMs,
      servers,
      connect: (server, signal, lost) => this.#connect(server, signal, lost),
      destroy,
      isRefusal,
      hintOf,
      writers: {
        severalHint: "Stop the old primary, or make it a replica.",
        noneHint: "Name the primary, give it its replicas back, or promote one of them: REPLICAOF NO ONE.",
        asksAgain: servers.length > 1 || parameters.has("sentinel"),
        choice: new WriterChoice(),
        ask: (client, server) => this.#ask(client, server),
        // A run_id has 160 random bits and is drawn at each start.
        isOneServer: async () => true,
        prepare: async () => {},
      },
    });
  }

  /** With `sentinel=`, the servers of the URL are sentinels, and the servers that they name are not. */
  #isSentinel(server: Endpoint): boolean {
    return this.#url.parameters.has("sentinel") && this.#url.endpoints.includes(server);
  }

  /** Asks a sentinel for the primary, and any other server for its role. */
  async #ask(client: RedisClient, server: Endpoint): Promise<ServerAnswer> {
    return this.#isSentinel(server)
      ? askSentinel(client, this.#url.parameters.get("sentinel") ?? "")
      : this.#askRole(client);
  }

  /** Only a primary that reaches a majority counts as a server that takes writes. */
  async #askRole(client: RedisClient): Promise<ServerAnswer> {
    const server = await client.sendCommand<string>(["INFO", "server"]);
    const mode = /^(?:redis|server)_mode:(\w+)/m.exec(server)?.[1];
    if (mode === "cluster") {
      throw refused(
        "it is a Redis Cluster, whose servers each keep a part of the keys. Use a primary with replicas, with or without sentinels",
      );
    }
    if (mode === "sentinel") throw refused("it is a sentinel. Add sentinel= and the name of the primary to the URL");
    const replication = await client.sendCommand<string>(["INFO", "replication"]);
    if (infoField(replication, "role") !== "master") {
      return { kind: "other", problem: "it is a replica and takes no writes" };
    }
    const connected = Number(infoField(replication, "connected_slaves"));
    const needed = replicasForMajority(this.#replicas);
    // An old primary that was cut off from its replicas would fail every call, while another server may serve.
    if (connected < needed) {
      return { kind: "other", problem: `it has ${connected} of the ${needed} replicas that make a majority` };
    }
    return { kind: "writer", role: { server: infoField(server, "run_id") } };
  }

  async #connect(server: Endpoint, signal: AbortSignal, lost: () => void): Promise<RedisClient> {
    const credentials = this.#isSentinel(server) ? await this.#sentinelCredentials() : await this.#credentials();
    const tls = await readTls(this.#url, server, this.#url.scheme === "rediss");
    // The signal closes the socket itself, because a driver that is destroyed while it connects leaves its socket open.
    const socket = { host: server.host, port: server.port, reconnectStrategy: false, signal } as const;
    const client = this.#createClient({
      ...credentials,
      socket: tls === undefined ? socket : { ...tls, ...socket, tls: true },
      RESP: 2,
      disableOfflineQueue: true,
      disableClientInfo: true,
    });
    // The call that waits reports the error; without a listener the process would end.
    client.on("error", () => {});
    return whileWanted(
      signal,
      () => destroy(client),
      async () => {
        await client.connect();
        return client.on("end", lost).on("error", lost);
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

  async #sentinelCredentials(): Promise<Credentials> {
    const username = this.#url.parameters.get("sentinelUser");
    const password = await readPasswordFile(this.#url, "sentinelPasswordFile");
    return { ...(username === undefined ? {} : { username }), ...(password === undefined ? {} : { password }) };
  }
}

async function askSentinel(client: RedisClient, name: string): Promise<ServerAnswer> {
  const command = ["SENTINEL", "get-master-addr-by-name", name];
  const [host, port] = (await client.sendCommand<string[] | null>(command)) ?? [];
  if (host === undefined || port === undefined) throw new Error("the sentinel knows no primary of this name");
  return { kind: "names", server: { host, port: Number(port) } };
}

/** How many of `replicas` form a majority of all servers together with the primary. */
export function replicasForMajority(replicas: number): number {
  return Math.floor((replicas + 1) / 2);
}

/** The value of a line `name:value` of INFO. */
export function infoField(info: string, name: string): string {
  const value = new RegExp(`^${name}:([^\\r\\n]*)`, "m").exec(info)?.[1];
  if (value === undefined) throw new Error(`its INFO lacks ${name}`);
  return value;
}

/** Ends a client at once; the driver throws when it has ended by itself. */
function destroy(client: RedisClient): void {
  if (client.isOpen) client.destroy();
}

function refused(problem: string): IdError {
  return new IdError("INVALID_CONFIG", `The redis store cannot be used: ${problem}.`, {
    metadata: { store: kind, problem },
  });
}

function isRefusal(cause: unknown): boolean {
  return (
    cause instanceof Error &&
    /^(WRONGPASS|NOAUTH|NOPERM|ERR AUTH|ERR DB index|ERR invalid DB|ERR SELECT is not allowed)/.test(cause.message)
  );
}

/** What an operator can do about an error of the server. */
function hintOf(cause: unknown): string | undefined {
  const code = cause instanceof Error ? /^[A-Z]+/.exec(cause.message)?.[0] : undefined;
  if (code === "OOM") return "Raise its maxmemory, or delete other keys.";
  if (code === "NOREPLICAS") return "Bring its replicas back, or lower min-replicas-to-write.";
  return code === "MISCONF" ? "Its disk may be full: its log says what is wrong with it." : undefined;
}
