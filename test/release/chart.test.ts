import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { rightValues, wrongValues } from "../support/charts/chart-values.ts";
import { writeKubernetesSchemas } from "../support/charts/kubernetes-schemas.ts";
import { chartNotes, type ChartObject, renderChart } from "../support/charts/render-chart.ts";
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

test("kubeconform finds nothing wrong in the pod with a sidecar, and finds a field that no pod has", async () => {
  const text = readFileSync("deploy/sidecar/pod.yaml", "utf8");
  const location = await writeKubernetesSchemas(folder, [parse(text) as ChartObject]);
  expect(conform(location, text)).toMatchObject({ code: 0, output: expect.stringContaining("Valid: 1, Invalid: 0") });
  const misspelt = text.replace("startupProbe:", "startProbe:");
  expect(conform(location, misspelt)).toMatchObject({ code: 1, output: expect.stringContaining("startProbe") });
});

describe.each(Object.entries(rightValues))("with %s", (_name, values) => {
  test("helm finds nothing wrong, and kubeconform neither", async () => {
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

  test("the server takes the settings", async () => {
    const { objects } = await renderChart("template", values, file);
    const { data } = objects.find(({ kind }) => kind === "ConfigMap") as ConfigMap;
    const settings = join(folder, "snowlane.json");
    // The files of Secrets are not here, so a dry run would miss them.
    const {
      storeFile: _,
      principals,
      tlsCert,
      tlsKey,
      tlsClientCa,
      ...rest
    } = JSON.parse(data["snowlane.json"]!) as Record<string, unknown>;
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

test("by default there is what servers need, and nothing for an autoscaler or the Prometheus operator", async () => {
  const objectsOf = async (name: string): Promise<readonly ChartObject[]> =>
    (await renderChart("template", rightValues[name]!, file)).objects;
  const kinds = (objects: readonly ChartObject[]): readonly string[] => objects.map(({ kind }) => kind).toSorted();
  const own = await objectsOf("leases as the store");
  const store = ["Role", "RoleBinding", "Service", "Service", "ServiceAccount"];
  const needed = ["ConfigMap", "Deployment", "NetworkPolicy", "PodDisruptionBudget", ...store];
  expect(kinds(own)).toEqual(needed);
  expect(kinds(await objectsOf("autoscaling"))).toEqual([...needed, "HorizontalPodAutoscaler"].toSorted());
  expect(kinds(await objectsOf("metrics, rules and traces"))).toEqual([...needed, ...foreign].toSorted());
  const ports = [{ name: "grpc", port: 7609, appProtocol: "kubernetes.io/h2c" }];
  expect(own.filter(({ kind }) => kind === "Service")).toMatchObject([
    { metadata: { name: "ids" }, spec: { trafficDistribution: "PreferClose", ports } },
    { metadata: { name: "ids-headless" }, spec: { clusterIP: "None", ports } },
  ]);
  const deployment = own.find(({ kind }) => kind === "Deployment") as Deployment;
  const probes = { livenessProbe: "/healthz", readinessProbe: "/readyz", startupProbe: "/healthz" };
  for (const [probe, path] of Object.entries(probes))
    expect(deployment.spec.template.spec.containers[0]).toMatchObject({
      [probe]: { httpGet: { path, port: "admin" } },
    });
});

test("helm prints the endpoints that balance, those of the headless Service", async () => {
  const plain = await chartNotes(rightValues["leases as the store"]!, file);
  const endpoints = [...plain.matchAll(/ (\w+:\/\/\S+|dns:\/\/\/\S+)$/gm)].map(([, endpoint]) => endpoint);
  const headless = "ids-headless.test.svc:7609";
  expect(endpoints).toEqual([`http://${headless}`, `dns:///${headless}`, "http://ids.test.svc:7609"]);
  const secure = await chartNotes(rightValues["principals and TLS"]!, file);
  expect(secure).toContain(` https://${headless}\n`);
  expect(secure).toContain("The certificate has to name the hosts that callers give.");
});

interface PrometheusRule extends ChartObject {
  readonly spec: { readonly groups: readonly { readonly rules: readonly { readonly alert: string }[] }[] };
}

test("promtool finds nothing wrong with the chart's alerts, and finds what is", async () => {
  const { objects } = await renderChart("template", rightValues["metrics, rules and traces"]!, file);
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

interface Deployment extends ChartObject {
  readonly spec: {
    readonly template: { readonly spec: { readonly containers: readonly { readonly env: readonly object[] }[] } };
  };
}

test("a chart with a receiver hands it to the server (no value of the chart could)", async () => {
  const envOf = async (values: object): Promise<readonly object[]> => {
    const { objects } = await renderChart("template", values, file);
    const deployment = objects.find(({ kind }) => kind === "Deployment") as Deployment;
    return deployment.spec.template.spec.containers[0]!.env;
  };
  const own = await envOf(rightValues["leases as the store"]!);
  expect(own.filter((one) => /OTEL/.test(JSON.stringify(one)))).toEqual([]);
  expect((await envOf(rightValues["metrics, rules and traces"]!)).slice(own.length)).toEqual([
    { name: "OTEL_EXPORTER_OTLP_ENDPOINT", value: "http://collector:4318" },
    {
      name: "OTEL_EXPORTER_OTLP_HEADERS",
      valueFrom: { secretKeyRef: { name: "collector", key: "headers" } },
    },
  ]);
});

test("kubeconform finds a field that there is not, and a value of a wrong type", async () => {
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
  "%s is refused in a line that names the remedy",
  async (_name, [values, message]) => {
    const { code, stderr } = await renderChart("template", values, file);
    expect(code).not.toBe(0);
    expect(stderr).toMatch(message);
  },
);

test.each([["2"], ["02"], ["2.5"], ["0x2"], ["1e1"], ["two"], ["null"]])(
  "%s servers on SQLite are refused also where nothing looks at the schema",
  async (replicas) => {
    const one = rightValues["one server on SQLite"]!;
    const flags = ["--skip-schema-validation"];
    for (const way of ["--set", "--set-string"]) {
      const { code, stderr } = await renderChart("template", one, file, {
        flags: [...flags, way, `replicas=${replicas}`],
      });
      expect(code, way).not.toBe(0);
      expect(stderr).toContain("set replicas: 1 without autoscaling");
    }
    const alone = await renderChart("template", one, file, { flags: [...flags, "--set-string", "replicas=1"] });
    expect(alone.code).toBe(0);
    expect(alone.objects.find(({ kind }) => kind === "Deployment")).toMatchObject({ spec: { replicas: 1 } });
  },
);

test("a release called null has objects of that name (each name was read as a value of YAML)", async () => {
  const values = { ...rightValues["metrics, rules and traces"]!, store: { url: "kubernetes://123/snowlane" } };
  const { code, objects } = await renderChart("template", values, file, { release: "null" });
  expect(code).toBe(0);
  expect(new Set(objects.map(({ metadata }) => metadata.name))).toEqual(new Set(["null", "null-headless"]));
  expect(objects.find(({ kind }) => kind === "Role")?.metadata.namespace).toBe("123");
});

test.each([["2ids"], ["123"], ["a.b"]])(
  "a release called %s is refused before anything is made (a part of it was, until the cluster refused the Service)",
  async (release) => {
    const values = rightValues["leases as the store"]!;
    const { code, stderr } = await renderChart("template", values, file, { release });
    expect([code, stderr]).toEqual([
      1,
      expect.stringContaining(`may not be called ${release}: give the release a name`),
    ]);
  },
);

test("a Secret with the URL of an SQLite file starts no server, because each pod would have a file of its own", async () => {
  const { objects } = await renderChart("template", rightValues["a store whose URL is in a Secret"]!, file);
  const { data } = objects.find(({ kind }) => kind === "ConfigMap") as ConfigMap;
  const given = JSON.parse(data["snowlane.json"]!) as Record<string, unknown>;
  expect(given["storeFile"]).toBe("/etc/snowlane/store/url");
  const [settings, storeFile] = [join(folder, "snowlane.json"), join(folder, "url")];
  writeFileSync(settings, JSON.stringify({ ...given, storeFile }));
  const serve = (store: string): ReturnType<typeof runCli> => {
    writeFileSync(storeFile, store);
    return runCli(["serve", "--dry-run"], { environment: { SNOWLANE_CONFIG: settings } });
  };
  const { code, stderr } = await serve("sqlite:/var/lib/snowlane/ids.db");
  expect([code, stderr]).toEqual([2, expect.stringMatching(/^snowlane: --resume-dir.*--store that all servers share/)]);
  expect((await serve("postgres://snowlane@db/snowlane")).code).toBe(0);
});
