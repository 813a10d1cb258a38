import { expect, test } from "vitest";
import { type Samples, writeExposition } from "./exposition.ts";
import { latencyBoundsMs, LatencyHistogram } from "./latency-histogram.ts";
import { type MetricName, metricTable } from "./metric-table.ts";

const nothing = Object.fromEntries(Object.keys(metricTable).map((name) => [name, []])) as unknown as Samples;

function write(samples: Partial<Samples>): readonly string[] {
  return writeExposition({ ...nothing, ...samples }).split("\n");
}

test("a metric has its help, its type and a line for each sample; one without samples has nothing", () => {
  expect(write({ snowlane_streams: [[[], 3]] })).toEqual([
    `# HELP snowlane_streams ${metricTable.snowlane_streams.help}`,
    "# TYPE snowlane_streams gauge",
    "snowlane_streams 3",
    "",
  ]);
});

test("a label's value cannot end its line or its text", () => {
  const [, , line] = write({ snowlane_refused_total: [[['a"b\\c\nd'], 1]] });
  expect(line).toBe('snowlane_refused_total{why="a\\"b\\\\c\\nd"} 1');
});

test("a histogram's buckets add up, in seconds, and the last one holds all", () => {
  const histogram = new LatencyHistogram();
  histogram.add(0.01);
  histogram.add(0.7, 3);
  histogram.add(60_000);
  const lines = write({ snowlane_call_seconds: [[["m"], histogram]] });
  const name = "snowlane_call_seconds";
  expect(lines).toContain(`${name}_bucket{method="m",le="0.00001"} 1`);
  expect(lines).toContain(`${name}_bucket{method="m",le="0.0005"} 1`);
  expect(lines).toContain(`${name}_bucket{method="m",le="0.001"} 4`);
  expect(lines).toContain(`${name}_bucket{method="m",le="5"} 4`);
  expect(lines).toContain(`${name}_bucket{method="m",le="+Inf"} 5`);
  expect(lines).toContain(`${name}_sum{method="m"} 60.00211`);
  expect(lines).toContain(`${name}_count{method="m"} 5`);
  expect(lines.filter((line) => line.includes("_bucket"))).toHaveLength(latencyBoundsMs.length + 1);
});

test("no help ends its line, and counters end in _total", () => {
  for (const [name, { type, help }] of Object.entries(metricTable)) {
    expect(help).not.toMatch(/[\n\\]/);
    expect([name, name.endsWith("_total")]).toEqual([name, type === "counter"]);
  }
  const names: readonly MetricName[] = Object.keys(metricTable) as MetricName[];
  expect(names.every((name) => /^(snowlane|process|nodejs)_[a-z0-9_]+$/.test(name))).toBe(true);
});
