import type { Layout } from "../../src/snowflake/layout.ts";
import { loadChunk } from "./chunk.ts";
import { codecOf } from "./layout-choice.ts";
import type { Change, GenerateState, Job } from "./state.ts";
import type { TextFormat } from "../../src/text/text-form.ts";

/** The most IDs that are shown; more become a file. */
export const shownMax = 1_000;
/** The most IDs of one run. */
export const countMax = 1_000_000;

/** IDs of earlier runs that stay on the screen. */
const earlierMax = 20;

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
  const gathered = new GatheredIds(count <= shownMax ? "shown" : "file", format);
  change((state) => ({
    ...state,
    generate: { ...state.generate, earlier: earlierOf(state.generate), field: undefined },
  }));
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
    const job = gathered.finish(performance.now() - startedMs, "complete");
    put(job);
    if (job.kind === "shown" && format.form === "uuid") learnUuids(change, job.ids[0]!, job.texts[0]!);
  } catch (error) {
    if (!abort.signal.aborted) put({ kind: "failed", failure: failureOf(error) });
    else if (gathered.count === 0) put({ kind: "idle" });
    else put(gathered.finish(performance.now() - startedMs, "cancelled"));
  }
}

/** The IDs of the run that is on the screen come before those of the runs before it. */
function earlierOf({ job, earlier }: GenerateState): readonly bigint[] {
  return job.kind === "shown" ? [...job.ids.toReversed(), ...earlier].slice(0, earlierMax) : earlier;
}

/** Compares a UUID of the server with the one that the page would write. */
function learnUuids(change: Change, id: bigint, uuid: string): void {
  const isAsHere = (layout: Layout): boolean => codecOf(layout).writer({ form: "uuid" })(id) === uuid;
  change((state) => {
    const layout = state.server.info?.layout;
    if (layout === undefined) return state;
    return { ...state, generate: { ...state.generate, uuids: isAsHere(layout) ? "as-here" : "others" } };
  });
}

/** Asks the server how it writes the UUID of one of its IDs, which says how it writes all. */
export async function askForUuid(change: Change, id: bigint): Promise<void> {
  const server = await loadChunk(change, () => import("./server.ts"));
  const uuid = await server?.uuidOf(id).catch(() => undefined);
  if (uuid !== undefined) learnUuids(change, id, uuid);
}

/** The IDs of a run: all of them where they are shown, otherwise their text in parts. */
class GatheredIds {
  readonly #kind: "shown" | "file";
  readonly #format: TextFormat;
  readonly #ids: bigint[] = [];
  readonly #texts: string[] = [];
  readonly #parts: Blob[] = [];
  #part = "";
  #count = 0;

  constructor(kind: "shown" | "file", format: TextFormat) {
    this.#kind = kind;
    this.#format = format;
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
    if (this.#kind === "shown")
      return { kind: "shown", ids: this.#ids, texts: this.#texts, format: this.#format, tookMs };
    const lines = new Blob([...this.#parts, this.#part], { type: "text/plain" });
    return { kind: "file", lines, count: this.#count, tookMs, end };
  }
}
