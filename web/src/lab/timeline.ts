import { html, nothing, svg, type TemplateResult } from "lit-html";
import type { Texts } from "../texts/en.ts";
import { clockWords, isoDay } from "../time-words.ts";
import { binCount, binOf, laneKey, type ListAnalysis, type WorkerLane } from "./list-analysis.ts";
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

/**
 * Draws the IDs of each worker over time, with marks where a row is a copy or out of order. A press on a worker shows
 * its rows alone.
 */
export function timeline(
  { lanes, span, gap }: ListAnalysis,
  pieces: readonly (readonly ListRow[])[],
  texts: Texts,
  onFilter: (filter: string) => void,
): TemplateResult | typeof nothing {
  if (span === undefined || span.firstMs === span.lastMs) return nothing;
  const { list: words } = texts.parse;
  const shown = lanes.slice(0, lanesMax);
  const most = shown.reduce((max, { bins }) => Math.max(max, ...bins), 1);
  const height = shown.length * laneHeight + 24;
  const placeOf = (timeMs: number): number => left + binOf(timeMs, span) * binWidth;
  const isGapShown = gap.lengthMs * binCount > (span.lastMs - span.firstMs) * 3;
  return html`<figure class="timeline">
    <figcaption>
      <b>${words.timeline}</b> <span class="bar-key">${words.binNote((span.lastMs - span.firstMs) / binCount)}</span>
      <span class="dup-key">${words.copy}</span> <span class="back-key">${words.break}</span>
    </figcaption>
    <div class="scroll" tabindex="0" role="group" aria-label=${words.timeline}>
      <svg viewBox="0 0 ${width} ${height}" role="img" aria-label=${words.timelineSays(lanes.length)}>
        ${
          isGapShown
            ? svg`<rect class="gap" x=${placeOf(gap.fromMs) + binWidth} y="0" height=${height - 24}
                width=${Math.max(placeOf(gap.fromMs + gap.lengthMs) - placeOf(gap.fromMs) - binWidth, 1)} />`
            : nothing
        }
        ${shown.map((lane, index) => laneOf(lane, index, most, texts))} ${marks(pieces, shown, placeOf)}
        ${ticks(span, height)}
      </svg>
    </div>
    <div class="lane-buttons">
      ${shown.map((lane) => laneButton(lane, texts, onFilter))}
      ${lanes.length > lanesMax ? html`<span class="note">${words.moreWorkers(lanes.length - lanesMax)}</span>` : nothing}
    </div>
  </figure>`;
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
  const name = workerId === undefined ? "–" : `${texts.fields.worker} ${texts.parse.workerOf(datacenterId, workerId)}`;
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
  placeOf: (timeMs: number) => number,
): readonly unknown[] {
  const indexOf = new Map(
    lanes.map(({ datacenterId, workerId }, index) => [`${datacenterId ?? ""}/${workerId ?? ""}`, index]),
  );
  const odd: { readonly row: ListRow; readonly lane: number; readonly timeMs: number }[] = [];
  for (const row of pieces.flat()) {
    const lane = indexOf.get(laneKey(row));
    if ((row.isCopy || row.breakMs > 0) && lane !== undefined && row.timeMs !== undefined && odd.length < marksMax)
      odd.push({ row, lane, timeMs: row.timeMs });
  }
  return odd.map(
    ({ row, lane, timeMs }) =>
      svg`<circle class=${row.isCopy ? "dup" : "back"} cx=${placeOf(timeMs) + binWidth / 2} cy=${lane * laneHeight + 6} r="4" />`,
  );
}

function ticks({ firstMs, lastMs }: NonNullable<ListAnalysis["span"]>, height: number): readonly unknown[] {
  const isDays = lastMs - firstMs > 3 * 86_400_000;
  return Array.from({ length: tickCount }, (_, index) => {
    const share = index / (tickCount - 1);
    const timeMs = firstMs + share * (lastMs - firstMs);
    const anchor = index === 0 ? "start" : index === tickCount - 1 ? "end" : "middle";
    const text = isDays ? isoDay(timeMs) : clockWords(timeMs, lastMs - firstMs < 10_000 ? 3 : 0, "UTC");
    return svg`<text class="tick" x=${left + share * (width - left)} y=${height - 6} text-anchor=${anchor}>${text}</text>`;
  });
}
