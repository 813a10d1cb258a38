/** The chart as text. `npm run all -- release` renders it, and `npm run all -- kube` shows it to a kube-apiserver. */
import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { serverSettings } from "../../src/config/server-settings.ts";
import { chartAlerts, chartSchema } from "../../tools/chart-schema.ts";
import { docBlock } from "../house/stores-doc.ts";

const chart = "deploy/helm/snowlane";
const template = (name: string): string => readFileSync(`${chart}/templates/${name}.yaml`, "utf8");

test("the schema of the values is what the settings say", () => {
  expect(readFileSync(`${chart}/values.schema.json`, "utf8"), "Run npm run generate.").toBe(chartSchema());
});

test("each setting has a type in the schema, or is one of the chart's own", () => {
  const { properties } = JSON.parse(chartSchema()) as {
    readonly properties: { readonly settings: { readonly properties: Readonly<Record<string, object>> } };
  };
  const typed = Object.entries(properties.settings.properties);
  expect(typed.length).toBeGreaterThan(25);
  for (const [name, schema] of typed) expect("type" in schema || "enum" in schema, name).toBe(true);
  const names = new Set(typed.map(([name]) => name));
  const left = Object.values(serverSettings).filter(({ name }) => !names.has(name));
  expect(left.length).toBeLessThan(16);
});

test("the role is that of docs/stores.md", () => {
  const rulesOf = (text: string): string => /^rules:\n(?: .*\n)+/m.exec(text)?.[0] ?? "";
  const [role = ""] = docBlock("privileges: kubernetes").split("---\n");
  expect(rulesOf(template("rbac"))).toBe(rulesOf(role));
  expect(rulesOf(role)).toContain("leases");
});

test("the chart has the alerts of deploy/prometheus", () => {
  expect(readFileSync(`${chart}/alerts.yaml`, "utf8"), "Run npm run generate.").toBe(chartAlerts());
  expect(template("prometheusrule")).toContain('.Files.Get "alerts.yaml"');
});

test("a pod is given longer to end than its calls may run on, and secrets come by reference only", () => {
  const values = parse(readFileSync(`${chart}/values.yaml`, "utf8")) as {
    readonly store: object;
    readonly terminationGracePeriodSeconds: number;
  };
  expect(values.terminationGracePeriodSeconds * 1_000).toBeGreaterThan(serverSettings.drainTimeoutMs.fallback);
  expect(readdirSync(`${chart}/templates`).some((name) => name.startsWith("secret"))).toBe(false);
  expect(Object.keys(values.store)).toEqual(["url", "secret"]);
});
