/** `#/proof`: runs of the simulation that readers attack. A chunk of its own, which only that view loads. */
import { render } from "lit-html";
import { writeRunLink } from "../../test/simulation/shown/run-link.ts";
import type { Language } from "../src/language.ts";
import { writeClipboard } from "../src/copy-button.ts";
import { LanePicture, pictureHeight, scaleOf } from "./lane-picture.ts";
import { openLink, type ProofState } from "./proof-state.ts";
import { type ProofParts, proofView } from "./proof-view.ts";
import { address as style } from "./proof.css?address";
import { SimulationWorker } from "./simulation-worker.ts";
import type { ProofTexts } from "./texts/proof-en.ts";

const textsOf: Readonly<Record<Language, () => Promise<ProofTexts>>> = {
  en: async () => (await import("./texts/proof-en.ts")).proofEn,
  zh: async () => (await import("./texts/proof-zh.ts")).proofZh,
  sw: async () => (await import("./texts/proof-sw.ts")).proofSw,
};
const texts = new Map<Language, ProofTexts>();
const reduced = matchMedia("(prefers-reduced-motion: reduce)");

/** Loads what the view needs beside this chunk, its style and its words in a language, and gives what shows it. */
export async function loadProof(language: Language): Promise<typeof showProof> {
  texts.set(language, await textsOf[language]());
  if (document.querySelector(`link[href="${style}"]`) === null) await loadStyle();
  return showProof;
}

async function loadStyle(): Promise<void> {
  const link = document.createElement("link");
  link.rel = "stylesheet";
  link.href = style;
  const loaded = new Promise((resolve, reject) => {
    link.addEventListener("load", resolve);
    link.addEventListener("error", reject);
  });
  document.head.append(link);
  await loaded;
}

let state = openLink("");
/** The link of {@link state}, as the address has it. */
let opened: string | undefined;
let place: HTMLElement | undefined;
let picture: LanePicture | undefined;
let words: ProofTexts;
let isDue = false;
const worker = new SimulationWorker();

/** Shows the run of a link in a place of the page; once it is there, it stays as its reader makes it. */
function showProof(root: HTMLElement, link: string, language: Language): void {
  const isNew = root !== place;
  const before = words;
  // They are loaded before this is called.
  words = texts.get(language)!;
  if (isNew) begin(root);
  if (link !== opened && !(link === "" && opened !== undefined)) {
    state = openLink(link);
    opened = link;
    compute();
  } else if (isNew && state.outcome === undefined) compute();
  if (isNew || words === before) return;
  draw();
  redraw();
}

function begin(root: HTMLElement): void {
  place = root;
  root.replaceChildren();
  drawNow();
  const canvas = root.querySelector("canvas")!;
  canvas.style.height = `${pictureHeight}px`;
  picture = new LanePicture(canvas);
  new ResizeObserver(() => redraw()).observe(canvas);
  const scrubTo = ({ offsetX }: PointerEvent): void => {
    if (state.outcome !== undefined) scrub(scaleOf(picture!.width, state.outcome.endMs).timeAt(offsetX));
  };
  canvas.addEventListener("pointerdown", (event) => {
    canvas.setPointerCapture(event.pointerId);
    scrubTo(event);
  });
  canvas.addEventListener("pointermove", (event) => {
    if (canvas.hasPointerCapture(event.pointerId)) scrubTo(event);
  });
}

function change(next: (state: ProofState) => ProofState): void {
  const { run } = state;
  state = next(state);
  if (state.run !== run) {
    opened = writeRunLink(state.run);
    history.replaceState(undefined, "", `#/proof?${opened}`);
    compute();
  }
  draw();
}

/** Runs the simulation; the run before it stays on the screen meanwhile. */
function compute(): void {
  const { run } = state;
  worker.run(run, (settled) => {
    if (state.run !== run) return;
    const outcome = "outcome" in settled ? settled.outcome : undefined;
    const problem = "problem" in settled ? settled.problem : undefined;
    state = { ...state, outcome, problem, atMs: Math.min(state.atMs, outcome?.endMs ?? state.atMs) };
    draw();
    redraw();
  });
}

function draw(): void {
  if (isDue) return;
  isDue = true;
  queueMicrotask(() => {
    isDue = false;
    drawNow();
    show();
  });
}

function drawNow(draws: ProofParts["draws"] = "all"): void {
  if (place === undefined) return;
  const parts = { words, change, play, step, scrub, copy: () => void copy(), isStill: reduced.matches, draws };
  render(proofView(state, parts), place);
}

/** Draws the whole picture again: another run, width, language or theme. A run that was ended has none. */
function redraw(): void {
  if (place?.isConnected !== true) return;
  if (state.outcome !== undefined) picture?.draw({ outcome: state.outcome, words });
  else if (state.problem !== undefined) picture?.clear();
  show();
}

function show(): void {
  if (state.outcome !== undefined) picture?.show(state.outcome, state.atMs);
}

function scrub(atMs: number): void {
  change((now) => ({ ...now, atMs, play: "paused" }));
}

function step(by: -1 | 1): void {
  const times = (state.outcome?.story ?? []).map(({ atMs }) => atMs);
  const next = by === 1 ? times.find((atMs) => atMs > state.atMs) : times.findLast((atMs) => atMs < state.atMs);
  scrub(next ?? (by === 1 ? (state.outcome?.endMs ?? 0) : 0));
}

function play(): void {
  if (state.play === "playing") return change((now) => ({ ...now, play: "paused" }));
  const endMs = state.outcome?.endMs ?? 0;
  change((now) => ({ ...now, play: "playing", atMs: now.atMs >= endMs ? 0 : now.atMs }));
  let last = performance.now();
  const frame = (nowMs: number): void => {
    if (state.play !== "playing" || place?.isConnected !== true) return;
    const atMs = Math.min(state.atMs + (nowMs - last) * state.speed, endMs);
    last = nowMs;
    state = { ...state, atMs, play: atMs >= endMs ? "paused" : "playing" };
    drawNow("time");
    show();
    requestAnimationFrame(frame);
  };
  requestAnimationFrame(frame);
}

async function copy(): Promise<void> {
  const link = `${location.href.split("#")[0]}#/proof?${writeRunLink(state.run)}`;
  const copied = (await writeClipboard(link)) ? "done" : "refused";
  change((now) => ({ ...now, copied }));
  setTimeout(() => change((now) => ({ ...now, copied: undefined })), 2_000);
}

reduced.addEventListener("change", draw);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
new MutationObserver(redraw).observe(document.documentElement, { attributeFilter: ["data-theme"] });
