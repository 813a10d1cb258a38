import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { parseAllDocuments } from "yaml";
import { findTool } from "../fetch/tools.ts";

/** An object that the chart makes for Kubernetes. */
export interface ChartObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
}

/** What helm says to a set of values. */
export interface RenderedChart {
  readonly code: number | null;
  readonly text: string;
  readonly stderr: string;
  readonly objects: readonly ChartObject[];
}

const chart = "deploy/helm/snowlane";

/**
 * Calls `helm template`, or `helm lint`, with a set of values.
 *
 * @param file - Where the values are written to.
 * @param more - `release` is the name of the release, and `flags` are more of helm's, such as `--set-string`.
 */
export async function renderChart(
  command: "template" | "lint",
  values: object,
  file: string,
  { release = "ids", flags = [] }: { readonly release?: string; readonly flags?: readonly string[] } = {},
): Promise<RenderedChart> {
  const { path } = await findTool("helm");
  writeFileSync(file, JSON.stringify(values));
  const name = command === "template" ? [release, "--namespace", "test"] : [];
  const strict = command === "lint" ? ["--strict"] : [];
  const args = [command, ...name, chart, "--values", file, ...strict, ...flags];
  const { status, stdout, stderr } = spawnSync(path, args, { encoding: "utf8" });
  const objects =
    command === "template" && status === 0
      ? parseAllDocuments(stdout).map((document) => document.toJS() as ChartObject)
      : [];
  return { code: status, text: stdout, stderr, objects: objects.filter((object) => object !== null) };
}

/** What `helm install` prints behind the chart's objects, as for a cluster that nobody asks. */
export async function chartNotes(values: object, file: string): Promise<string> {
  const { path } = await findTool("helm");
  writeFileSync(file, JSON.stringify(values));
  const args = ["install", "ids", chart, "--namespace", "test", "--values", file, "--dry-run=client"];
  const { stdout, stderr } = spawnSync(path, args, { encoding: "utf8" });
  const [, notes] = stdout.split("\nNOTES:\n");
  if (notes === undefined) throw new Error(`helm printed no notes: ${stdout}${stderr}`);
  return notes;
}
