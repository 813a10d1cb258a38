import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

interface FakeLease {
  metadata: { name: string; resourceVersion?: string; labels?: Record<string, string> };
}

/**
 * The Lease part of the Kubernetes API in this process, as faithful as the record store can tell: names are taken once,
 * a replacement needs the present resourceVersion, lists are paged and selected by labels. `npm run all -- kube`
 * runs the same tests on a real API server.
 */
export class FakeKubernetes {
  readonly #leases = new Map<string, FakeLease>();
  readonly #server = createServer((request, response) => {
    // A caller that gave up while its call was held is nobody's fault.
    this.#handle(request, response).catch(() => response.destroy());
  });
  readonly #held: (() => void)[] = [];
  #isPaused = false;
  #port = 0;
  #revision = 1;
  /** Only calls with this bearer token are let in. */
  readonly token: string | undefined;
  /** Answers each call with this status until it is unset. */
  failWith: number | undefined;

  constructor(token?: string) {
    this.token = token;
  }

  async listen(): Promise<void> {
    this.#server.listen(this.#port, "127.0.0.1");
    await once(this.#server, "listening");
    this.#port = (this.#server.address() as AddressInfo).port;
  }

  get port(): number {
    return this.#port;
  }

  /** The options that a store is opened with. */
  get url(): string {
    return `kubernetes://test/snowlane?server=http://127.0.0.1:${this.#port}`;
  }

  /** Takes calls and answers none, until {@link resume}. */
  pause(): void {
    this.#isPaused = true;
  }

  resume(): void {
    this.#isPaused = false;
    for (const goOn of this.#held.splice(0)) goOn();
  }

  /** Refuses connections until {@link restart}; keeps the leases. */
  async kill(): Promise<void> {
    this.resume();
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, "close");
  }

  restart(): Promise<void> {
    return this.listen();
  }

  async stop(): Promise<void> {
    if (this.#server.listening) await this.kill();
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (this.#isPaused) await new Promise<void>((resolve) => this.#held.push(resolve));
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const [status, body] = this.#answer(request, Buffer.concat(chunks).toString());
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
  }

  #answer(request: IncomingMessage, text: string): [number, unknown] {
    if (this.failWith !== undefined) return refusal(this.failWith, "InternalError");
    const isKnown = this.token === undefined || request.headers.authorization === `Bearer ${this.token}`;
    if (!isKnown) return refusal(401, "Unauthorized");
    const url = new URL(request.url ?? "", "http://localhost");
    const match = /^\/apis\/coordination\.k8s\.io\/v1\/namespaces\/([^/]+)\/leases(?:\/([^/]+))?$/.exec(url.pathname);
    if (match === null) return refusal(404, "NotFound");
    const [, namespace, name] = match;
    if (request.method === "GET" && name === undefined) return this.#list(`${namespace}`, url.searchParams);
    if (request.method === "GET") return this.#get(`${namespace}/${name}`);
    const lease = JSON.parse(text) as FakeLease;
    if (request.method === "POST") return this.#create(`${namespace}/${lease.metadata.name}`, lease);
    if (request.method === "PUT") return this.#replace(`${namespace}/${name}`, lease);
    return refusal(405, "MethodNotAllowed");
  }

  #get(key: string): [number, unknown] {
    const lease = this.#leases.get(key);
    return lease === undefined ? refusal(404, "NotFound") : [200, lease];
  }

  #list(namespace: string, query: URLSearchParams): [number, unknown] {
    const selector = (query.get("labelSelector") ?? "").split(",").map((part) => part.split("="));
    const start = Number(query.get("continue") ?? 0);
    const end = start + Number(query.get("limit") ?? 500);
    const found = [...this.#leases]
      .filter(([key, { metadata }]) => {
        return key.startsWith(`${namespace}/`) && selector.every(([name, value]) => metadata.labels?.[name!] === value);
      })
      .map(([, lease]) => lease);
    const metadata = end < found.length ? { continue: `${end}` } : {};
    return [200, { kind: "LeaseList", metadata, items: found.slice(start, end) }];
  }

  #create(key: string, lease: FakeLease): [number, unknown] {
    if (this.#leases.has(key)) return refusal(409, "AlreadyExists");
    return [201, this.#store(key, lease)];
  }

  #replace(key: string, lease: FakeLease): [number, unknown] {
    const standing = this.#leases.get(key);
    if (standing === undefined) return refusal(404, "NotFound");
    const version = lease.metadata.resourceVersion;
    if (version !== standing.metadata.resourceVersion) return refusal(409, "Conflict");
    return [200, this.#store(key, lease)];
  }

  #store(key: string, lease: FakeLease): FakeLease {
    this.#revision += 1;
    const stored = { ...lease, metadata: { ...lease.metadata, resourceVersion: `${this.#revision}` } };
    this.#leases.set(key, stored);
    return stored;
  }
}

function refusal(code: number, reason: string): [number, unknown] {
  return [code, { kind: "Status", status: "Failure", reason, code }];
}
