/** The four calls of the Kubernetes API that the record store needs, on Lease objects. */
import { readFile } from "node:fs/promises";
import { Agent as HttpAgent, request as requestHttp } from "node:http";
import { Agent as HttpsAgent, request as requestHttps } from "node:https";
import type { ConnectionOptions } from "node:tls";
import * as v from "valibot";

/** Where the API is, and the credentials for it. */
export interface KubernetesAddress {
  readonly protocol: "http:" | "https:";
  readonly host: string;
  readonly port: number;
  /** undefined = plain HTTP. */
  readonly tls: ConnectionOptions | undefined;
  /** The file with the bearer token. It is read for each call, because a mounted token is replaced about every hour. */
  readonly tokenFile: string | undefined;
}

const leaseSchema = v.object({
  metadata: v.object({
    name: v.string(),
    resourceVersion: v.optional(v.string()),
    annotations: v.optional(v.record(v.string(), v.string())),
  }),
});
const leaseListSchema = v.object({
  metadata: v.object({ continue: v.optional(v.string()) }),
  items: v.array(leaseSchema),
});

/** The fields of a Lease object that are used here; its other fields are sent back unchanged. */
export type Lease = v.InferOutput<typeof leaseSchema> & Readonly<Record<string, unknown>>;

/** A page of a list. */
export interface LeasePage {
  readonly leases: readonly Lease[];
  /** For the next page; undefined on the last. */
  readonly continueToken: string | undefined;
}

/** An answer that is neither a success nor one that the caller handles. */
export class KubernetesError extends Error {
  override readonly name = "KubernetesError";
  readonly status: number;

  constructor(status: number, detail: string) {
    super(`the API answers ${status} (${detail})`);
    this.status = status;
  }
}

interface Answer {
  readonly status: number;
  readonly body: unknown;
}

const bodyBytesMax = 64 * 1_024 * 1_024;

/** Calls the API over connections of its own, which live until {@link KubernetesApi.destroy}. */
export class KubernetesApi {
  readonly #address: KubernetesAddress;
  readonly #agent: HttpAgent | HttpsAgent;
  readonly #leasesPath: string;
  readonly #ending = new AbortController();

  constructor(address: KubernetesAddress, namespace: string) {
    this.#address = address;
    this.#agent =
      address.protocol === "http:"
        ? new HttpAgent({ keepAlive: true })
        : new HttpsAgent({ ...address.tls, keepAlive: true });
    this.#leasesPath = `/apis/coordination.k8s.io/v1/namespaces/${encodeURIComponent(namespace)}/leases`;
  }

  /** Reads a lease; undefined if there is none with that name. */
  async get(name: string): Promise<Lease | undefined> {
    const { status, body } = await this.#call("GET", this.#path(name), undefined, [404]);
    return status === 404 ? undefined : parseLease(body);
  }

  /** One page of the leases with these labels, as they are at the time of the call. */
  async list(labelSelector: string, limit: number, continueToken: string | undefined): Promise<LeasePage> {
    const query = new URLSearchParams({ labelSelector, limit: `${limit}` });
    if (continueToken !== undefined) query.set("continue", continueToken);
    const { body } = await this.#call("GET", `${this.#leasesPath}?${query.toString()}`, undefined, []);
    const { metadata, items } = v.parse(leaseListSchema, body);
    return { leases: items, continueToken: metadata.continue === "" ? undefined : metadata.continue };
  }

  /** Creates a lease. @returns false if there is one with that name. */
  async create(lease: unknown): Promise<boolean> {
    return (await this.#call("POST", this.#leasesPath, lease, [409])).status !== 409;
  }

  /** Replaces a lease. @returns false if it changed since its resourceVersion, or is gone. */
  async replace(lease: Lease): Promise<boolean> {
    const { status } = await this.#call("PUT", this.#path(lease.metadata.name), lease, [404, 409]);
    return status === 200;
  }

  /** Ends all connections at once. */
  destroy(): void {
    this.#ending.abort();
    this.#agent.destroy();
  }

  #path(name: string): string {
    return `${this.#leasesPath}/${encodeURIComponent(name)}`;
  }

  async #call(method: string, path: string, body: unknown, accepted: readonly number[]): Promise<Answer> {
    const text = body === undefined ? undefined : JSON.stringify(body);
    const { status, content } = await this.#send(method, path, text, await this.#headers(text));
    if ((status >= 200 && status < 300) || accepted.includes(status)) return { status, body: JSON.parse(content) };
    throw new KubernetesError(status, reasonOf(content));
  }

  async #headers(text: string | undefined): Promise<Record<string, string>> {
    const { tokenFile } = this.#address;
    return {
      accept: "application/json",
      ...(text === undefined
        ? {}
        : { "content-type": "application/json", "content-length": `${Buffer.byteLength(text)}` }),
      ...(tokenFile === undefined ? {} : { authorization: `Bearer ${(await readFile(tokenFile, "utf8")).trim()}` }),
    };
  }

  #send(
    method: string,
    path: string,
    text: string | undefined,
    headers: Record<string, string>,
  ): Promise<{ readonly status: number; readonly content: string }> {
    const { protocol, host, port } = this.#address;
    const { promise, resolve, reject } = Promise.withResolvers<{ status: number; content: string }>();
    const send = protocol === "http:" ? requestHttp : requestHttps;
    const options = { protocol, host, port, method, path, headers, agent: this.#agent, signal: this.#ending.signal };
    const outgoing = send(options, (incoming) => {
      const chunks: Buffer[] = [];
      let size = 0;
      incoming.on("data", (chunk: Buffer) => {
        size += chunk.length;
        if (size > bodyBytesMax) incoming.destroy(new Error("its answer is too long"));
        else chunks.push(chunk);
      });
      incoming.on("error", reject);
      // An answer that is cut off emits no end event, and emits an error event only if it was destroyed with an error.
      incoming.on("close", () => reject(new Error("its answer was cut off")));
      incoming.on("end", () => {
        resolve({ status: incoming.statusCode ?? 0, content: Buffer.concat(chunks).toString() });
      });
    });
    outgoing.on("error", reject);
    outgoing.end(text);
    return promise;
  }
}

function parseLease(body: unknown): Lease {
  v.assert(leaseSchema, body);
  return body;
}

/** The `reason` of a Status object: `Forbidden`, `Conflict`, … */
function reasonOf(content: string): string {
  try {
    const { reason } = JSON.parse(content) as { reason?: unknown };
    return typeof reason === "string" && /^\w{1,40}$/.test(reason) ? reason : "no reason";
  } catch {
    return "no reason";
  }
}
