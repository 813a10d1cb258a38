import { loadChunk } from "./chunk.ts";
import type { Change, Job } from "./state.ts";
import type { TextFormat } from "../../src/text/text-form.ts";

/** The most IDs that are shown; more become a file. */
export const shownMax = 1_000;
/** The most IDs of one run. */
export const countMax = 1_000_000;

/** How often a run says how far it is. */
const progressMs = 100;
/** Text that is gathered before it goes into a Blob, which the browser keeps outside of the page's memory. */
const partCharacters = 1_000_000;

let running: AbortController | undefined;

/** Ends the run, if there is one; what has come stays. */
export function cancelJob(): void {
  running?.abort();
}

/** Gets IDs from the server, shows how far it is, and ends with the IDs, a file, or the reason why there is none. */
export async function runJob(change: Change, count: number, format: TextFormat): Promise<void> {
  cancelJob();
  const abort = new AbortController();
  running = abort;
  const startedMs = performance.now();
  const put = (job: Job): void =>
    change((state) => (running === abort ? { ...state, generate: { ...state.generate, job } } : state));
  const gathered = new GatheredIds(count <= shownMax ? "shown" : "file");
  put({ kind: "running", done: 0, count, startedMs });
  const server = await loadChunk(change, () => import("./server.ts"));
  if (server === undefined) {
    put({ kind: "failed", failure: { reason: "UNREACHABLE", message: "" } });
    return;
  }
  const { failureOf, nextIds } = server;
  let toldMs = startedMs;
  try {
    for await (const { ids, texts } of nextIds(count, format, abort.signal)) {
      gathered.add(ids, texts);
      if (performance.now() - toldMs < progressMs) continue;
      toldMs = performance.now();
      put({ kind: "running", done: gathered.count, count, startedMs });
    }
    put(gathered.finish(performance.now() - startedMs, "complete"));
  } catch (error) {
    if (!abort.signal.aborted) put({ kind: "failed", failure: failureOf(error) });
    else if (gathered.count === 0) put({ kind: "idle" });
    else put(gathered.finish(performance.now() - startedMs, "cancelled"));
  }
}

/** The IDs of a run: all of them where they are shown, otherwise their text in parts. */
class GatheredIds {
  readonly #kind: "shown" | "file";
  readonly #ids: bigint[] = [];
  readonly #texts: string[] = [];
  readonly #parts: Blob[] = [];
  #part = "";
  #count = 0;

  constructor(kind: "shown" | "file") {
    this.#kind = kind;
  }

  get count(): number {
    return this.#count;
  }

  add(ids: readonly bigint[], texts: readonly string[]): void {
    this.#count += ids.length;
    if (this.#kind === "shown") {
      this.#ids.push(...ids);
      this.#texts.push(...texts);
      return;
    }
    this.#part += `${texts.join("\n")}\n`;
    if (this.#part.length < partCharacters) return;
    this.#parts.push(new Blob([this.#part]));
    this.#part = "";
  }

  finish(tookMs: number, end: "complete" | "cancelled"): Job {
    if (this.#kind === "shown") return { kind: "shown", ids: this.#ids, texts: this.#texts, tookMs };
    const lines = new Blob([...this.#parts, this.#part], { type: "text/plain" });
    return { kind: "file", lines, count: this.#count, tookMs, end };
  }
}
