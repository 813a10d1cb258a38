/** The worker of the view: it runs the simulation, one run at a time, and sends what came of each: docs/adr/0199. */
import "./immediate.ts";
import type { RunAnswer, RunRequest } from "../messages.ts";
import { runShown } from "./run-shown.ts";

/** The parts of a worker that Node's types do not know. */
const scope = globalThis as unknown as {
  addEventListener(type: "message", listener: (event: { readonly data: RunRequest }) => void): void;
  addEventListener(type: "unhandledrejection", listener: (event: { preventDefault(): void }) => void): void;
  postMessage(answer: RunAnswer): void;
};

// Errors are made by the hundred here, and nobody reads where.
Error.stackTraceLimit = 0;
// A protocol without one of its rules may come to grief.
scope.addEventListener("unhandledrejection", (event) => event.preventDefault());

let last = Promise.resolve();
scope.addEventListener("message", ({ data }) => {
  last = last.then(async () => scope.postMessage(await answer(data)));
});
scope.postMessage({ kind: "ready" });

async function answer({ key, run }: RunRequest): Promise<RunAnswer> {
  globalThis.removedRule = run.rule;
  try {
    return { kind: "outcome", key, outcome: await runShown(run) };
  } catch (error) {
    return { kind: "failure", key, failure: String(error) };
  }
}
