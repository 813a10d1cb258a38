/**
 * Records in etcd 3: one key a record, compared by value in a transaction.
 *
 * Values are compared, not revisions: after a snapshot is restored, revisions repeat, but random writeIds do not. Reads
 * are linearizable, which is etcd's default. etcd reports no time. Its cluster ID survives a restore with the same
 * token, so that such a loss is not noticed, and the runbook has a step for it. docs/adr/0061 has the decision for all
 * stores.
 */
import { type Client, Code, ConnectError, createClient, type Interceptor } from "@connectrpc/connect";
import { createGrpcTransport, Http2SessionManager } from "@connectrpc/connect-node";
import { Auth, Compare_CompareResult, Compare_CompareTarget, KV, type ResponseHeader } from "../gen/etcd/rpc_pb.ts";
import { IdError } from "../errors.ts";
import {
  type Entry,
  type ListAnswer,
  momentOf,
  type ReadAnswer,
  type RecordKey,
  type RecordStore,
  serverTiming,
  type StoreMoment,
  type StoreOptions,
  type WriteAnswer,
} from "./record-store.ts";
import { StoreLink } from "./link/store-link.ts";
import { whileWanted } from "./link/while-wanted.ts";
import { type Endpoint, parseRemoteUrl, readPassword, readTls, type RemoteUrl } from "./link/remote-url.ts";

const kind = "etcd";

/**
 * A connection. We make the HTTP/2 session ourselves, so that it can be destroyed: a frozen server would keep its
 * streams open.
 */
interface EtcdConnection {
  readonly session: Http2SessionManager;
  readonly kv: Client<typeof KV>;
}

/**
 * Opens an etcd store; the cluster may start later.
 *
 * @param text - `etcd://`, with any of the cluster's members. The path is the prefix of all keys; default: `snowlane`.
 * @throws IdError INVALID_CONFIG.
 */
export async function openEtcdStore(text: string, options: StoreOptions): Promise<RecordStore> {
  return new EtcdStore(parseRemoteUrl(text, { schemes: ["etcd"], defaultPort: 2_379, parameters: [] }), options);
}

class EtcdStore implements RecordStore {
  readonly kind = kind;
  readonly durability = "durable";
  readonly liveness = { kind: "ttl" } as const;
  readonly timing = serverTiming;
  readonly #url: RemoteUrl;
  readonly #options: StoreOptions;
  readonly #link: StoreLink<EtcdConnection>;
  /** Ends with a slash, so that no namespace's prefix is the beginning of another's. */
  readonly #prefix: string;

  constructor(url: RemoteUrl, options: StoreOptions) {
    this.#url = url;
    this.#options = options;
    this.#prefix = `/${url.path.replace(/\/+$/, "") || "snowlane"}/${options.namespace}/`;
    this.#link = new StoreLink({
      kind,
      callTimeoutMs: options.callTimeoutMs,
      servers: url.endpoints,
      connect: (server, signal) => this.#connect(server, signal),
      destroy: ({ session }) => session.abort(),
      isRefusal,
      hintOf,
    });
  }

  async moment(): Promise<StoreMoment> {
    const { header } = await this.#link.call(({ kv }) => kv.range({ key: this.#key("layout"), limit: 1n }));
    return toMoment(header);
  }

  async list(): Promise<ListAnswer> {
    // In ASCII, `0` follows the slash, so the range contains all keys that begin with the prefix.
    const range = { key: encode(this.#prefix), rangeEnd: encode(`${this.#prefix.slice(0, -1)}0`) };
    const { header, kvs } = await this.#link.call(({ kv }) => kv.range(range));
    const entries = kvs.map(({ key, value }) => ({ key: decode(key).slice(this.#prefix.length), text: decode(value) }));
    return { entries, moment: toMoment(header) };
  }

  async read(key: RecordKey): Promise<ReadAnswer> {
    const { header, kvs } = await this.#link.call(({ kv }) => kv.range({ key: this.#key(key) }));
    return { entry: kvs[0] && { key, text: decode(kvs[0].value) }, moment: toMoment(header) };
  }

  async compareAndSet(key: RecordKey, expected: Entry | undefined, next: string): Promise<WriteAnswer> {
    const target =
      expected === undefined
        ? // Version 0: the key is absent.
          ({ target: Compare_CompareTarget.VERSION, targetUnion: { case: "version", value: 0n } } as const)
        : ({
            target: Compare_CompareTarget.VALUE,
            targetUnion: { case: "value", value: encode(expected.text) },
          } as const);
    const put = { case: "requestPut", value: { key: this.#key(key), value: encode(next) } } as const;
    const { header, succeeded } = await this.#link.call(
      ({ kv }) =>
        kv.txn({
          compare: [{ key: this.#key(key), result: Compare_CompareResult.EQUAL, ...target }],
          success: [{ request: put }],
        }),
      "write",
    );
    const moment = toMoment(header);
    return succeeded ? { kind: "applied", entry: { key, text: next }, moment } : { kind: "conflict", moment };
  }

  async close(): Promise<void> {
    this.#link.close();
  }

  #key(key: RecordKey): Uint8Array<ArrayBuffer> {
    return encode(this.#prefix + key);
  }

  async #connect(endpoint: Endpoint, signal: AbortSignal): Promise<EtcdConnection> {
    const tls = await readTls(this.#url, endpoint);
    const host = endpoint.host.includes(":") ? `[${endpoint.host}]` : endpoint.host;
    const baseUrl = `${tls === undefined ? "http" : "https"}://${host}:${endpoint.port}`;
    const session = new Http2SessionManager(baseUrl, {}, tls ?? {});
    return whileWanted(
      signal,
      () => session.abort(),
      async () => {
        const token = await this.#authenticate(baseUrl, session);
        const interceptors = token === undefined ? [] : [withToken(token)];
        const kv = createClient(KV, createGrpcTransport({ baseUrl, sessionManager: session, interceptors }));
        // Only an answer to a read shows that this member reaches the others.
        await kv.range({ key: this.#key("layout"), limit: 1n });
        return { session, kv };
      },
    );
  }

  async #authenticate(baseUrl: string, sessionManager: Http2SessionManager): Promise<string | undefined> {
    const name = this.#url.user;
    if (name === undefined) return undefined;
    const password = (await readPassword(this.#url, this.#options.password)) ?? "";
    const auth = createClient(Auth, createGrpcTransport({ baseUrl, sessionManager }));
    return (await auth.authenticate({ name, password })).token;
  }
}

function withToken(token: string): Interceptor {
  return (next) => (request) => {
    request.header.set("authorization", token);
    return next(request);
  };
}

function toMoment(header: ResponseHeader | undefined): StoreMoment {
  if (header === undefined)
    throw new IdError(
      "STORE_UNAVAILABLE",
      "The etcd store answers without its cluster ID: check whether the URL names etcd itself.",
    );
  return momentOf({ parts: { cluster: header.clusterId.toString(16) }, at: header.revision });
}

function encode(text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(text);
}

function decode(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}

/**
 * Whether a role has no access to the prefix, or a password is wrong, which etcd reports as an invalid argument. An
 * invalid token is not a refusal: tokens expire, and the next connection gets a new one.
 */
function isRefusal(cause: unknown): boolean {
  return cause instanceof ConnectError && [Code.PermissionDenied, Code.InvalidArgument].includes(cause.code);
}

/** What an operator can do about an error of the server. */
function hintOf(cause: unknown): string | undefined {
  if (!(cause instanceof ConnectError) || !cause.rawMessage.includes("database space exceeded")) return undefined;
  return "Compact and defragment it, or raise its --quota-backend-bytes, and then run etcdctl alarm disarm.";
}
