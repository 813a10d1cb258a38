import { parentPort } from "node:worker_threads";
import type { ErrorReason } from "../../errors.ts";
import { sqliteError } from "./sqlite-error.ts";

/** An object that lives in a thread: its methods are called from the event loop, and `close` is the last call. */
export interface Closable {
  close(): void;
}

/** The names of an object's methods. */
export type MethodOf<T> = {
  [K in keyof T]: T[K] extends (...values: never[]) => unknown ? K : never;
}[keyof T] &
  string;

/** A call on its way to the thread. Its reply carries the same number. */
export interface ThreadCall {
  readonly id: number;
  readonly method: string;
  readonly values: readonly unknown[];
}

/** See {@link ThreadCall}. An IdError cannot be passed between threads as a class, so its parts are. */
export type ThreadReply =
  /** The first reply: the thread's code is loaded, and calls are answered from now on. */
  | { readonly kind: "ready" }
  | { readonly kind: "answered"; readonly id: number; readonly answer: unknown }
  | {
      readonly kind: "failed";
      readonly id: number;
      readonly reason: ErrorReason;
      readonly message: string;
      readonly metadata: Readonly<Record<string, string>>;
    };

/**
 * Answers the calls of a ThreadLink, one after the other; runs in the thread. Ends the thread after `close`.
 *
 * @param path - The path of the file that `target` works on, for messages.
 */
export function answerCalls(path: string, target: Closable): void {
  parentPort?.on("message", (call: ThreadCall) => {
    parentPort?.postMessage(answer(path, target, call));
    if (call.method === "close") parentPort?.close();
  });
  parentPort?.postMessage({ kind: "ready" } satisfies ThreadReply);
}

function answer(path: string, target: Closable, { id, method, values }: ThreadCall): ThreadReply {
  try {
    const methods = target as unknown as Readonly<Record<string, (...values: readonly unknown[]) => unknown>>;
    return { kind: "answered", id, answer: methods[method]?.(...values) };
  } catch (cause) {
    const { reason, message, metadata } = sqliteError(path, cause);
    return { kind: "failed", id, reason, message, metadata };
  }
}
