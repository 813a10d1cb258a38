import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import { systemTimers } from "../../clock/clock.ts";
import { IdError } from "../../errors.ts";
import { readAsset } from "../../own-files.ts";
import { unavailable } from "./sqlite-error.ts";
import type { Closable, MethodOf, ThreadCall, ThreadReply } from "./thread-calls.ts";

/** How a thread is started. */
export interface ThreadLinkOptions {
  /** See {@link findThread}. */
  readonly code: URL | string;
  /** The path of the file that it works on, for messages. */
  readonly path: string;
  /**
   * Longest time of a call, from its start to its answer; for the first calls, it is counted from when the thread is
   * ready.
   */
  readonly callTimeoutMs: number;
  /** Passed to the thread. */
  readonly workerData: unknown;
}

/** The longest that the thread may take to be ready: it has to load its code, perhaps on an overloaded machine. */
const threadStartTimeoutMs = 60_000;
/** The longest wait for the end of the thread. */
const threadEndTimeoutMs = 2_000;

/**
 * Finds the code of a thread. In the sources its file is beside its caller; in dist/, beside the entry or one folder
 * above a shared chunk. The executable contains the code itself, as a script.
 *
 * @param name - Its entry in the bundle, and its file in the sources.
 * @param callerUrl - `import.meta.url` of the file that starts it.
 */
export function findThread(name: string, callerUrl: string): URL | string {
  const asset = readAsset(`${name}.js`);
  if (asset !== undefined) return new TextDecoder().decode(asset);
  if (callerUrl.endsWith(".ts")) return new URL(`./${name}.ts`, callerUrl);
  const beside = new URL(`./${name}.js`, callerUrl);
  return existsSync(fileURLToPath(beside)) ? beside : new URL(`../${name}.js`, callerUrl);
}

/**
 * The link to a thread that works on a SQLite file, as StoreLink is the link to a server.
 *
 * `T` is the object in the thread, whose methods are called. Every call ends within its deadline, no matter what the
 * disk does; the start of the thread does not count, because it says nothing about the disk. A call that fails is never
 * repeated here: its outcome is unknown.
 */
export class ThreadLink<T extends Closable> {
  readonly #path: string;
  readonly #callTimeoutMs: number;
  readonly #thread: Worker;
  readonly #waiting = new Map<number, PromiseWithResolvers<unknown>>();
  #nextId = 0;
  /** Functions that start the time of calls that were sent before the thread was ready; undefined once it is ready. */
  #starting: Set<() => void> | undefined = new Set();
  #ended: IdError | undefined;
  #closing: Promise<void> | undefined;

  constructor({ code, path, callTimeoutMs, workerData }: ThreadLinkOptions) {
    this.#path = path;
    this.#callTimeoutMs = callTimeoutMs;
    this.#thread = new Worker(code, { eval: typeof code === "string", workerData });
    this.#thread.on("message", (reply: ThreadReply) => this.#onReply(reply));
    this.#thread.on("error", (cause) => this.#end(unavailable(path, "its thread failed; start again", cause)));
    this.#thread.on("exit", () => this.#end(unavailable(path, "its thread has ended")));
  }

  /**
   * Calls a method of the object in the thread.
   *
   * @throws IdError STORE_UNAVAILABLE: the outcome is unknown. Errors of the method pass as they are.
   */
  async call<K extends MethodOf<T>>(
    method: K,
    ...values: T[K] extends (...values: infer V) => unknown ? V : never
  ): Promise<T[K] extends (...values: never[]) => infer R ? R : never> {
    if (this.#closing !== undefined) throw this.#ended ?? this.#closed();
    return (await this.#send(method, values)) as T[K] extends (...values: never[]) => infer R ? R : never;
  }

  /** Has the thread close its file, and ends it. A second close waits for the first. */
  async close(): Promise<void> {
    this.#closing ??= this.#close();
    await this.#closing;
  }

  async #close(): Promise<void> {
    // The thread closes its files itself, so that no journal is left behind. If the disk does not answer, the call
    // fails at its deadline, and the thread is ended anyway. A thread that has not started yet has no file.
    await within(
      this.#callTimeoutMs,
      this.#send("close", []).catch(() => {}),
    );
    this.#end(this.#closed());
    // A thread that waits for such a disk ends only when the disk answers.
    await within(threadEndTimeoutMs, this.#thread.terminate());
  }

  async #send(method: string, values: readonly unknown[]): Promise<unknown> {
    if (this.#ended !== undefined) throw this.#ended;
    const id = this.#nextId++;
    const waiting = Promise.withResolvers<unknown>();
    this.#waiting.set(id, waiting);
    const limit = (timeoutMs: number, problem: string) =>
      systemTimers.after(timeoutMs, () => {
        this.#waiting.delete(id);
        waiting.reject(unavailable(this.#path, `${problem} within ${timeoutMs / 1_000} s`));
      });
    const limitCall = () =>
      limit(this.#callTimeoutMs, "its disk, or a process that keeps it locked, delayed it: no answer");
    const starting = this.#starting;
    let cancel = starting === undefined ? limitCall() : limit(threadStartTimeoutMs, "its thread did not start");
    const onReady = (): void => {
      cancel();
      cancel = limitCall();
    };
    starting?.add(onReady);
    try {
      this.#thread.postMessage({ id, method, values } satisfies ThreadCall);
      return await waiting.promise;
    } finally {
      starting?.delete(onReady);
      cancel();
    }
  }

  #onReply(reply: ThreadReply): void {
    if (reply.kind === "ready") {
      const starting = this.#starting;
      this.#starting = undefined;
      for (const onReady of starting ?? []) onReady();
      return;
    }
    const waiting = this.#waiting.get(reply.id);
    this.#waiting.delete(reply.id);
    if (reply.kind === "answered") waiting?.resolve(reply.answer);
    else waiting?.reject(new IdError(reply.reason, reply.message, { metadata: reply.metadata }));
  }

  #closed(): IdError {
    return unavailable(this.#path, "the store is closed");
  }

  #end(error: IdError): void {
    this.#ended ??= error;
    for (const { reject } of this.#waiting.values()) reject(this.#ended);
    this.#waiting.clear();
  }
}

/**
 * Waits for something until a time limit. The timer is cancelled at the end, because it would keep the process running.
 */
async function within(timeoutMs: number, work: Promise<unknown>): Promise<void> {
  const { promise: late, resolve } = Promise.withResolvers<void>();
  const cancel = systemTimers.after(timeoutMs, resolve);
  await Promise.race([work, late]);
  cancel();
}
