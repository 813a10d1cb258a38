import { html, nothing, type TemplateResult } from "lit-html";
import { guard } from "lit-html/directives/guard.js";
import { download } from "./download.ts";
import { errorWords } from "./error-words.ts";
import type { LineReading } from "./read-line.ts";
import type { ReadLines } from "./state.ts";
import type { Texts } from "./texts/en.ts";
import { msOf } from "./time-words.ts";

/**
 * Draws the readings of many lines. Each piece of them is drawn once and then left alone, and the browser lays out
 * those that are in sight: a table proper would be laid out as a whole with each piece that comes.
 */
export function lineTable(lines: ReadLines, texts: Texts): TemplateResult {
  const words = texts.parse;
  const { pieces, count, readCount } = lines;
  const refused = pieces.flat().filter(({ kind }) => kind === "refused").length;
  const isDone = readCount === count;
  const heads = [words.line, words.id, words.time, words.by, words.sequence];
  let first = 1;
  return html`<section class="panel pad lines" aria-label=${words.result}>
    <div class="row">
      <p class="note" role="status">${isDone ? words.many(count, refused) : words.reading(readCount, count)}</p>
      <div class="spacer"></div>
      <button type="button" ?disabled=${!isDone} @click=${() => saveCsv(pieces)}>${words.downloadCsv}</button>
    </div>
    <div role="table" aria-label=${words.ids} aria-rowcount=${count + 1}>
      <div role="row" class="head">${heads.map((head) => html`<span role="columnheader">${head}</span>`)}</div>
      ${pieces.map((piece) => {
        const begin = first;
        first += piece.length;
        return guard([piece, texts], () => pieceRows(piece, begin, texts));
      })}
    </div>
  </section>`;
}

function pieceRows(piece: readonly LineReading[], first: number, texts: Texts): TemplateResult {
  return html`<div role="rowgroup" class="piece">${piece.map((reading, index) => row(reading, first + index, texts))}</div>`;
}

function row(reading: LineReading, number: number, texts: Texts): TemplateResult {
  if (reading.kind === "refused") {
    return html`<div role="row" class="refused">
      <span role="cell">${number}</span><span role="cell" class="v">${reading.line.slice(0, 80)}</span
      ><span role="cell" class="error why" aria-colspan="3">${errorWords(reading.error, texts, reading.line)}</span>
    </div>`;
  }
  const { parsed } = reading.source;
  const time = timeOf(reading);
  return html`<div role="row">
    <span role="cell">${number}</span><span role="cell" class="v">${parsed?.id ?? reading.line}</span
    ><span role="cell">${time === undefined ? nothing : time}</span
    ><span role="cell" data-name=${texts.parse.by}>${texts.parse.workerOf(parsed?.datacenterId, parsed?.workerId)}</span
    ><span role="cell" data-name=${texts.parse.sequence}>${parsed?.sequence ?? nothing}</span>
  </div>`;
}

function timeOf(reading: LineReading): string | undefined {
  if (reading.kind === "refused") return undefined;
  const { parsed, uuid, foreign } = reading.source;
  const timeNs = parsed?.createTimeNs ?? uuid?.createTimeNs ?? foreign?.createTimeNs;
  return timeNs === undefined ? undefined : new Date(msOf(timeNs)).toISOString();
}

/** Writes a cell of CSV (RFC 4180). One that a spreadsheet would take for a formula gets an apostrophe. */
function cell(value: string | number | bigint | undefined): string {
  const text = String(value ?? "").replace(/^(?=[=+@\t\r-])/, "'");
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Hands the readings to the reader as CSV. */
function saveCsv(pieces: ReadLines["pieces"]): void {
  const rows = pieces.flat().map((reading) => {
    const parsed = reading.kind === "read" ? reading.source.parsed : undefined;
    const error = reading.kind === "refused" ? reading.error.message : "";
    const { id, datacenterId, workerId, sequence } = parsed ?? {};
    return [reading.line, id, timeOf(reading), datacenterId, workerId, sequence, error].map(cell).join(",");
  });
  const head = "text,id,create_time,datacenter_id,worker_id,sequence,error";
  download(new Blob([[head, ...rows].join("\r\n"), "\r\n"], { type: "text/csv" }), "snowlane-ids.csv");
}
