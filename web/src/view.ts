import { html, nothing, svg, type TemplateResult } from "lit-html";
import { generateView } from "./generate.ts";
import { languageNames, languageOf, languages, simplifiedNote } from "./language.ts";
import { lazyPart } from "./lazy-part.ts";
import { links, type ProjectLink } from "./links.ts";
import { parseView } from "./parse.ts";
import { type Change, type State, type Theme, type View, views } from "./state.ts";
import { switchButtons } from "./text-field.ts";
import { tokenPrompt } from "./token-prompt.ts";
import { watchView } from "./watch.ts";
import type { Texts } from "./texts/en.ts";

/** With its programs, which only its readers want. */
const learn = lazyPart(() => import("./learn.ts"));

const viewOf: Readonly<
  Record<
    View,
    (state: State, change: Change, texts: Texts, prompt: () => TemplateResult) => TemplateResult | typeof nothing
  >
> = {
  generate: generateView,
  parse: parseView,
  learn: (state, change, texts) => learn(change)?.learnView(state, change, texts) ?? nothing,
  watch: watchView,
  // page.ts has proof.ts draw into it.
  proof: () => html`<div id="proof"></div>`,
};

const flake = svg`<path d="M12 2v20M4 7l16 10M4 17 20 7M12 6l-3-2m3 2 3-2M12 18l-3 2m3-2 3 2" />`;

/** Draws the page: the head with the tabs, the view, and the foot. `look` asks the server again. */
export function pageView(state: State, change: Change, texts: Texts, look: () => void): TemplateResult {
  return html`<a class="skip" href="#content" @click=${skip}>${texts.skip}</a>
    <header class="top">
      <a class="brand" href="#/parse">
        <svg width="22" height="22" viewBox="0 0 24 24" aria-hidden="true">${flake}</svg> Snowlane
      </a>
      <nav class="tabs" aria-label=${texts.nav.label}>
        ${views.map(
          (view) =>
            html`<a href="#/${view}" aria-current=${view === state.view ? "page" : "false"}>${texts.nav[view]}</a>`,
        )}
      </nav>
      <div class="spacer"></div>
      ${serverPill(state, texts)} ${projectLinks(["docs", "api", "source"], texts)}
    </header>
    <main id="content" tabindex="-1">
      ${state.view === "parse" || state.view === "generate" ? aboutLine(texts) : nothing}
      ${state.parts === "missing" ? missingNote(texts) : nothing}
      ${state.link === "broken" ? html`<p class="warning missing" role="alert">${texts.brokenLink}</p>` : nothing}
      ${viewOf[state.view](state, change, texts, () => tokenPrompt(state, change, texts, look))}
    </main>
    <footer class="foot">
      <p class="note">
        ${texts.footer(state.server.info?.version)} ${texts.language.note}
        ${state.language === "zh" && state.wantsTraditional ? html`<span lang="zh-Hant">${simplifiedNote}</span>` : nothing}
      </p>
      ${projectLinks(["api", "changes", "licence"], texts)}
      ${state.isShown ? languageSwitch(state, change, texts) : nothing}
      ${switchButtons({
        label: texts.theme.label,
        value: state.theme,
        options: (["auto", "light", "dark"] as const).map((theme) => [theme, texts.theme[theme]]),
        onChange: (theme) => change((state) => ({ ...state, theme: theme as Theme })),
      })}
    </footer>`;
}

/** One sentence about Snowlane, for those who were sent a link. */
function aboutLine({ about }: Texts): TemplateResult {
  return html`<p class="about">${about.sentence} <a href="#/learn">${about.learn}</a></p>`;
}

function projectLinks(names: readonly ProjectLink["name"][], texts: Texts): TemplateResult {
  return html`<div class="links">
    ${links
      .filter(({ name }) => names.includes(name))
      .map(({ name, href }) => html`<a href=${href}>${texts.about.links[name]}</a>`)}
  </div>`;
}

/** The names of the languages: a browser looks for a font that has the Chinese one, which takes its time. */
function languageSwitch({ language }: State, change: Change, texts: Texts): TemplateResult {
  return switchButtons({
    label: texts.language.label,
    value: language,
    options: languages.map((language) => [language, languageNames[language]]),
    onChange: (value) => change((state) => ({ ...state, language: languageOf([value]) })),
  });
}

/** A part of the page is gone: the server was updated, or was away when it was asked. */
function missingNote({ missing }: Texts): TemplateResult {
  return html`<p class="warning missing" role="status">
    ${missing.text} <button type="button" class="link" @click=${() => location.reload()}>${missing.reload}</button>
  </p>`;
}

/** Following the link would change the route, which is behind the same sign. */
function skip(event: Event): void {
  event.preventDefault();
  document.getElementById("content")?.focus();
}

function serverPill({ server }: State, texts: Texts): TemplateResult {
  const { kind, info } = server;
  const worker =
    kind !== "serving" || info === undefined
      ? ""
      : ` ${texts.server.worker(info.datacenterId, info.workerId, info.layout.datacenter.bits > 0)}`;
  return html`<span class="pill ${kind}" role="status"><i></i><span>${texts.server[kind]}<small>${worker}</small></span></span>`;
}
