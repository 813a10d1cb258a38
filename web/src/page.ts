import { render } from "lit-html";
import { afterFrame } from "./after-frame.ts";
import { loadChunk } from "./chunk.ts";
import { isOwnAddress, keepAddress } from "./address.ts";
import { languageOf, textsOf, wantsTraditional } from "./language.ts";
import { withLink } from "./generate-link.ts";
import { kept, keptTheme, themeKey } from "./kept.ts";
import { pasteInto } from "./parse.ts";
import { beginReading } from "./read-lines.ts";
import { readRoute } from "./route.ts";
import { watchServer } from "./server-watch.ts";
import { type Change, firstState } from "./state.ts";
import { en, type Texts } from "./texts/en.ts";
import { pageView } from "./view.ts";

const languageKey = "snowlane-language";
let texts: Texts = en;
const place = document.getElementById("page")!;

// The static site has the same page without this attribute: no server is behind it.
const hasServer = document.documentElement.hasAttribute("data-server");
const language = languageOf([kept(languageKey), ...navigator.languages]);
let state = firstState({
  nowMs: Date.now(),
  theme: keptTheme(),
  language,
  wantsTraditional: wantsTraditional(navigator.languages),
  hasServer,
});
let isDue = false;
let isHeadingDue = false;
let look = (): void => undefined;

/** Takes the next state, and draws it once all changes of this turn are made. */
const change: Change = (next) => {
  const before = state;
  state = next(before);
  if (state === before) return;
  state = { ...state, nowMs: Date.now() };
  // The layouts that are likeliest depend on the server's, which is known only now.
  if (before.server.info === undefined && state.server.info !== undefined && state.parse.text !== "")
    queueMicrotask(() => beginReading(change));
  keepAddress(state);
  if (state.theme !== before.theme) showTheme();
  if (state.language !== before.language) {
    keep(languageKey, state.language);
    void speak();
  }
  if (isDue) return;
  isDue = true;
  queueMicrotask(draw);
};

function draw(): void {
  isDue = false;
  document.title = `${texts.title[state.view]} · Snowlane`;
  render(
    pageView(state, change, texts, () => look()),
    place,
  );
  if (isHeadingDue) goToHeading(document.getElementById("content"));
  if (state.view === "proof") void drawProof();
  if (state.view === "watch" && state.parts === "there" && state.watch.status.value !== undefined) void drawWatch();
}

/** The charts are beside the views: they are drawn into places that these leave empty. */
async function drawWatch(): Promise<void> {
  const charts = await loadChunk(change, () => import("./charts.ts"));
  const { status, seconds } = state.watch;
  charts?.drawCharts(place, { samples: status.value?.samples ?? [], seconds, measure: texts.watch.measure });
}

/** The same for the view of the simulation, which is loaded with all that it needs. */
async function drawProof(): Promise<void> {
  const { language } = state;
  const show = await loadChunk(change, async () => await (await import("../proof/proof.ts")).loadProof(language));
  const root = document.getElementById("proof");
  // The view changes the address itself, so what it has now counts.
  if (root !== null) show?.(root, readRoute(location.hash).proofLink, language);
}

function follow(): void {
  const { view, text, at, layout, generate, link } = readRoute(location.hash);
  if (isOwnAddress(location.hash)) {
    change((state) => ({ ...state, view, link }));
    return;
  }
  change((state) => ({
    ...state,
    view,
    link,
    layout: layout ?? state.layout,
    generate: generate === undefined ? state.generate : withLink(state.generate, generate),
    parse: text === undefined ? state.parse : { ...state.parse, text, at, excluded: [], before: undefined },
  }));
  if (text !== undefined) beginReading(change);
}

/** A reader who changed the view goes on at its heading, and not at the tab. */
function goToView(): void {
  const content = document.getElementById("content");
  if (content === null) return;
  draw();
  content.focus({ preventScroll: true });
  scrollTo(0, 0);
  isHeadingDue = true;
  goToHeading(content);
}

/** A view that is loaded first has its heading later; a reader who went on meanwhile stays there. */
function goToHeading(content: HTMLElement | null): void {
  if (document.activeElement !== content) isHeadingDue = false;
  const heading = content?.querySelector("h1");
  if (!isHeadingDue || heading === null || heading === undefined) return;
  isHeadingDue = false;
  heading.tabIndex = -1;
  heading.focus({ preventScroll: true });
}

function keep(key: string, value: string): void {
  try {
    localStorage.setItem(key, value);
  } catch {
    // It then lasts as long as the page.
  }
}

function showTheme(): void {
  document.documentElement.dataset["theme"] = state.theme;
  keep(themeKey, state.theme);
}

/** Draws the page in the language of the state, once its texts are there. */
async function speak(): Promise<void> {
  const { language } = state;
  const loaded = await loadChunk(change, textsOf[language]);
  if (loaded === undefined || language !== state.language) return;
  texts = loaded;
  document.documentElement.lang = texts.locale;
  draw();
}

/** Draws the page, and then asks the server. */
export function start(): void {
  // The head in the file makes way for the same one, drawn.
  place.replaceChildren();
  follow();
  if (state.language !== "en") void speak();
  addEventListener("hashchange", () => {
    const before = state.view;
    follow();
    if (state.view !== before) goToView();
    if (state.view === "watch") look();
  });
  // Pasting anywhere on Parse is pasting IDs; a field of its own comes first.
  document.addEventListener("paste", (event) => {
    const isField = event.target instanceof Element && event.target.closest("input, textarea, select") !== null;
    if (state.view === "parse" && !isField) pasteInto(change, event);
  });
  afterFrame(() => {
    change((state) => ({ ...state, isShown: true }));
    if (hasServer) look = watchServer(change, () => state);
    // What a pasted text needs is there before it comes.
    Promise.all([import("./finder.ts"), import("./lab/found.ts"), import("./lab/list.ts")]).catch(() => undefined);
  });
}
