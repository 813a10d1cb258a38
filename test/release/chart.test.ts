import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { rightValues, wrongValues } from "../support/charts/chart-values.ts";
import { writeKubernetesSchemas } from "../support/charts/kubernetes-schemas.ts";
import { type ChartObject, renderChart } from "../support/charts/render-chart.ts";
import { findTool } from "../support/fetch/tools.ts";
import { runCli } from "../support/processes/cli-outcome.ts";
import { runCommand } from "../support/processes/run-command.ts";

/** The chart, rendered by helm, checked by kubeconform, and its settings read by the server. */
const folder = mkdtempSync(join(tmpdir(), "snowlane-chart-"));
const file = join(folder, "values.json");
let kubeconform: string;

beforeAll(async () => {
  await findTool("helm");
  kubeconform = (await findTool("kubeconform")).path;
}, 3_600_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Kinds of the Prometheus operator, of which Kubernetes has no schema. */
const foreign = ["ServiceMonitor", "PrometheusRule"];

function conform(location: string, text: string): { readonly code: number | null; readonly output: string } {
  const args = ["-strict", "-summary", "-skip", foreign.join(), "-schema-location", location, "-"];
  const { status, stdout, stderr } = spawnSync(kubeconform, args, { encoding: "utf8", input: text });
  return { code: status, output: `${stdout}${stderr}` };
}

interface ConfigMap extends ChartObject {
  readonly data: Readonly<Record<string, string>>;
}

describe.each(Object.entries(rightValues))("with %s", (_name, values) => {
  test("helm finds nothing wrong, and kubeconform neither", { timeout: 300_000 }, async () => {
    expect(await renderChart("lint", values, file)).toMatchObject({ code: 0 });
    const { code, text, stderr, objects } = await renderChart("template", values, file);
    expect([code, stderr]).toEqual([0, ""]);
    expect(objects.length).toBeGreaterThan(2);
    const location = await writeKubernetesSchemas(folder, objects);
    const checked = conform(location, text);
    expect(checked.output).toContain(
      `Valid: ${objects.filter(({ kind }) => !foreign.includes(kind)).length}, Invalid: 0, Errors: 0`,
    );
    expect(checked.code).toBe(0);
  });

  test("the server takes the settings", { timeout: 60_000 }, async () => {
    const { objects } = await renderChart("template", values, file);
    const { data } = objects.find(({ kind }) => kind === "ConfigMap") as ConfigMap;
    const settings = join(folder, "snowlane.json");
    // The files of Secrets are not here, so a dry run would miss them.
    const { principals, tlsCert, tlsKey, tlsClientCa, ...rest } = JSON.parse(data["snowlane.json"]!) as Record<
      string,
      unknown
    >;
    const hasFiles = [principals, tlsCert, tlsKey, tlsClientCa].some((path) => path !== undefined);
    writeFileSync(settings, JSON.stringify(hasFiles ? { ...rest, auth: "none" } : rest));
    const environment = {
      SNOWLANE_CONFIG: settings,
      SNOWLANE_STORE: "kubernetes://test/snowlane",
      SNOWLANE_INSTANCE: "a",
    };
    const { code, stderr } = await runCli(["serve", "--dry-run"], { environment });
    expect([code, stderr]).toEqual([0, ""]);
  });
});

interface PrometheusRule extends ChartObject {
  readonly spec: { readonly groups: readonly { readonly rules: readonly { readonly alert: string }[] }[] };
}

test("promtool finds nothing wrong with the chart's alerts, and finds what is", { timeout: 300_000 }, async () => {
  const { objects } = await renderChart("template", rightValues["metrics and rules"]!, file);
  const { spec } = objects.find(({ kind }) => kind === "PrometheusRule") as PrometheusRule;
  const { path, env } = await findTool("promtool");
  const rules = join(folder, "rules.yaml");
  const check = (text: string): Promise<string> => {
    writeFileSync(rules, text);
    return runCommand(path, ["check", "rules", rules], { env });
  };
  const count = spec.groups.flatMap((group) => group.rules).length;
  expect(count).toBeGreaterThan(0);
  expect(await check(JSON.stringify(spec))).toContain(`SUCCESS: ${count} rules found`);
  await expect(check(JSON.stringify(spec).replace("== 0", "=== 0"))).rejects.toThrow("parse error");
});

test("kubeconform finds a field that there is not, and a value of a wrong type", { timeout: 300_000 }, async () => {
  const { text, objects } = await renderChart("template", rightValues["leases as the store"]!, file);
  const location = await writeKubernetesSchemas(folder, objects);
  for (const [right, wrong] of [
    ["terminationGracePeriodSeconds:", "terminationGraceSeconds:"],
    ["periodSeconds: 10", "periodSeconds: ten"],
  ] as const) {
    expect(text).toContain(right);
    expect(conform(location, text.replace(right, wrong)).code).toBe(1);
  }
});

test.each(Object.entries(wrongValues))(
  "%s is refused in a line that names the cure",
  async (_name, [values, message]) => {
    const { code, stderr } = await renderChart("template", values, file);
    expect(code).not.toBe(0);
    expect(stderr).toMatch(message);
  },
);
