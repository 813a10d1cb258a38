import { render } from "lit-html";
import { loadChunk } from "./chunk.ts";
import { pasteInto } from "./parse.ts";
import { beginReading } from "./read-lines.ts";
import { readRoute } from "./route.ts";
import { watchServer } from "./server-watch.ts";
import { type Change, firstState, type Theme } from "./state.ts";
import { en } from "./texts/en.ts";
import { pageView } from "./view.ts";

const themeKey = "snowlane-theme";
const texts = en;
const place = document.getElementById("page")!;

let state = firstState(Date.now(), readTheme());
let isDue = false;

/** Takes the next state, and draws it once all changes of this turn are made. */
const change: Change = (next) => {
  const before = state;
  state = next(before);
  if (state === before) return;
  state = { ...state, nowMs: Date.now() };
  if (state.theme !== before.theme) keepTheme(state.theme);
  if (isDue) return;
  isDue = true;
  queueMicrotask(draw);
};

function draw(): void {
  isDue = false;
  document.title = `${texts.title[state.view]} · Snowlane`;
  render(pageView(state, change, texts, look), place);
  if (state.view === "watch" && state.parts === "there" && state.watch.status.value !== undefined) void drawWatch();
}

/** The charts stand beside the views: they are drawn into places that these leave empty. */
async function drawWatch(): Promise<void> {
  const charts = await loadChunk(change, () => import("./charts.ts"));
  const { status, seconds } = state.watch;
  charts?.drawCharts(place, status.value?.samples ?? [], seconds);
}

function follow(): void {
  const { view, text, layout, link } = readRoute(location.hash);
  change((state) => ({
    ...state,
    view,
    layout: layout ?? state.layout,
    parse: { ...state.parse, text: text ?? state.parse.text, link },
  }));
  if (text !== undefined) beginReading(change);
}

/** A browser may refuse its storage to a page: the theme then lasts as long as the page. */
function readTheme(): Theme {
  try {
    const kept = localStorage.getItem(themeKey);
    return kept === "light" || kept === "dark" ? kept : "auto";
  } catch {
    return "auto";
  }
}

function keepTheme(theme: Theme): void {
  document.documentElement.dataset["theme"] = theme;
  try {
    localStorage.setItem(themeKey, theme);
  } catch {
    // Nothing else depends on it.
  }
}

document.documentElement.dataset["theme"] = state.theme;
// Pasting anywhere on Parse is pasting IDs; a field of its own comes first.
document.addEventListener("paste", (event) => {
  const isField = event.target instanceof Element && event.target.closest("input, textarea, select") !== null;
  if (state.view === "parse" && !isField) pasteInto(change, event);
});
follow();
const look = watchServer(change, () => state);
draw();
addEventListener("hashchange", () => {
  follow();
  if (state.view === "watch") look();
});
