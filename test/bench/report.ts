/** Writes a benchmark's section of docs/reports/benchmarks.md, and its pictures beside it. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { cpus, release, totalmem, type } from "node:os";
import type { Bar, Benchmark, Finding } from "./benchmark.ts";

const documentUrl = new URL("../../docs/reports/benchmarks.md", import.meta.url);
const picturesUrl = new URL("../../docs/reports/benchmarks/", import.meta.url);

/** The machine of the figures. */
export function machine(): string {
  const [cpu] = cpus();
  const memoryGb = Math.round(totalmem() / 2 ** 30);
  return `${cpus().length} × ${cpu?.model.trim() ?? "unknown processor"}, ${memoryGb} GB, ${type()} ${release()}`;
}

function versionOf(packageName: string): string {
  const manifest = new URL(`../../node_modules/${packageName}/package.json`, import.meta.url);
  return `${packageName} ${(JSON.parse(readFileSync(manifest, "utf8")) as { version: string }).version}`;
}

/** A table in Markdown: text on the left, figures on the right. */
export function markdownTable({ columns, rows }: Finding): string {
  const widths = columns.map((column, index) => Math.max(column.length, ...rows.map((row) => row[index]?.length ?? 0)));
  const fit = (cell: string, index: number): string =>
    index === 0 ? cell.padEnd(widths[index]!) : cell.padStart(widths[index]!);
  const line = (cells: readonly string[]): string => `| ${cells.map((cell, index) => fit(cell, index)).join(" | ")} |`;
  const rule = widths.map((width, index) => (index === 0 ? "-".repeat(width) : `${"-".repeat(width - 1)}:`));
  return [line(columns), `| ${rule.join(" | ")} |`, ...rows.map((row) => line(row))].join("\n");
}

/** Replaces the section of `benchmark`, or adds it at the end; the rest of the document stays. */
export function writeSection(benchmark: Benchmark, findings: readonly Finding[], day: string): void {
  const { name, title, about, packages } = benchmark;
  const begin = `<!-- begin ${name}: written by npm run bench ${name} -->`;
  const end = `<!-- end ${name} -->`;
  const tables = findings.map((finding, index) => {
    const picture = finding.chart === undefined ? [] : [`\n![${finding.title}](${writePicture(name, index, finding)})`];
    const note = finding.note === undefined ? [] : [`${finding.note}\n`];
    return [`### ${finding.title}\n`, ...note, markdownTable(finding), ...picture].join("\n");
  });
  const versions = [`Node ${process.versions.node}`, ...packages.map(versionOf)].join(", ");
  const measured = `Measured ${day} on ${machine()}; ${versions}.`;
  const section = [begin, `## ${title}\n`, `${about}\n`, `${measured}\n`, tables.join("\n\n"), end].join("\n");
  const before = readDocument();
  const at = before.indexOf(begin);
  const after =
    at < 0
      ? `${before.trimEnd()}\n\n${section}\n`
      : before.slice(0, at) + section + before.slice(before.indexOf(end, at) + end.length);
  writeFileSync(documentUrl, after);
}

function readDocument(): string {
  try {
    return readFileSync(documentUrl, "utf8");
  } catch {
    return "# Benchmarks\n\nWritten by `npm run bench`, never by hand. Compare within a section only.\n";
  }
}

function writePicture(name: string, index: number, { title, chart }: Finding): string {
  mkdirSync(picturesUrl, { recursive: true });
  const file = `${name}-${index + 1}.svg`;
  writeFileSync(new URL(file, picturesUrl), barChart(title, chart?.unit ?? "", chart?.bars ?? []));
  return `benchmarks/${file}`;
}

function barChart(title: string, unit: string, bars: readonly Bar[]): string {
  const [labelWidth, barWidth, rowHeight] = [260, 360, 26];
  const greatest = Math.max(...bars.map(({ value }) => value));
  const rows = bars.map(({ label, value, isOurs }, index) => {
    const y = 40 + index * rowHeight;
    const width = Math.max(1, (value / greatest) * barWidth).toFixed(1);
    return [
      `  <text x="${labelWidth - 8}" y="${y + 14}" text-anchor="end">${escapeXml(label)}</text>`,
      `  <rect x="${labelWidth}" y="${y}" width="${width}" height="18" fill="${isOurs ? "#1f6feb" : "#8c959f"}"/>`,
      `  <text x="${labelWidth + Number(width) + 6}" y="${y + 14}">${formatFigure(value)} ${escapeXml(unit)}</text>`,
    ].join("\n");
  });
  const [width, height] = [labelWidth + barWidth + 110, 50 + bars.length * rowHeight];
  const size = `width="${width}" height="${height}" viewBox="0 0 ${width} ${height}"`;
  return `<svg xmlns="http://www.w3.org/2000/svg" ${size} font-family="sans-serif" font-size="13">
  <rect width="100%" height="100%" fill="#ffffff"/>
  <text x="12" y="22" font-weight="bold">${escapeXml(title)}</text>
${rows.join("\n")}
</svg>
`;
}

/** A figure with as many digits as mean something. */
export function formatFigure(value: number): string {
  if (value < 1) return value.toFixed(2);
  return value < 10 ? value.toFixed(1) : Math.round(value).toLocaleString("en-US");
}

function escapeXml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
