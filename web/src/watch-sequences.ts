import { html, nothing, type TemplateResult } from "lit-html";
import type { Seen, SequenceRow } from "./state.ts";
import type { Texts } from "./texts/en.ts";

/** The sequences and what is left of each; nothing where the server keeps none. */
export function sequencePanel({ value, failure }: Seen<readonly SequenceRow[]>, texts: Texts) {
  const words = texts.watch;
  if (value === undefined && failure?.reason !== "METHOD_DENIED") return nothing;
  return html`<section class="panel pad workers" aria-labelledby="sequences">
    <h2 id="sequences">${words.sequences}</h2>
    ${failure === undefined ? nothing : html`<p class="error">${texts.generate.failure(failure)}</p>`}
    ${value === undefined ? nothing : sequenceTable(value, texts)}
  </section>`;
}

function sequenceTable(rows: readonly SequenceRow[], { watch, number }: Texts): TemplateResult {
  if (rows.length === 0) return html`<p class="note">${watch.noSequences}</p>`;
  const [name, next, left, text] = watch.sequenceColumns;
  // Most deployments write plain numbers: a column without a word says nothing.
  const hasTexts = rows.some(({ textTemplate }) => textTemplate !== "");
  const columns = hasTexts ? watch.sequenceColumns : watch.sequenceColumns.slice(0, -1);
  return html`<table class="rows sequence-rows" role="table">
    <thead role="rowgroup">
      <tr role="row">
        ${columns.map((column) => html`<th scope="col" role="columnheader">${column}</th>`)}
      </tr>
    </thead>
    <tbody role="rowgroup">
      ${rows.map(
        (row) => html`<tr role="row">
          <th scope="row" role="rowheader" data-name=${name ?? ""}>
            ${row.name} ${row.disabled ? html`<small>${watch.disabled}</small>` : nothing}
            ${row.description === "" ? nothing : html`<small>${row.description}</small>`}
          </th>
          <td role="cell" data-name=${next ?? ""}>${row.nextValue === 0n ? watch.noneLeft : number(row.nextValue)}</td>
          <td role="cell" data-name=${left ?? ""}>${number(row.leftCount)}</td>
          ${hasTexts ? html`<td role="cell" data-name=${text ?? ""} class="v">${row.textTemplate}</td>` : nothing}
        </tr>`,
      )}
    </tbody>
  </table>`;
}
