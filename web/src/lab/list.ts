/** The list of many IDs, and the query for those of one time: this part of the page is loaded with the first ID. */
import { html, nothing, type TemplateResult } from "lit-html";
import { afterSlice } from "../after-frame.ts";
import { download } from "../download.ts";
import type { Change, ListChoice, ReadLines, State, TimeSpan } from "../state.ts";
import { switchButtons, textField } from "../text-field.ts";
import type { Texts } from "../texts/en.ts";
import { utcTime } from "../time-words.ts";
import { analyse, lanesOf, type ListAnalysis } from "./list-analysis.ts";
import { csvOf } from "./list-csv.ts";
import { chooseRows } from "./list-order.ts";
import { type ListRow, rowsOf } from "./list-rows.ts";
import { choose } from "./select-id.ts";
import { listTable } from "./list-table.ts";
import { type Timeline, timeline } from "./timeline.ts";

export { rangeCard } from "./range-card.ts";

/** Rows that a frame adds after a change of the order or the filter. */
const rowsOfFrame = 500;

interface Cached {
  readonly lines: ReadLines;
  readonly slackMs: number;
  readonly analysis: ListAnalysis;
}

let cached: Cached | undefined;

/** Draws a list of IDs: figures, a timeline by worker, and a table that can be sorted and filtered. */
export function drawList(state: State, change: Change, texts: Texts, lines: ReadLines): TemplateResult {
  const { list } = state.parse;
  const pieces = rowsOf(lines, list.slackMs);
  const isDone = lines.readCount === lines.count;
  const analysis = isDone ? analysisOf(lines, list.slackMs, pieces) : undefined;
  const refusedCount = countRefused(pieces);
  return html`<section class="panel pad lines" aria-labelledby="list-title">
    <div class="row list-head">
      <h2 id="list-title">${texts.parse.list.title}</h2>
      <p class="note" role="status">
        ${isDone ? texts.parse.many(lines.count, refusedCount) : texts.parse.reading(lines.readCount, lines.count)}
      </p>
      <div class="spacer"></div>
      <button type="button" class="csv" ?disabled=${!isDone} @click=${() => saveCsv(pieces)}>
        ${texts.parse.downloadCsv}
      </button>
    </div>
    ${
      analysis === undefined || analysis.idCount < 2
        ? nothing
        : html`${figures(analysis, texts)}
          ${timeline(texts, {
            ...zoomedOn(analysis, pieces, list.span),
            pieces,
            onFilter: (filter) => setList(change, lines, { filter }),
            onZoom: (span) => setList(change, lines, { span }),
          })}
          ${controls(state, change, texts, { lines, analysis })}`
    }
    ${table(state, change, texts, { lines, pieces })}
  </section>`;
}

function analysisOf(lines: ReadLines, slackMs: number, pieces: readonly (readonly ListRow[])[]): ListAnalysis {
  if (cached?.lines !== lines || cached.slackMs !== slackMs)
    cached = { lines, slackMs, analysis: analyse(pieces.flat()) };
  return cached.analysis;
}

let zoomed: { readonly key: readonly unknown[]; readonly lanes: ListAnalysis["lanes"] } | undefined;

/** What the timeline shows: all of the time, or the part that the reader chose. */
function zoomedOn(
  { lanes, span, gap }: ListAnalysis,
  pieces: readonly (readonly ListRow[])[],
  part: TimeSpan | undefined,
): Pick<Timeline, "lanes" | "span" | "gap" | "zoom"> {
  if (part === undefined) return { lanes, span, gap, zoom: "whole" };
  const key = [pieces, lanes, part];
  if (zoomed === undefined || key.some((known, index) => known !== zoomed?.key[index]))
    zoomed = { key, lanes: lanesOf(pieces.flat(), part) };
  return { lanes: zoomed.lanes, span: part, gap, zoom: "part" };
}

const refusedCounts = new WeakMap<readonly ListRow[], number>();

/** Counted once a piece: the page draws while the others come. */
function countRefused(pieces: readonly (readonly ListRow[])[]): number {
  let sum = 0;
  for (const piece of pieces) {
    const known = refusedCounts.get(piece) ?? piece.filter(({ entry }) => entry.reading.kind === "refused").length;
    refusedCounts.set(piece, known);
    sum += known;
  }
  return sum;
}

function figures({ idCount, differentCount, copyCount, ...rest }: ListAnalysis, texts: Texts): TemplateResult {
  const { number } = texts;
  const { list: words } = texts.parse;
  const { breakCount, breakMaxMs, span, peak, gap, lanes } = rest;
  const spanMs = span === undefined ? 0 : span.lastMs - span.firstMs;
  const rate = spanMs === 0 ? 0 : (idCount * 1_000) / spanMs;
  return html`<dl class="stats">
    ${figure(words.ids, number(idCount), words.different(differentCount))}
    ${figure(words.copies, number(copyCount), words.copiesNote, copyCount === 0 ? "" : "bad")}
    ${figure(words.breaks, number(breakCount), breakCount === 0 ? "" : words.upTo(breakMaxMs), breakCount === 0 ? "" : "warn")}
    ${figure(
      words.rate,
      rate < 0.01 ? "–" : words.perSecond(rate),
      peak === undefined ? "" : words.peak(peak.count, utcTime(peak.atMs)),
    )}
    ${figure(words.gap, gap.lengthMs === 0 ? "–" : words.length(gap.lengthMs), gap.lengthMs === 0 ? "" : words.from(utcTime(gap.fromMs)))}
    ${figure(words.workers, number(lanes.length), span === undefined ? "" : words.span(utcTime(span.firstMs), utcTime(span.lastMs)))}
  </dl>`;
}

function figure(label: string, value: string, note: string, look = ""): TemplateResult {
  return html`<div class="stat"><dt>${label}</dt><dd class=${look}>${value}<small>${note}</small></dd></div>`;
}

/** A choice of few words under its label. */
function captioned(choice: Parameters<typeof switchButtons>[0]): TemplateResult {
  return html`<div class="caption"><span aria-hidden="true">${choice.label}</span>${switchButtons(choice)}</div>`;
}

const slacksMs = [0, 1_000, 10_000];

function controls(
  state: State,
  change: Change,
  texts: Texts,
  { lines, analysis }: { readonly lines: ReadLines; readonly analysis: ListAnalysis },
): TemplateResult {
  const { list: words } = texts.parse;
  const { list } = state.parse;
  return html`<div class="row controls list-controls">
    ${captioned({
      label: words.rows,
      value: list.rows,
      options: [
        ["all", words.all],
        ["odd", words.odd(analysis.copyCount + analysis.breakCount)],
      ],
      onChange: (value) => setList(change, lines, { rows: value === "odd" ? "odd" : "all" }),
    })}
    ${captioned({
      label: words.slack,
      value: String(list.slackMs),
      options: slacksMs.map((ms) => [String(ms), words.slackOf(ms / 1_000)]),
      onChange: (value) => setList(change, lines, { slackMs: Number(value) }),
    })}
    ${textField({
      id: "list-filter",
      label: words.filter,
      value: list.filter,
      hint: words.filterHint,
      onInput: (value) => setList(change, lines, { filter: value }),
    })}
  </div>`;
}

let chosen: { readonly key: readonly unknown[]; readonly pieces: readonly (readonly ListRow[])[] } | undefined;

function table(
  state: State,
  change: Change,
  texts: Texts,
  { lines, pieces }: { readonly lines: ReadLines; readonly pieces: readonly (readonly ListRow[])[] },
): TemplateResult {
  const { list } = state.parse;
  const key = [lines, list.column, list.direction, list.filter, list.span, list.rows, list.slackMs, texts];
  if (chosen === undefined || key.some((part, index) => part !== chosen?.key[index])) {
    const words = ["worker", "shard", "machine", "process", texts.fields.worker];
    chosen = { key, pieces: chooseRows(pieces, list, words) };
  }
  return listTable(texts, {
    pieces: chosen.pieces,
    drawnCount: list.drawnCount,
    list,
    onSort: (column) => {
      const direction = list.column === column && list.direction === "up" ? "down" : "up";
      setList(change, lines, { column, direction });
    },
    onChoose: (at) => {
      choose(change, at);
      // Behind the drawing, which is queued as well.
      queueMicrotask(() => document.querySelector(".answers")?.scrollIntoView({ block: "nearest" }));
    },
  });
}

/** Shows the rows in another way: the first at once, and more of them with each frame. */
function setList(change: Change, lines: ReadLines, parts: Partial<ListChoice>): void {
  let chosenList: ListChoice | undefined;
  change((state) => {
    chosenList = { ...state.parse.list, ...parts, drawnCount: rowsOfFrame };
    return { ...state, parse: { ...state.parse, list: chosenList } };
  });
  if (chosenList !== undefined) void drawOn(change, lines, chosenList);
}

/** Draws on until all rows are there, or the rows are shown in yet another way. */
async function drawOn(change: Change, lines: ReadLines, list: ListChoice): Promise<void> {
  const total = lines.pieces.reduce((sum, piece) => sum + piece.length, 0);
  let own: ListChoice | undefined = list;
  while (own !== undefined && own.drawnCount < total) {
    await afterSlice();
    const before: ListChoice = own;
    own = undefined;
    change((state) => {
      if (state.parse.lines !== lines || state.parse.list !== before) return state;
      own = { ...before, drawnCount: before.drawnCount + rowsOfFrame };
      return { ...state, parse: { ...state.parse, list: own } };
    });
  }
}

function saveCsv(pieces: readonly (readonly ListRow[])[]): void {
  download(new Blob([csvOf(pieces.flat())], { type: "text/csv" }), "snowlane-ids.csv");
}
