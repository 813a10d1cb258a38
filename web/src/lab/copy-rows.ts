import { html, type TemplateResult } from "lit-html";
import { copy } from "../copy-button.ts";
import type { Change, State } from "../state.ts";
import type { Texts } from "../texts/en.ts";

/** A text that is copied by a press on its row. */
export interface CopyRow {
  /** Tells the rows of a view apart. */
  readonly key: string;
  readonly label: string;
  readonly text: string;
}

/** Draws such rows, one below the other. */
export function copyRows(state: State, change: Change, texts: Texts, rows: readonly CopyRow[]): TemplateResult {
  return html`<div class="copyrows">${rows.map((row) => copyRow(state, change, texts, row))}</div>`;
}

function copyRow({ copied }: State, change: Change, texts: Texts, { key, label, text }: CopyRow): TemplateResult {
  const outcome = copied?.key === key ? copied.outcome : undefined;
  return html`<button type="button" class="copyrow" @click=${() => void copy(change, key, text)}>
    <span>${label}</span> <b>${text}</b>
    <i class=${outcome ?? "copy"}>${outcome === undefined ? "" : texts.copy[outcome]}</i>
  </button>`;
}

/** Draws a card of such rows under a title. */
export function copyCard(
  state: State,
  change: Change,
  texts: Texts,
  { id, title, rows }: { readonly id: string; readonly title: string; readonly rows: readonly CopyRow[] },
): TemplateResult {
  return html`<section class="panel card" aria-labelledby=${id}>
    <h2 id=${id}>${title}</h2>
    ${copyRows(state, change, texts, rows)}
  </section>`;
}
