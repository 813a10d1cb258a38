import { html, type TemplateResult } from "lit-html";
import type { RunOutcome, Span } from "./outcome.ts";
import type { ProofTexts } from "./texts/proof-en.ts";

/** The picture of a run in words, for readers who do not see it. */
export function runTable(outcome: RunOutcome, { table, lanes, story }: ProofTexts): TemplateResult {
  const rows = outcome.lanes.flatMap(({ grants, waits, stops }, slot) => {
    const parts: readonly (Span & { readonly text: string })[] = [
      ...grants.map(({ worker, count, ...span }) => ({ ...span, text: table.grant(worker, count) })),
      ...waits.map((span) => ({ ...span, text: table.waits })),
      ...stops.map(({ what, ...span }) => ({ ...span, text: table.stops[what] })),
    ];
    return parts
      .toSorted((one, other) => one.fromMs - other.fromMs)
      .map(
        ({ fromMs, toMs, text }) =>
          html`<tr>
            <th scope="row">${lanes.process(slot)}</th>
            <td>${story.seconds(fromMs)}</td>
            <td>${story.seconds(toMs)}</td>
            <td>${text}</td>
          </tr>`,
      );
  });
  return html`<details class="part">
    <summary>${table.title}</summary>
    <div class="scroll" tabindex="0" role="region" aria-label=${table.title}>
      <table>
        <thead>
          <tr>
            ${table.columns.map((column) => html`<th scope="col">${column}</th>`)}
          </tr>
        </thead>
        <tbody>
          ${rows}
        </tbody>
      </table>
    </div>
  </details>`;
}
