import { nothing, type TemplateResult } from "lit-html";
import { loadChunk } from "./chunk.ts";
import type { learnView } from "./learn.ts";
import type { Change, State } from "./state.ts";
import type { Texts } from "./texts/en.ts";

let view: typeof learnView | "wanted" | undefined;

/** Learn, which is loaded with its programs when it is first opened. Nothing, until it is there. */
export function learnPart(state: State, change: Change, texts: Texts): TemplateResult | typeof nothing {
  if (typeof view === "function") return view(state, change, texts);
  if (view === undefined) void load(change);
  return nothing;
}

async function load(change: Change): Promise<void> {
  view = "wanted";
  view = (await loadChunk(change, () => import("./learn.ts")))?.learnView;
  if (view !== undefined) change((state) => ({ ...state }));
}
