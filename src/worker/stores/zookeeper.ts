/**
 * Records in ZooKeeper: one persistent znode a record, never deleted, for its version would start again.
 *
 * A write reads the znode first, on the same connection and behind a sync, and compares its text: a version alone could
 * come again after a restored snapshot, a random writeId does not. ZooKeeper has no clock to give. Its epoch grows with
 * each election of a leader.
 */
import { IdError } from "../../errors.ts";
import type {
  Entry,
  ListAnswer,
  ReadAnswer,
  RecordKey,
  RecordStore,
  StoreMoment,
  StoreOptions,
  WriteAnswer,
} from "../record-store.ts";
import { connectToAny, nothingKept, StoreLink, whileWanted } from "./store-link.ts";
import { type Endpoint, parseRemoteUrl, readPassword, readTls, type RemoteUrl } from "./remote-url.ts";
import { errorCodes, ZooKeeperConnection, ZooKeeperError } from "./zookeeper-connection.ts";

const kind = "zookeeper";

interface Link {
  readonly connection: ZooKeeperConnection;
  /** Birth of the namespace's znode: another one after the tree was deleted and made anew. */
  readonly birth: string;
}

/**
 * Opens a ZooKeeper store; the ensemble need not be there yet.
 *
 * @param text - `zookeeper://`, with any of the ensemble's servers. The path is the znode above all namespaces,
 * `snowlane` without one. A user and a password are those of the digest scheme; the znodes then belong to that user
 * alone.
 * @throws IdError INVALID_CONFIG.
 */
export async function openZooKeeperStore(text: string, options: StoreOptions): Promise<RecordStore> {
  const url = parseRemoteUrl(text, { schemes: ["zookeeper"], defaultPort: 2_181, parameters: [] });
  if (!/^([\w.-]+(\/[\w.-]+)*)?$/.test(url.path)) {
    const message =
      "The store URL is not valid: a path of znodes is letters, digits, dots, hyphens and single slashes.";
    throw new IdError("INVALID_CONFIG", message);
  }
  return new ZooKeeperStore(url, options);
}

class ZooKeeperStore implements RecordStore {
  readonly kind = kind;
  readonly durability = "durable";
  readonly liveness = { kind: "ttl" } as const;
  readonly timing = { windowMs: 30_000, renewalPeriodMs: 5_000, ttlMs: 33_000 };
  readonly #url: RemoteUrl;
  readonly #options: StoreOptions;
  readonly #link: StoreLink<Link>;
  readonly #root: string;
  #hasSeenRoot = false;

  constructor(url: RemoteUrl, options: StoreOptions) {
    this.#url = url;
    this.#options = options;
    this.#root = `/${url.path || "snowlane"}/${options.namespace}`;
    this.#link = new StoreLink({
      kind,
      callTimeoutMs: options.callTimeoutMs,
      connect: async (signal, lost) => {
        const link = await connectToAny(url.endpoints, signal, options.callTimeoutMs, this.#connect);
        link.connection.onEnd(lost);
        return link;
      },
      destroy: ({ connection }) => connection.destroy(),
      isRefusal,
    });
  }

  moment(): Promise<StoreMoment> {
    return this.#link.call(async (link) => toMoment(link, await link.connection.sync(this.#root)));
  }

  list(): Promise<ListAnswer> {
    return this.#link.call(async (link) => {
      const { connection } = link;
      const [zxid, keys] = await Promise.all([connection.sync(this.#root), connection.getChildren(this.#root)]);
      const found = await Promise.all(keys.map(async (key) => toEntry(key, await connection.getData(this.#path(key)))));
      return { entries: found.filter((entry) => entry !== undefined), moment: toMoment(link, zxid) };
    });
  }

  read(key: RecordKey): Promise<ReadAnswer> {
    return this.#link.call(async (link) => {
      const { connection } = link;
      const [zxid, data] = await Promise.all([connection.sync(this.#root), connection.getData(this.#path(key))]);
      return { entry: toEntry(key, data), moment: toMoment(link, zxid) };
    });
  }

  compareAndSet(key: RecordKey, expected: Entry | undefined, next: string): Promise<WriteAnswer> {
    return this.#link.call(async (link) => {
      const { connection } = link;
      const path = this.#path(key);
      const reply =
        expected === undefined
          ? await connection.create(path, next)
          : await this.#replace(connection, path, expected.text, next);
      // The parent is there since we connected: without it the whole tree is gone.
      if (expected === undefined && reply.code === errorCodes.noNode) throw new ZooKeeperError(reply.code);
      const moment = toMoment(link, reply.zxid);
      if (reply.code !== 0) return { kind: "conflict", moment };
      return { kind: "applied", entry: { key, text: next, version: next }, moment };
    });
  }

  async close(): Promise<void> {
    this.#link.close();
  }

  async #replace(
    connection: ZooKeeperConnection,
    path: string,
    expected: string,
    next: string,
  ): Promise<{ readonly zxid: bigint; readonly code: number }> {
    const [zxid, data] = await Promise.all([connection.sync(this.#root), connection.getData(path)]);
    if (data?.text !== expected) return { zxid, code: errorCodes.badVersion };
    return connection.setData(path, next, data.version);
  }

  #path(key: RecordKey): string {
    return `${this.#root}/${key}`;
  }

  readonly #connect = async (endpoint: Endpoint, signal: AbortSignal): Promise<Link> => {
    const tls = await readTls(this.#url, endpoint);
    const { user } = this.#url;
    const password = (await readPassword(this.#url, this.#options.password)) ?? "";
    const digest = user === undefined ? undefined : `${user}:${password}`;
    const connection = new ZooKeeperConnection({ ...endpoint, tls, digest });
    return whileWanted(
      signal,
      () => connection.destroy(),
      async () => {
        await connection.open();
        return { connection, birth: await this.#prepare(connection) };
      },
    );
  };

  /** Makes the namespace's znode where there is none: only once, for a tree that vanished held marks. */
  async #prepare(connection: ZooKeeperConnection): Promise<string> {
    const [, existing] = await Promise.all([connection.sync("/"), connection.birthOf(this.#root)]);
    if (existing === undefined && this.#hasSeenRoot) {
      const message = `The znode ${this.#root} is gone from the ZooKeeper store. Restore it; servers started from then on go on.`;
      throw new IdError("STORE_WENT_BACK", message);
    }
    if (existing === undefined && this.#options.whereNew === "refuse") {
      throw nothingKept(kind, `there is no znode ${this.#root}`);
    }
    if (existing === undefined) {
      const names = this.#root.split("/").slice(1);
      for (let depth = 1; depth <= names.length; depth += 1) {
        await connection.create(`/${names.slice(0, depth).join("/")}`, "");
      }
    }
    const birth = existing ?? (await connection.birthOf(this.#root));
    if (birth === undefined) throw new Error("the znode that was made is not there");
    this.#hasSeenRoot = true;
    return birth;
  }
}

function toEntry(key: RecordKey, data: { readonly text: string } | undefined): Entry | undefined {
  return data && { key, text: data.text, version: data.text };
}

function toMoment({ birth }: Link, zxid: bigint): StoreMoment {
  const identity = `epoch ${(zxid >> 32n).toString(16)}, tree ${birth}`;
  return { clockMs: undefined, incarnation: { identity, startedMs: undefined, emptyMeans: "new" } };
}

function isRefusal(cause: unknown): boolean {
  const codes: readonly number[] = [errorCodes.noAuth, errorCodes.authFailed];
  return cause instanceof ZooKeeperError && codes.includes(cause.code);
}
