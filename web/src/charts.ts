/** Draws the charts of Watch. A chunk of its own: Watch alone loads it. */
import uPlot from "uplot";
import type { SecondSample } from "../../src/service/message/status-message.ts";
import { type ChartName, chartNames, chartValues } from "./chart-data.ts";

const heightPx = 132;
const charts = new Map<HTMLElement, uPlot>();
const resized = new ResizeObserver((entries) => {
  for (const { target } of entries) {
    const width = target.clientWidth;
    if (width > 0) charts.get(target as HTMLElement)?.setSize({ width, height: heightPx });
  }
});

/** Draws the seconds into the places below `root` that name a chart; keeps the charts that are there. */
export function drawCharts(root: ParentNode, samples: readonly SecondSample[], seconds: number): void {
  for (const [place, chart] of charts) {
    if (place.isConnected) continue;
    resized.unobserve(place);
    chart.destroy();
    charts.delete(place);
  }
  const endS = (samples.at(-1)?.timeMs ?? 0) / 1_000;
  for (const place of root.querySelectorAll<HTMLElement>("[data-chart]")) {
    const name = chartNames.find((known) => known === place.dataset["chart"]);
    if (name === undefined) continue;
    const chart = charts.get(place) ?? begin(place, name);
    const data = dataOf(name, samples.slice(-seconds));
    chart.batch(() => {
      chart.setData(data, false);
      // Seconds that were not yet, or in which the page was out of sight, stay empty.
      chart.setScale("x", { min: endS - seconds, max: endS });
    });
  }
}

function dataOf(name: ChartName, samples: readonly SecondSample[]): uPlot.AlignedData {
  const rows = samples.map((sample) => chartValues[name](sample).map((value) => value ?? null));
  const lines = chartValues[name](undefined).map((_, line) => rows.map((row) => row[line] ?? null));
  return [samples.map(({ timeMs }) => timeMs / 1_000), ...lines];
}

function begin(place: HTMLElement, name: ChartName): uPlot {
  const lineCount = chartValues[name](undefined).length;
  const lines = lineCount === 1 ? (["caretColor"] as const) : (["outlineColor", "caretColor"] as const);
  // A canvas does not know light-dark(); the style of the place has the colours as the browser resolved them.
  const colour = (property: "color" | "borderTopColor" | "outlineColor" | "caretColor") => () =>
    getComputedStyle(place)[property];
  const axis: uPlot.Axis = {
    stroke: colour("color"),
    grid: { stroke: colour("borderTopColor"), width: 1 },
    ticks: { show: false },
    font: "11px system-ui, sans-serif",
  };
  const chart = new uPlot(
    {
      width: Math.max(place.clientWidth, 100),
      height: heightPx,
      legend: { show: false },
      cursor: { show: false },
      padding: [8, 8, 0, 0],
      scales: { x: { time: true }, y: { range: (_chart, _least, greatest) => [0, ceilingOf(greatest)] } },
      axes: [
        { ...axis, grid: { show: false }, size: 24, gap: 4, space: 70, values: (_chart, times) => times.map(clockOf) },
        { ...axis, size: 48, gap: 6, space: 28, values: (_chart, values) => values.map(shortNumber) },
      ],
      series: [
        {},
        ...lines.map((property) => ({
          stroke: colour(property),
          width: 1.5,
          points: { show: name === "latency", size: 3, width: 0, fill: colour(property) },
          spanGaps: false,
        })),
      ],
    },
    dataOf(name, []),
    place,
  );
  charts.set(place, chart);
  resized.observe(place);
  return chart;
}

/** A scale never ends at 0, and leaves some room above the line. */
function ceilingOf(greatest: number | null): number {
  return greatest === null || greatest <= 0 ? 1 : greatest * 1.1;
}

function clockOf(unixS: number): string {
  const time = new Date(unixS * 1_000);
  return [time.getHours(), time.getMinutes(), time.getSeconds()].map((part) => String(part).padStart(2, "0")).join(":");
}

function shortNumber(value: number): string {
  if (value >= 1e6) return `${Number((value / 1e6).toPrecision(3))}M`;
  if (value >= 1e4) return `${Number((value / 1e3).toPrecision(3))}k`;
  return String(Number(value.toPrecision(3)));
}
