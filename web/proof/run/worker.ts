/** The worker of the view: it runs the simulation, one run at a time, and sends what came of each: docs/adr/0199. */
import "./immediate.ts";
import { calmScenario } from "../../../test/simulation/shown/calm.ts";
import { simulateScenario } from "../../../test/simulation/simulation.ts";
import type { RunAnswer, RunRequest } from "../messages.ts";

/** What a worker has, of which Node's types know nothing. */
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

async function answer({ key, run }: RunRequest): Promise<RunAnswer> {
  globalThis.removedRule = run.rule;
  try {
    const scenario = calmScenario(run.seed, run.store, run.faults);
    const { traceHash, violations } = await simulateScenario(run.seed, scenario);
    return { key, outcome: { hash: traceHash, violations: violations.map(({ promise }) => promise) } };
  } catch (error) {
    return { key, failure: String(error) };
  }
}
