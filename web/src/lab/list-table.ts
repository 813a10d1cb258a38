import { html, nothing, type TemplateResult } from "lit-html";
import { guard } from "lit-html/directives/guard.js";
import { errorWords } from "../error-words.ts";
import { listColumns, type ListChoice } from "../state.ts";
import type { Texts } from "../texts/en.ts";
import { pieceSize } from "./list-order.ts";
import type { ListRow } from "./list-rows.ts";

/** The rows of a list in the order that is chosen. */
interface ListTable {
  readonly pieces: readonly (readonly ListRow[])[];
  /** As many are drawn for now. */
  readonly drawnCount: number;
  readonly list: ListChoice;
  readonly onSort: (column: ListChoice["column"]) => void;
  /** A row is pressed: its place among the IDs of the text. */
  readonly onChoose: (at: number) => void;
}

/**
 * Draws the rows of a list. Each piece of them is drawn once and then left alone, and the browser lays out those that
 * are in sight: a table proper would be laid out as a whole with each piece that comes.
 */
export function listTable(texts: Texts, { pieces, drawnCount, list, onSort, onChoose }: ListTable): TemplateResult {
  const { list: words } = texts.parse;
  const count = pieces.reduce((sum, piece) => sum + piece.length, 0);
  const drawn = pieces.slice(0, Math.ceil(drawnCount / pieceSize));
  const choose = (event: Event): void => {
    const at = (event.target as Element).closest("[data-at]")?.getAttribute("data-at");
    if (at !== null && at !== undefined) onChoose(Number(at));
  };
  return html`<div role="table" aria-label=${words.ids} aria-rowcount=${count + 1} @click=${choose}>
    <div role="row" class="head">
      ${listColumns.map((column) => {
        const sorted = list.column === column ? (list.direction === "up" ? "ascending" : "descending") : "none";
        return html`<span role="columnheader" aria-sort=${sorted}
          ><button type="button" class="sort" @click=${() => onSort(column)}>${words.columns[column]}</button></span
        >`;
      })}
    </div>
    ${drawn.map((piece) => guard([piece, texts], () => pieceRows(piece, texts)))}
  </div>`;
}

function pieceRows(piece: readonly ListRow[], texts: Texts): TemplateResult {
  return html`<div role="rowgroup" class="piece">${piece.map((row) => rowOf(row, texts))}</div>`;
}

function rowOf({ index, entry, idIndex, timeMs, gapMs, isCopy, breakMs }: ListRow, texts: Texts): TemplateResult {
  const { reading } = entry;
  const { parse } = texts;
  if (reading.kind === "refused") {
    return html`<div role="row" class="refused">
      <span role="cell">${index + 1}</span><span role="cell" class="v">${reading.line.slice(0, 80)}</span
      ><span role="cell" class="error why" aria-colspan="4">${errorWords(reading.error, texts, reading.line)}</span>
    </div>`;
  }
  const { parsed } = reading.source;
  const flag = isCopy ? parse.list.copy : breakMs > 0 ? parse.list.break : "";
  return html`<div role="row" class=${isCopy ? "dup" : breakMs > 0 ? "back" : nothing} data-at=${idIndex ?? nothing}>
    <span role="cell">${index + 1}</span><span role="cell" class="v">${parsed?.id ?? reading.line}</span
    ><span role="cell">${timeMs === undefined ? nothing : new Date(timeMs).toISOString()}</span
    ><span role="cell" class="worker" data-name=${parse.by}>${parse.workerOf(parsed?.datacenterId, parsed?.workerId)}</span
    ><span role="cell" class="sequence" data-name=${parse.sequence}>${parsed?.sequence ?? nothing}</span
    ><span role="cell"
      >${gapMs === undefined ? nothing : parse.list.after(gapMs)}${flag === "" ? nothing : html` <b class="badge">${flag}</b>`}</span
    >
  </div>`;
}
