import { html, nothing, type TemplateResult } from "lit-html";
import type { ParsedId } from "../../../src/snowflake/parse.ts";
import { presetTitle } from "../layout-field.ts";
import type { Change, State } from "../state.ts";
import type { Texts } from "../texts/en.ts";
import { clockWords, isoDay, msOf } from "../time-words.ts";
import { choose } from "./select-id.ts";
import type { TextId } from "./text-ids.ts";

/** More than these are found in the table of the list. */
const shownMax = 200;

/** Draws the IDs that were found, each with its time. The arrow keys move among them. */
export function foundList(state: State, change: Change, texts: Texts, ids: readonly TextId[]): TemplateResult {
  const words = texts.parse;
  const at = Math.min(state.parse.at, ids.length - 1);
  const shown = ids.slice(0, shownMax);
  return html`<section class="panel found" aria-labelledby="found-title">
    <h2 id="found-title">${words.found}</h2>
    <ul @keydown=${(event: KeyboardEvent) => move(event, change, at, shown.length)}>
      ${shown.map(
        (id, index) =>
          html`<li>
            <button
              type="button"
              aria-current=${index === at ? "true" : nothing}
              tabindex=${index === at || (at >= shownMax && index === 0) ? "0" : "-1"}
              @click=${() => choose(change, index)}
            >
              <span class="id">${state.parse.text.slice(id.start, id.end)}</span> ${badge(id, texts)}
              <span class="sub">${subOf(id, texts)}</span>
            </button>
          </li>`,
      )}
    </ul>
    ${ids.length > shownMax ? html`<p class="note">${words.moreFound(ids.length - shownMax)}</p>` : nothing}
  </section>`;
}

/** The names that the makers of other IDs gave them: they are the same in every language. */
const makersKinds = { ulid: "ULID", ksuid: "KSUID", objectid: "ObjectId", xid: "xid", typeid: "TypeID" } as const;

/** What a reader should know of an ID before its time: how it is written, and whether digits were lost. */
function badge({ find }: TextId, texts: Texts): TemplateResult | typeof nothing {
  const { badges } = texts.parse;
  if (find?.notes.includes("rounded") === true) return html`<span class="badge warn">${badges.rounded}</span>`;
  const kind = find?.kind ?? "decimal";
  if (kind === "decimal" || kind === "grouped" || kind === "float") return nothing;
  if (kind === "unsigned") return html`<span class="badge">${badges.unsigned}</span>`;
  return html`<span class="badge">${{ ...texts.forms, ...makersKinds }[kind]}</span>`;
}

function subOf({ reading }: TextId, texts: Texts): string {
  const { parse } = texts;
  if (reading === undefined || reading.kind === "refused") return parse.noId;
  const { parsed, uuid, foreign } = reading.source;
  const timeNs = parsed?.createTimeNs ?? uuid?.createTimeNs ?? foreign?.createTimeNs;
  if (timeNs === undefined) return parse.uuid.noTime;
  const ms = msOf(timeNs);
  const time = `${isoDay(ms)} ${clockWords(ms, 0, "UTC")}`;
  return parsed === undefined ? time : `${time} · ${titleOf(parsed, texts)}`;
}

function titleOf({ layout }: ParsedId, texts: Texts): string {
  return layout.name === "custom" ? texts.layout.custom : presetTitle(layout.name);
}

function move(event: KeyboardEvent, change: Change, at: number, count: number): void {
  const steps: Readonly<Record<string, number>> = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: count - 1 };
  const target = steps[event.key];
  if (target === undefined) return;
  event.preventDefault();
  const index = Math.min(Math.max(target, 0), count - 1);
  choose(change, index);
  const list = event.currentTarget as HTMLElement;
  list.querySelectorAll("button")[index]?.focus();
}
