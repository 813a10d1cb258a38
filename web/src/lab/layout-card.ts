import { html, nothing, type TemplateResult } from "lit-html";
import type { PlausibleLayout } from "../../../src/snowflake/layout-guess.ts";
import type { ParsedId } from "../../../src/snowflake/parse.ts";
import { firstChoice } from "../layout-choice.ts";
import { presetTitle } from "../layout-field.ts";
import { beginReading } from "../read-lines.ts";
import type { Change, State } from "../state.ts";
import type { Texts } from "../texts/en.ts";
import { isoDay } from "../time-words.ts";
import { bestLayout, layoutGuesses } from "./read-shown.ts";
import { isGuessed } from "./reading-options.ts";
import type { TextId } from "./text-ids.ts";

/** Layouts that stay in sight; a press shows the others. */
const inSightCount = 4;

/** An ID as it is read, and as it is written in the text. */
interface ReadId {
  readonly parsed: ParsedId;
  readonly shown: TextId;
}

/** Draws the layouts that an ID could be of, the likeliest first, with the reason of the one by which it is read. */
export function layoutCard(state: State, change: Change, texts: Texts, read: ReadId): TemplateResult {
  const { parse } = texts;
  const guesses = layoutGuesses(state, read.parsed.id, read.shown);
  const first = guesses.slice(0, inSightCount);
  const more = guesses.slice(inSightCount);
  const row = (layout: PlausibleLayout): TemplateResult => layoutRow(state, change, texts, { layout, read });
  return html`<section class="panel card" aria-labelledby="others">
    <h2 id="others">${parse.others}</h2>
    ${
      first.length === 0
        ? html`<p class="note">${parse.noOthers}</p>`
        : html`<div class="guesses" role="radiogroup" aria-labelledby="others">
            ${first.map(row)}
            ${
              more.length === 0
                ? nothing
                : html`<details>
                  <summary>${parse.moreFit(more.length)}</summary>
                  ${more.map(row)}
                </details>`
            }
          </div>
          <p class="note">${parse.othersNote}</p>`
    }
    ${
      isGuessed(state)
        ? nothing
        : html`<button type="button" class="link" @click=${() => readByBest(change)}>${parse.backToBest}</button>`
    }
  </section>`;
}

function layoutRow(
  state: State,
  change: Change,
  texts: Texts,
  { layout: { name, createTimeMs }, read }: { readonly layout: PlausibleLayout; readonly read: ReadId },
): TemplateResult {
  const { parsed, shown } = read;
  const isOwn = parsed.layout.name === name;
  return html`<label class="guess">
    <input type="radio" name="guess" .checked=${isOwn} @change=${() => readBy(change, name)} />
    <span>${presetTitle(name)}</span> <span class="day">${isoDay(createTimeMs)}</span>
    ${isOwn ? html`<small>${whyOf(state, texts, parsed.id, shown)}</small>` : nothing}
  </label>`;
}

function whyOf(state: State, texts: Texts, id: bigint, shown: TextId): string {
  const { parse } = texts;
  if (!isGuessed(state)) return parse.yourChoice;
  const { reasons } = bestLayout(state, id, shown);
  const [first] = reasons;
  return first === undefined ? parse.bestGuess : parse.bestGuessBecause(parse.reasons[first]);
}

/** Reads all IDs of the text by a layout. */
export function readBy(change: Change, name: PlausibleLayout["name"]): void {
  change((state) => ({ ...state, layout: { ...firstChoice, name } }));
  beginReading(change);
}

function readByBest(change: Change): void {
  change((state) => ({ ...state, layout: firstChoice }));
  beginReading(change);
}
