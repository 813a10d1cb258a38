import { readFileSync } from "node:fs";
import type { Page } from "playwright-core";
import type { ShownRun } from "../../simulation/shown/run-link.ts";

/** Longer than all runs of a test take on a busy machine. */
const limitMs = 150_000;

/** The address of the worker's script, behind that of the server. */
function simulationAddress(): string {
  const manifest = JSON.parse(readFileSync("dist/page/manifest.json", "utf8")) as Readonly<Record<string, unknown>>;
  const found = Object.keys(manifest).filter((path) => path.startsWith("/assets/simulation-"));
  if (found.length !== 1) throw new Error(`The page has ${found.length} scripts of the simulation.`);
  return found[0]!;
}

/** The parts of an outcome that the way out of a browser carries: all but the pictures. */
interface BrowserOutcome {
  readonly hash: string;
  readonly violations: readonly string[];
  readonly equalCount: number;
}

/** Of a run whose code failed. */
interface BrowserFailure {
  readonly failure: string;
}

/**
 * Runs the simulation in a browser, by the worker that the page is shipped with.
 *
 * @param page - Of a server; opened with `bypassCSP`, because the page's policy lets nobody but the page make a worker.
 * @returns The answers, in the order of the runs.
 */
export async function runInBrowser(
  page: Page,
  runs: readonly ShownRun[],
): Promise<readonly (BrowserOutcome | BrowserFailure)[]> {
  const asked = JSON.stringify({ runs, limitMs, address: simulationAddress() });
  const script = `(({ runs, limitMs, address }) => new Promise((resolve, reject) => {
    const worker = new Worker(address, { type: "module" });
    const answers = [];
    const end = (settle, value) => { worker.terminate(); settle(value); };
    setTimeout(() => end(reject, new Error("The worker did not answer.")), limitMs);
    worker.onerror = ({ message }) => end(reject, new Error(message));
    worker.onmessage = ({ data: { kind, key, outcome, failure } }) => {
      if (kind === "ready") return;
      const { hash, violations, equalCount } = outcome ?? {};
      answers[key] = kind === "failure" ? { failure } : { hash, violations, equalCount };
      if (Object.keys(answers).length === runs.length) end(resolve, answers);
    };
    runs.forEach((run, key) => worker.postMessage({ key, run }));
  }))(${asked})`;
  return (await page.evaluate(script)) as readonly (BrowserOutcome | BrowserFailure)[];
}
