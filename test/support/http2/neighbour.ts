import type { IncomingHttpHeaders } from "node:http";
import { type ClientHttp2Session, connect, type SecureClientSessionOptions } from "node:http2";
import { grpcFrame } from "./http-call.ts";

/** The results of a neighbour. */
export interface NeighbourReport {
  readonly calls: number;
  readonly failures: readonly string[];
  readonly p50Ms: number;
  readonly p99Ms: number;
}

const emptyMessage = grpcFrame(new Uint8Array(0));
/** Prefix, ID and deployment. */
const answerBytes = 19;

/**
 * A caller that behaves, on one connection: asks for an ID over gRPC, one call after another, and notes what it gets.
 */
export class Neighbour {
  readonly #session: ClientHttp2Session;
  readonly #fields: Readonly<Record<string, string>>;
  readonly #failures: string[] = [];
  #latenciesMs: number[] = [];
  #isStopped = false;
  readonly #ended: Promise<void>;

  /** @param fields - Further ones of its requests. */
  constructor(url: string, options: SecureClientSessionOptions = {}, fields: Readonly<Record<string, string>> = {}) {
    this.#fields = fields;
    this.#session = connect(url, options);
    this.#session.on("error", (error) => this.#failures.push(`connection: ${error.message}`));
    this.#session.on("close", () => {
      if (!this.#isStopped) this.#failures.push("the connection was closed");
      this.#isStopped = true;
    });
    this.#ended = this.#run();
  }

  /** Its calls since the last report, and all failures so far. */
  report(): NeighbourReport {
    const sorted = this.#latenciesMs.toSorted((a, b) => a - b);
    const at = (share: number): number => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
    const report = { calls: sorted.length, failures: [...this.#failures], p50Ms: at(0.5), p99Ms: at(0.99) };
    this.#latenciesMs = [];
    return report;
  }

  /** Resolves when that many more calls have been answered, or the connection is closed. */
  async served(calls: number): Promise<void> {
    const enough = this.#latenciesMs.length + calls;
    while (this.#latenciesMs.length < enough && !this.#isStopped) await new Promise(setImmediate);
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#ended;
    this.#session.destroy();
  }

  async #run(): Promise<void> {
    while (!this.#isStopped) {
      const startedMs = performance.now();
      const problem = await this.#ask();
      if (problem === undefined) this.#latenciesMs.push(performance.now() - startedMs);
      else this.#failures.push(problem);
    }
  }

  /** Asks for one ID. Resolves with what is wrong with the answer. */
  #ask(): Promise<string | undefined> {
    return new Promise((resolve) => {
      const path = "/snowlane.v1.IdService/NextId";
      const grpc = { "content-type": "application/grpc", te: "trailers" };
      const headers = { ":method": "POST", ":path": path, ...grpc, ...this.#fields };
      const call = this.#session.request(headers);
      let bytes = 0;
      let end: IncomingHttpHeaders = {};
      call.on("data", (chunk: Buffer) => (bytes += chunk.length));
      call.on("response", (head) => (end = head));
      call.on("trailers", (trailers) => (end = trailers));
      call.on("error", (error) => resolve(error.message));
      call.on("close", () => {
        const { "grpc-status": status, "grpc-message": message = "" } = end;
        const isRight = status === "0" && bytes === answerBytes;
        resolve(isRight ? undefined : `status ${String(status)}, ${bytes} bytes ${String(message)}`);
      });
      call.end(emptyMessage);
    });
  }
}
