/** Draws the charts of Watch. A chunk of its own: Watch alone loads it. */
import uPlot from "uplot";
import type { SecondSample } from "../../src/service/message/status-message.ts";
import { type ChartName, chartLines, chartNames, chartTop, chartValues, knownValues } from "./chart-data.ts";

/** What the charts show. */
interface ShownSeconds {
  readonly samples: readonly SecondSample[];
  /** The seconds that are in sight, up to the last sample. */
  readonly seconds: number;
  /** Says a value of a chart with its unit. */
  readonly measure: (name: ChartName, value: number | undefined) => string;
}

/** A chart, and what it says where the pointer is. */
interface Chart {
  readonly plot: uPlot;
  readonly tip: HTMLElement;
}

const heightPx = 168;
const charts = new Map<HTMLElement, Chart>();
const resized = new ResizeObserver((entries) => {
  for (const { target } of entries) {
    const width = target.clientWidth;
    if (width > 0) charts.get(target as HTMLElement)?.plot.setSize({ width, height: heightPx });
  }
});
let shown: ShownSeconds;

/** Draws the seconds into the places below `root` that name a chart; keeps the charts that are there. */
export function drawCharts(root: ParentNode, next: ShownSeconds): void {
  shown = next;
  for (const [place, { plot }] of charts) {
    if (place.isConnected) continue;
    resized.unobserve(place);
    plot.destroy();
    charts.delete(place);
  }
  const { samples, seconds } = next;
  const endS = (samples.at(-1)?.timeMs ?? 0) / 1_000;
  const inSight = samples.slice(-seconds);
  for (const place of root.querySelectorAll<HTMLElement>("[data-chart]")) {
    const name = chartNames.find((known) => known === place.dataset["chart"]);
    if (name === undefined) continue;
    const chart = charts.get(place) ?? begin(place, name);
    chart.plot.batch(() => {
      chart.plot.setData(dataOf(name, inSight), false);
      // Seconds that were not yet, or in which the page was out of sight, stay empty.
      chart.plot.setScale("x", { min: endS - seconds, max: endS });
      chart.plot.setScale("y", { min: 0, max: chartTop(knownValues(name, inSight)) });
    });
    point(chart, name);
  }
}

function dataOf(name: ChartName, samples: readonly SecondSample[]): uPlot.AlignedData {
  const rows = samples.map((sample) => chartValues[name](sample).map((value) => value ?? null));
  const lines = chartValues[name](undefined).map((_, line) => rows.map((row) => row[line] ?? null));
  return [samples.map(({ timeMs }) => timeMs / 1_000), ...lines];
}

type Ink = "color" | "borderTopColor" | "outlineColor" | "caretColor" | "textDecorationColor";

/** A canvas does not know light-dark(); the style of the place has the colours as the browser resolved them. */
function inkOf(place: HTMLElement, ink: Ink): string {
  return getComputedStyle(place)[ink];
}

function begin(place: HTMLElement, name: ChartName): Chart {
  const names = chartLines[name] ?? [""];
  const inks = names.length === 1 ? (["caretColor"] as const) : (["outlineColor", "caretColor"] as const);
  const axis: uPlot.Axis = {
    stroke: () => inkOf(place, "color"),
    grid: { stroke: () => inkOf(place, "borderTopColor"), width: 1 },
    ticks: { show: false },
    font: "11px system-ui, sans-serif",
  };
  const tip = document.createElement("div");
  tip.className = "tip";
  tip.hidden = true;
  const plot = new uPlot(
    {
      width: Math.max(place.clientWidth, 100),
      height: heightPx,
      legend: { show: false },
      // All charts point at one second.
      cursor: { y: false, drag: { x: false, y: false }, sync: { key: "seconds" }, points: { size: 7 } },
      padding: [12, 20, 0, 0],
      scales: { x: { time: true }, y: { auto: false } },
      axes: [
        { ...axis, grid: { show: false }, size: 24, gap: 4, space: 44, incrs: [10, 15, 60, 120], values: clocksOf },
        { ...axis, size: 52, gap: 6, space: 36, values: (_plot, values) => withUnit(name, values) },
      ],
      series: [
        {},
        ...inks.map((ink, line) => ({
          stroke: () => inkOf(place, ink),
          width: 1.5,
          // The lines differ by more than their hue.
          dash: names[line] === "p50" ? [5, 4] : [],
          points: { show: name === "latency", size: 3, width: 0, fill: () => inkOf(place, ink) },
          // A quiet second has no latency: the lines go on to the next that has one.
          spanGaps: name === "latency",
        })),
      ],
      hooks: {
        draw: [(plot) => markAbove(plot, inkOf(place, "textDecorationColor"))],
        setCursor: [(plot) => point({ plot, tip }, name)],
      },
    },
    dataOf(name, []),
    place,
  );
  plot.over.append(tip);
  const chart = { plot, tip };
  charts.set(place, chart);
  resized.observe(place);
  return chart;
}

/** Marks the seconds above the scale by a bar at its edge. */
function markAbove(plot: uPlot, colour: string): void {
  const { ctx, bbox, data, scales } = plot;
  const top = scales["y"]?.max ?? Infinity;
  const [times, ...lines] = data;
  ctx.save();
  ctx.fillStyle = colour;
  times.forEach((time, index) => {
    if (lines.every((line) => (line[index] ?? 0) <= top)) return;
    const x = plot.valToPos(time, "x", true);
    ctx.fillRect(x - 2 * devicePixelRatio, bbox.top, 4 * devicePixelRatio, 3 * devicePixelRatio);
  });
  ctx.restore();
}

/** Says the second at which the pointer is, and its values. */
function point({ plot, tip }: Chart, name: ChartName): void {
  const index = plot.cursor.idx;
  const [times, ...lines] = plot.data;
  const time = index === undefined || index === null ? undefined : times[index];
  tip.hidden = time === undefined || (plot.cursor.left ?? -1) < 0;
  if (tip.hidden || time === undefined || index === undefined || index === null) return;
  const names = chartLines[name] ?? [""];
  const values = lines.map((line, at) => `${names[at] ?? ""} ${shown.measure(name, line[index] ?? undefined)}`.trim());
  tip.textContent = `${clockOf(time)}  ${values.join("  ")}`;
  const left = plot.valToPos(time, "x");
  const isRight = left > plot.over.clientWidth / 2;
  tip.style.left = isRight ? "auto" : `${left + 8}px`;
  tip.style.right = isRight ? `${plot.over.clientWidth - left + 8}px` : "auto";
}

/** Whole minutes without their seconds. */
function clocksOf(_plot: uPlot, times: readonly number[]): string[] {
  const isWhole = times.every((time) => time % 60 === 0);
  return times.map((time) => (isWhole ? clockOf(time).slice(0, -3) : clockOf(time)));
}

function clockOf(unixS: number): string {
  const time = new Date(unixS * 1_000);
  return [time.getHours(), time.getMinutes(), time.getSeconds()].map((part) => String(part).padStart(2, "0")).join(":");
}

const units: Readonly<Record<ChartName, string>> = {
  ids: "/s",
  calls: "/s",
  latency: " ms",
  errors: "/s",
  lead: " ms",
  window: " s",
};

/** The unit is shown at the highest value. */
function withUnit(name: ChartName, values: readonly number[]): string[] {
  return values.map((value, index) => shortNumber(value) + (index === values.length - 1 ? units[name] : ""));
}

function shortNumber(value: number): string {
  if (value >= 1e6) return `${Number((value / 1e6).toPrecision(3))}M`;
  if (value >= 1e4) return `${Number((value / 1e3).toPrecision(3))}k`;
  return String(Number(value.toPrecision(3)));
}
