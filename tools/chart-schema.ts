/**
 * Writes deploy/helm/snowlane/values.schema.json: what each value of the chart may be. The part `settings` comes from
 * the settings of the server themselves. Writes the alerts of the chart beside it.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { parse } from "yaml";
import { serverSettings } from "../src/config/server-settings.ts";
import type { Setting } from "../src/config/setting.ts";

const chart = "deploy/helm/snowlane";

/** Settings that the chart gives by values of its own, and those that have no meaning in a pod. */
const ownSettings = new Set(
  "listen adminListen auth principals store storeFile instance tlsCert tlsKey tlsClientCa"
    .split(" ")
    .concat("reusePort resumeDir issueLog create sequenceStores".split(" ")),
);

/** Values that take more than their default shows. */
const details: Readonly<Record<string, object>> = {
  "image.pullPolicy": { enum: ["Always", "IfNotPresent", "Never"] },
  replicas: { minimum: 1 },
  auth: { enum: ["", "none", "required"] },
  terminationGracePeriodSeconds: { minimum: 1 },
  "service.type": { enum: ["ClusterIP", "NodePort", "LoadBalancer"] },
  "service.port": { minimum: 1, maximum: 65_535 },
  "podDisruptionBudget.maxUnavailable": { minimum: 1 },
  "autoscaling.minReplicas": { minimum: 1 },
  "autoscaling.maxReplicas": { minimum: 1 },
  "autoscaling.targetCPUUtilizationPercentage": { minimum: 1, maximum: 100 },
};

/** Values that are as Kubernetes has them: their keys are not ours to know. */
const open = new Set(
  "resources podAnnotations podLabels nodeSelector affinity service.annotations serviceAccount.annotations"
    .split(" ")
    .concat("serviceMonitor.tlsConfig"),
);

function schemaOf(path: string, value: unknown): object {
  const detail = details[path] ?? {};
  if (path === "settings") return settingsSchema();
  if (Array.isArray(value)) return { type: "array" };
  if (typeof value === "number") return { type: "integer", ...detail };
  if (typeof value !== "object" || value === null) return { type: typeof value, ...detail };
  if (open.has(path)) return { type: "object" };
  const at = (name: string): string => (path === "" ? name : `${path}.${name}`);
  const values = Object.entries(value);
  const properties = values.map(([name, inner]) => [name, schemaOf(at(name), inner)]);
  // Helm drops a value that is left empty, and a template that needs it would end in an error of Go's.
  const required = values.filter(([name, inner]) => !Array.isArray(inner) && !open.has(at(name))).map(([name]) => name);
  return { type: "object", additionalProperties: false, required, properties: Object.fromEntries(properties) };
}

function settingsSchema(): object {
  const settings = Object.values(serverSettings as Readonly<Record<string, Setting<unknown>>>);
  const properties = settings
    .filter(({ name }) => !ownSettings.has(name))
    .map((setting) => [setting.name, { description: setting.doc, ...typeOf(setting) }]);
  return { type: "object", additionalProperties: false, properties: Object.fromEntries(properties) };
}

function typeOf(setting: Setting<unknown>): object {
  const { placeholder, range, words } = setting;
  if (range !== undefined) return { type: "integer", minimum: range.min, maximum: range.max };
  if (placeholder === "") return { type: "boolean" };
  if (placeholder === "SPAN") return { type: "string", pattern: "^[0-9]{1,12}(h|m|s|ms|us|ns)$" };
  const isClosed = words !== undefined && !takes(setting, "no-such-word");
  return isClosed ? { enum: words } : { type: "string" };
}

function takes(setting: Setting<unknown>, text: string): boolean {
  try {
    setting.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** The text of the schema, as it should be. */
export function chartSchema(): string {
  const values: unknown = parse(readFileSync(`${chart}/values.yaml`, "utf8"));
  // Helm hands values for all charts of a release to each of them.
  const { properties, ...rest } = schemaOf("", values) as { readonly properties: object };
  const schema = {
    $schema: "http://json-schema.org/draft-07/schema#",
    ...rest,
    properties: { global: {}, ...properties },
  };
  return `${JSON.stringify(schema, undefined, 2)}\n`;
}

/** The alerts as the chart has them: a copy, because a chart can read no file outside its folder. */
export function chartAlerts(): string {
  const head = "# Made of deploy/prometheus/alerts.yaml by npm run generate.\n";
  return `${head}${readFileSync("deploy/prometheus/alerts.yaml", "utf8").replace(/^(?:#.*\n)+/, "")}`;
}

if (import.meta.main) {
  writeFileSync(`${chart}/values.schema.json`, chartSchema());
  writeFileSync(`${chart}/alerts.yaml`, chartAlerts());
}
