import { html, nothing, svg, type TemplateResult } from "lit-html";
import { moveFocus } from "../move-focus.ts";
import type { TimeSpan } from "../state.ts";
import type { Texts } from "../texts/en.ts";
import { clockWords, isoDay } from "../time-words.ts";
import {
  binCount,
  binOf,
  isWithin,
  laneKey,
  type ListAnalysis,
  partsOf,
  type WorkerLane,
  zoomCount,
} from "./list-analysis.ts";
import type { ListRow } from "./list-rows.ts";

/** The places of the picture, in its own units. */
const laneHeight = 34;
const left = 110;
const width = 1_000;
const barHeightMax = 26;
const binWidth = (width - left) / binCount;
/** More lanes would not make a picture, and more marks would hide one another. */
const lanesMax = 12;
const marksMax = 200;
const tickCount = 5;

/** What the timeline shows, and what a press on it does. */
export interface Timeline extends Pick<ListAnalysis, "lanes" | "span" | "gap"> {
  readonly zoom: "whole" | "part";
  readonly pieces: readonly (readonly ListRow[])[];
  readonly onFilter: (filter: string) => void;
  /** Shows a part of the time larger; undefined: all of it. */
  readonly onZoom: (span: TimeSpan | undefined) => void;
}

/**
 * Draws the IDs of each worker over time, with marks where a row is a copy or out of order. A press on a worker shows
 * only its rows, and a press on a part of the time shows that part larger.
 */
export function timeline(texts: Texts, parts: Timeline): TemplateResult | typeof nothing {
  const { lanes, span, zoom, onFilter } = parts;
  if (span === undefined || (span.firstMs === span.lastMs && zoom === "whole")) return nothing;
  const { list: words } = texts.parse;
  const shown = lanes.slice(0, lanesMax);
  return html`<figure class="timeline">
    <figcaption>
      <b>${words.timeline}</b> <span class="bar-key">${words.binNote((span.lastMs - span.firstMs) / binCount)}</span>
      <span class="dup-key">${words.copy}</span> <span class="back-key">${words.break}</span>
    </figcaption>
    <div class="scroll" tabindex="0" role="group" aria-label=${words.timeline}>
      <div class="plot">${picture(texts, parts, span, shown)} ${zoomButtons(texts, parts, span)}</div>
    </div>
    ${zoomNote(texts, parts, span)}
    <div class="lane-buttons">
      ${shown.map((lane) => laneButton(lane, texts, onFilter))}
      ${lanes.length > lanesMax ? html`<span class="note">${words.moreWorkers(lanes.length - lanesMax)}</span>` : nothing}
    </div>
  </figure>`;
}

function picture(
  texts: Texts,
  { lanes, gap, pieces }: Timeline,
  span: TimeSpan,
  shown: readonly WorkerLane[],
): TemplateResult {
  const most = shown.reduce((max, { bins }) => Math.max(max, ...bins), 1);
  const height = shown.length * laneHeight + 24;
  const placeOf = (timeMs: number): number => left + binOf(timeMs, span) * binWidth;
  const gapEndMs = gap.fromMs + gap.lengthMs;
  const isGapShown =
    gap.lengthMs * binCount > (span.lastMs - span.firstMs) * 3 && span.firstMs <= gap.fromMs && gapEndMs <= span.lastMs;
  return html`<svg viewBox="0 0 ${width} ${height}" role="img" aria-label=${texts.parse.list.timelineSays(lanes.length)}>
    ${
      isGapShown
        ? svg`<rect class="gap" x=${placeOf(gap.fromMs) + binWidth} y="0" height=${height - 24}
            width=${Math.max(placeOf(gapEndMs) - placeOf(gap.fromMs) - binWidth, 1)} />`
        : nothing
    }
    ${shown.map((lane, index) => laneOf(lane, index, most, texts))}
    ${marks(pieces, shown, { span, placeOf })} ${ticks(span, height)}
  </svg>`;
}

/** A button over each tenth of the picture: only one of them is in the order of Tab, and keys lead to the others. */
function zoomButtons(texts: Texts, { lanes, onZoom }: Timeline, span: TimeSpan): TemplateResult | typeof nothing {
  const parts = partsOf(span);
  if (parts.length === 0) return nothing;
  const binsOfPart = binCount / zoomCount;
  return html`<div class="zoom" @keydown=${moveFocus}>
    ${parts.map((part, index) => {
      const inPart = (bin: number): boolean => Math.floor(bin / binsOfPart) === index;
      const count = lanes.reduce(
        (sum, { bins }) => bins.reduce((all, ids, bin) => (inPart(bin) ? all + ids : all), sum),
        0,
      );
      const said = texts.parse.list.zoomTo(tickText(part.firstMs, span), tickText(part.lastMs, span), count);
      return html`<button
        type="button"
        aria-label=${said}
        title=${said}
        aria-disabled=${count === 0 ? "true" : nothing}
        tabindex=${index === 0 ? "0" : "-1"}
        @click=${() => {
          if (count > 0) onZoom(part);
        }}
      ></button>`;
    })}
  </div>`;
}

/** Which part is shown, with the way back; or that a press shows one. */
function zoomNote(texts: Texts, { zoom, onZoom }: Timeline, span: TimeSpan): TemplateResult {
  const { list: words } = texts.parse;
  if (zoom === "whole") return html`<p class="note">${words.zoomHint}</p>`;
  const said = words.zoomed(tickText(span.firstMs, span), tickText(span.lastMs, span));
  return html`<p class="note" role="status">
    ${said} <button type="button" class="link" @click=${() => onZoom(undefined)}>${words.zoomOut}</button>
  </p>`;
}

function laneButton({ datacenterId, workerId, count }: WorkerLane, texts: Texts, onFilter: (filter: string) => void) {
  if (workerId === undefined) return nothing;
  const name = texts.parse.workerOf(datacenterId, workerId);
  return html`<button type="button" class="chip" @click=${() => onFilter(`${texts.fields.worker} ${name}`)}>
    ${texts.parse.by} ${name} <small>${texts.number(count)}</small>
  </button>`;
}

function laneOf({ datacenterId, workerId, bins }: WorkerLane, index: number, most: number, texts: Texts) {
  const base = index * laneHeight + laneHeight - 4;
  const name =
    workerId === undefined
      ? "–"
      : svg`<tspan class="word">${texts.fields.worker} </tspan>${texts.parse.workerOf(datacenterId, workerId)}`;
  return svg`<text class="lane-name" x="0" y=${base - 4}>${name}</text>
    <line x1=${left} x2=${width} y1=${base} y2=${base} />
    ${bins.map((count, bin) => {
      if (count === 0) return nothing;
      const height = Math.max((count / most) * barHeightMax, 2);
      return svg`<rect class="bar" x=${left + bin * binWidth} y=${base - height} width=${binWidth - 1.5}
        height=${height} rx="1.5"><title>${count}</title></rect>`;
    })}`;
}

function marks(
  pieces: readonly (readonly ListRow[])[],
  lanes: readonly WorkerLane[],
  { span, placeOf }: { readonly span: TimeSpan; readonly placeOf: (timeMs: number) => number },
): readonly unknown[] {
  const indexOf = new Map(
    lanes.map(({ datacenterId, workerId }, index) => [`${datacenterId ?? ""}/${workerId ?? ""}`, index]),
  );
  const odd: { readonly row: ListRow; readonly lane: number; readonly timeMs: number }[] = [];
  for (const row of pieces.flat()) {
    if (!isWithin(row, span)) continue;
    const lane = indexOf.get(laneKey(row));
    if ((row.isCopy || row.breakMs > 0) && lane !== undefined && row.timeMs !== undefined && odd.length < marksMax)
      odd.push({ row, lane, timeMs: row.timeMs });
  }
  return odd.map(
    ({ row, lane, timeMs }) =>
      svg`<circle class=${row.isCopy ? "dup" : "back"} cx=${placeOf(timeMs) + binWidth / 2} cy=${lane * laneHeight + 6} r="4" />`,
  );
}

function ticks(span: TimeSpan, height: number): readonly unknown[] {
  return Array.from({ length: tickCount }, (_, index) => {
    const share = index / (tickCount - 1);
    const timeMs = span.firstMs + share * (span.lastMs - span.firstMs);
    const anchor = index === 0 ? "start" : index === tickCount - 1 ? "end" : "middle";
    return svg`<text class="tick" x=${left + share * (width - left)} y=${height - 6} text-anchor=${anchor}>${tickText(timeMs, span)}</text>`;
  });
}

/** A time of the axis, as exact as the span needs it. */
function tickText(timeMs: number, { firstMs, lastMs }: TimeSpan): string {
  if (lastMs - firstMs > 3 * 86_400_000) return isoDay(timeMs);
  return clockWords(timeMs, lastMs - firstMs < 10_000 ? 3 : 0, "UTC");
}
