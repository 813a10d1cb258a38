import { latencyBoundsMs, type LatencyHistogram } from "./latency-histogram.ts";
import { type Metric, type MetricName, metricTable } from "./metric-table.ts";

/** One line of a metric: its labels, in the order of the table, and its value. */
export type Sample = readonly [labels: readonly string[], value: number | LatencyHistogram];

/** The lines of every metric; none where there is nothing to say. */
export type Samples = Readonly<Record<MetricName, readonly Sample[]>>;

/** The content type of {@link writeExposition}. */
export const expositionType = "text/plain; version=0.0.4; charset=utf-8";

/** Writes metrics in Prometheus' text format 0.0.4. docs/adr/0140 says why no package does this. */
export function writeExposition(samples: Samples): string {
  const lines: string[] = [];
  for (const [name, metric] of Object.entries<Metric>(metricTable)) {
    const own = samples[name as MetricName];
    if (own.length === 0) continue;
    lines.push(`# HELP ${name} ${metric.help}`, `# TYPE ${name} ${metric.type}`);
    for (const [values, value] of own) {
      const labels = (metric.labels ?? []).map((label, index) => `${label}="${escapeLabel(values[index]!)}"`);
      if (typeof value === "number") lines.push(line(name, labels, value));
      else lines.push(...histogramLines(name, labels, value));
    }
  }
  return `${lines.join("\n")}\n`;
}

function histogramLines(name: string, labels: readonly string[], { counts, sumMs }: LatencyHistogram): string[] {
  const lines: string[] = [];
  let total = 0;
  for (const [index, count] of counts.entries()) {
    total += count;
    const boundMs = latencyBoundsMs[index];
    const bound = boundMs === undefined ? "+Inf" : String(boundMs / 1_000);
    lines.push(line(`${name}_bucket`, [...labels, `le="${bound}"`], total));
  }
  return [...lines, line(`${name}_sum`, labels, sumMs / 1_000), line(`${name}_count`, labels, total)];
}

function line(name: string, labels: readonly string[], value: number): string {
  return `${name}${labels.length === 0 ? "" : `{${labels.join(",")}}`} ${String(value)}`;
}

/** Escapes a label as the format demands: https://prometheus.io/docs/instrumenting/exposition_formats/. */
function escapeLabel(value: string): string {
  return value.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
}
