/**
 * Records in Kubernetes: one Lease object a record, its text in an annotation.
 *
 * A write reads the object first and compares its text, then replaces it under the resourceVersion that was read. So
 * the comparison is by value, and is right even after the cluster's own store was restored. Nothing in the API shows
 * that its data went back. docs/adr/0061 has the decision for all stores.
 */
import { invalidUrl, parseRemoteUrl, readTls, type RemoteUrl } from "../link/remote-url.ts";
import { StoreLink } from "../link/store-link.ts";
import {
  type Entry,
  type ListAnswer,
  momentOf,
  type ReadAnswer,
  type RecordKey,
  type RecordStore,
  type StoreMoment,
  type StoreOptions,
  type StoreTiming,
  type WriteAnswer,
} from "../record-store.ts";
import { KubernetesApi, KubernetesError, type Lease } from "./kubernetes-api.ts";

const kind = "kubernetes";
/** Long times, for few writes, because every write goes through the cluster's API. */
export const kubernetesTiming: StoreTiming = { windowMs: 180_000, renewalPeriodMs: 30_000, ttlMs: 183_000 };
const annotation = "snowlane.dev/record";
const pageSize = 500;

/**
 * This folder is mounted into every pod. Source: "Accessing the Kubernetes API from a Pod" in the Kubernetes
 * documentation.
 */
const serviceAccount = "/var/run/secrets/kubernetes.io/serviceaccount";
const clusterServer = "https://kubernetes.default.svc";

/**
 * Opens a Kubernetes store; the API may start later.
 *
 * @param text - `kubernetes://namespace/name`: the Kubernetes namespace of the Lease objects, and the beginning of
 * their names. Inside a pod, nothing else is needed. Elsewhere `server=` is the API's URL, and `tokenFile=`, or
 * `certFile=` and `keyFile=`, are the caller's credentials.
 * @throws IdError INVALID_CONFIG.
 */
export async function openKubernetesStore(text: string, options: StoreOptions): Promise<RecordStore> {
  const url = parseRemoteUrl(text, { schemes: ["kubernetes"], defaultPort: 443, parameters: ["server", "tokenFile"] });
  const [endpoint, ...others] = url.endpoints;
  const label = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;
  if (others.length > 0 || !label.test(endpoint!.host) || !label.test(url.path)) {
    throw invalidUrl("it is not kubernetes://namespace/name, both in lower-case letters, digits and hyphens");
  }
  return new KubernetesStore(url, options);
}

class KubernetesStore implements RecordStore {
  readonly kind = kind;
  readonly durability = "durable";
  readonly liveness = { kind: "ttl" } as const;
  readonly timing = kubernetesTiming;
  readonly #link: StoreLink<KubernetesApi>;
  readonly #labels: Readonly<Record<string, string>>;
  readonly #namePrefix: string;
  readonly #moment: StoreMoment;

  constructor(url: RemoteUrl, options: StoreOptions) {
    const kubernetesNamespace = url.endpoints[0]!.host;
    this.#labels = { "snowlane.dev/name": url.path, "snowlane.dev/namespace": options.namespace };
    // A name and a namespace contain no dots, so no two prefixes overlap.
    this.#namePrefix = `${url.path}.${options.namespace}.`;
    this.#moment = momentOf({ parts: { leases: `${kubernetesNamespace}/${url.path}` } });
    this.#link = new StoreLink({
      kind,
      callTimeoutMs: options.callTimeoutMs,
      servers: url.endpoints,
      connect: async () => new KubernetesApi(await readAddress(url), kubernetesNamespace),
      destroy: (api) => api.destroy(),
      isRefusal,
      hintOf,
    });
  }

  async moment(): Promise<StoreMoment> {
    await this.#link.call((api) => api.get(`${this.#namePrefix}layout`));
    return this.#moment;
  }

  async list(): Promise<ListAnswer> {
    const selector = Object.entries(this.#labels).map(([name, value]) => `${name}=${value}`);
    const entries = await this.#link.call(async (api) => {
      const found: Entry[] = [];
      let token: string | undefined;
      do {
        const page = await api.list(selector.join(","), pageSize, token);
        token = page.continueToken;
        found.push(...page.leases.map((lease) => this.#toEntry(lease)).filter((entry) => entry !== undefined));
      } while (token !== undefined);
      return found;
    });
    return { entries, moment: this.#moment };
  }

  async read(key: RecordKey): Promise<ReadAnswer> {
    const lease = await this.#link.call((api) => api.get(this.#namePrefix + key));
    return { entry: lease && this.#toEntry(lease), moment: this.#moment };
  }

  async compareAndSet(key: RecordKey, expected: Entry | undefined, next: string): Promise<WriteAnswer> {
    const isApplied = await this.#link.call(
      (api) =>
        expected === undefined ? api.create(this.#newLease(key, next)) : this.#replace(api, key, expected.text, next),
      "write",
    );
    if (!isApplied) return { kind: "conflict", moment: this.#moment };
    return { kind: "applied", entry: { key, text: next }, moment: this.#moment };
  }

  async close(): Promise<void> {
    this.#link.close();
  }

  async #replace(api: KubernetesApi, key: RecordKey, expected: string, next: string): Promise<boolean> {
    const lease = await api.get(this.#namePrefix + key);
    if (lease?.metadata.annotations?.[annotation] !== expected) return false;
    const annotations = { ...lease.metadata.annotations, [annotation]: next };
    return api.replace({ ...lease, metadata: { ...lease.metadata, annotations } });
  }

  #newLease(key: RecordKey, text: string): unknown {
    return {
      apiVersion: "coordination.k8s.io/v1",
      kind: "Lease",
      metadata: { name: this.#namePrefix + key, labels: this.#labels, annotations: { [annotation]: text } },
      spec: {},
    };
  }

  /** undefined for a lease without our annotation: it is another program's, or was emptied by hand. */
  #toEntry({ metadata }: Lease): Entry | undefined {
    const text = metadata.annotations?.[annotation];
    if (text === undefined || !metadata.name.startsWith(this.#namePrefix)) return undefined;
    return { key: metadata.name.slice(this.#namePrefix.length), text };
  }
}

/** Reads the files for each connection again: certificates are renewed in place. */
async function readAddress(url: RemoteUrl): Promise<ConstructorParameters<typeof KubernetesApi>[0]> {
  const given = url.parameters.get("server");
  const server = URL.parse(given ?? clusterServer);
  if (server === null || !["http:", "https:"].includes(server.protocol) || server.pathname !== "/") {
    throw invalidUrl("its parameter server is not https://host or https://host:port");
  }
  const protocol = server.protocol as "http:" | "https:";
  const port = server.port === "" ? { "http:": 80, "https:": 443 }[protocol] : Number(server.port);
  const host = server.hostname.replace(/^\[(.*)\]$/, "$1");
  const mounted = given === undefined ? new Map([["caFile", `${serviceAccount}/ca.crt`]]) : new Map<string, string>();
  const files = { ...url, parameters: new Map([...mounted, ...url.parameters]) };
  const tokenFile = url.parameters.get("tokenFile") ?? (given === undefined ? `${serviceAccount}/token` : undefined);
  const tls = protocol === "https:" ? await readTls(files, { host, port }, true) : undefined;
  return { protocol, host, port, tls, tokenFile };
}

/** Whether the credentials are refused, the call is not allowed, or the namespace does not exist. */
function isRefusal(cause: unknown): boolean {
  return cause instanceof KubernetesError && [401, 403, 404, 422].includes(cause.status);
}

/** What an operator can do about an error of the server. */
function hintOf(cause: unknown): string | undefined {
  const isFault = cause instanceof KubernetesError && cause.status >= 500;
  return isFault ? "Look in the log of the API server." : undefined;
}
