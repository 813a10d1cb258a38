/**
 * Records in ZooKeeper: one persistent znode a record, never deleted, because its version would start again.
 *
 * A write reads the znode first, on the same connection and behind a sync, and compares its text: a version alone could
 * repeat after a restored snapshot, but a random writeId does not. ZooKeeper reports no time. Its epoch grows with each
 * election of a leader. docs/adr/0061 has the decision for all stores.
 */
import { MadeOnce } from "../link/made-once.ts";
import {
  type Endpoint,
  invalidUrl,
  parseRemoteUrl,
  readPassword,
  readTls,
  type RemoteUrl,
} from "../link/remote-url.ts";
import { StoreLink } from "../link/store-link.ts";
import { whileWanted } from "../link/while-wanted.ts";
import {
  type Entry,
  type ListAnswer,
  momentOf,
  type ReadAnswer,
  type RecordKey,
  type RecordStore,
  serverTiming,
  type StoreAdvice,
  type StoreMoment,
  type StoreOptions,
  type WriteAnswer,
} from "../record-store.ts";
import { errorCodes, ZooKeeperConnection, ZooKeeperError } from "./zookeeper-connection.ts";

const kind = "zookeeper";

interface OpenTree {
  readonly connection: ZooKeeperConnection;
  /** The birth of the namespace's znode, which differs after the tree was deleted and created again. */
  readonly birth: string;
}

/**
 * Opens a ZooKeeper store; the ensemble may start later.
 *
 * @param text - `zookeeper://`, with any of the ensemble's servers. The path is the znode above all namespaces;
 * default: `snowlane`. A user and a password are those of the digest scheme; the znodes then belong only to that user.
 * @throws IdError INVALID_CONFIG.
 */
export async function openZooKeeperStore(text: string, options: StoreOptions): Promise<RecordStore> {
  const url = parseRemoteUrl(text, { schemes: ["zookeeper"], defaultPort: 2_181, parameters: [] });
  if (!/^([\w.-]+(\/[\w.-]+)*)?$/.test(url.path)) {
    throw invalidUrl("a path of znodes is letters, digits, dots, hyphens and single slashes");
  }
  return new ZooKeeperStore(url, options);
}

class ZooKeeperStore implements RecordStore {
  readonly kind = kind;
  readonly durability = "durable";
  readonly liveness = { kind: "ttl" } as const;
  readonly timing = serverTiming;
  readonly #url: RemoteUrl;
  readonly #options: StoreOptions;
  readonly #link: StoreLink<OpenTree>;
  readonly #root: string;
  readonly #tree: MadeOnce<ZooKeeperConnection>;

  constructor(url: RemoteUrl, options: StoreOptions) {
    this.#url = url;
    this.#options = options;
    const root = `/${url.path || "snowlane"}/${options.namespace}`;
    const make = (connection: ZooKeeperConnection): Promise<void> => createTree(connection, root);
    this.#root = root;
    this.#tree = new MadeOnce({ kind, noun: "znode", names: [root], whereNew: options.whereNew, make });
    this.#link = new StoreLink({
      kind,
      callTimeoutMs: options.callTimeoutMs,
      servers: url.endpoints,
      connect: (server, signal, lost) => this.#connect(server, signal, lost),
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
      // The parent was there when we connected, so now the whole tree is gone.
      if (expected === undefined && reply.code === errorCodes.noNode) throw new ZooKeeperError(reply.code);
      const moment = toMoment(link, reply.zxid);
      if (reply.code !== 0) return { kind: "conflict", moment };
      return { kind: "applied", entry: { key, text: next }, moment };
    }, "write");
  }

  async advise(): Promise<readonly StoreAdvice[]> {
    const zxid = await this.#link.call(({ connection }) => connection.sync(this.#root));
    return epochOf(zxid) === 0n ? [standalone] : [];
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

  async #connect(endpoint: Endpoint, signal: AbortSignal, lost: () => void): Promise<OpenTree> {
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
        const birth = await this.#prepare(connection);
        connection.onEnd(lost);
        return { connection, birth };
      },
    );
  }

  /** Has the namespace's znode created if there is none yet. @returns Its birth. */
  async #prepare(connection: ZooKeeperConnection): Promise<string> {
    const [, existing] = await Promise.all([connection.sync("/"), connection.birthOf(this.#root)]);
    await this.#tree.ensure(connection, existing !== undefined);
    const birth = existing ?? (await connection.birthOf(this.#root));
    if (birth === undefined) throw new Error("the created znode is missing");
    return birth;
  }
}

/** Creates a znode and its parents. */
async function createTree(connection: ZooKeeperConnection, root: string): Promise<void> {
  const names = root.split("/").slice(1);
  for (let depth = 1; depth <= names.length; depth += 1) {
    await connection.create(`/${names.slice(0, depth).join("/")}`, "");
  }
}

function toEntry(key: RecordKey, data: { readonly text: string } | undefined): Entry | undefined {
  return data && { key, text: data.text };
}

function toMoment({ birth }: OpenTree, zxid: bigint): StoreMoment {
  return momentOf({ parts: { epoch: epochOf(zxid).toString(16), tree: birth }, at: zxid });
}

/** How often a leader was elected; a standalone server elects none. */
function epochOf(zxid: bigint): bigint {
  return zxid >> 32n;
}

const standalone: StoreAdvice = {
  detail: "The server is standalone (its epoch is 0): a restart on an older data folder does not show.",
  hint: 'Use an ensemble of three members, or follow docs/store-losses.md, "The store was restored from a backup".',
};

function isRefusal(cause: unknown): boolean {
  const codes: readonly number[] = [errorCodes.noAuth, errorCodes.authFailed];
  return cause instanceof ZooKeeperError && codes.includes(cause.code);
}
