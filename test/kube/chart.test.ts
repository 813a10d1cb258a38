import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { parseAllDocuments } from "yaml";
import { rightValues } from "../support/charts/chart-values.ts";
import { type ChartObject, renderChart } from "../support/charts/render-chart.ts";
import { findTool } from "../support/fetch/tools.ts";
import { runReadmeBlock } from "../support/processes/bare-clone.ts";
import { runCli } from "../support/processes/cli-outcome.ts";
import { duplicatesOf, IssuingWorker } from "../support/processes/issuing-worker.ts";
import { blocksOf } from "../support/processes/page-blocks.ts";
import { runCommand } from "../support/processes/run-command.ts";
import { type KubernetesServer, startKubernetes } from "../support/servers/kubernetes-server.ts";

/** The chart's objects, as a real kube-apiserver takes them. */
const folder = mkdtempSync(join(tmpdir(), "snowlane-chart-"));
let kubernetes: KubernetesServer;

beforeAll(async () => {
  kubernetes = await startKubernetes();
  await kubernetes.call("POST", "/api/v1/namespaces", "{apiVersion: v1, kind: Namespace, metadata: {name: test}}");
}, 3_600_000);
afterAll(async () => {
  await kubernetes?.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** Where the API has the objects of a kind. */
const plurals: Readonly<Record<string, string>> = {
  ConfigMap: "configmaps",
  Secret: "secrets",
  Deployment: "deployments",
  Service: "services",
  ServiceAccount: "serviceaccounts",
  Role: "roles",
  RoleBinding: "rolebindings",
  PodDisruptionBudget: "poddisruptionbudgets",
  NetworkPolicy: "networkpolicies",
  HorizontalPodAutoscaler: "horizontalpodautoscalers",
};

function pathOf({ apiVersion, kind }: ChartObject): string {
  const root = apiVersion.includes("/") ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
  return `${root}/namespaces/test/${plurals[kind]}`;
}

test.each(Object.entries(rightValues))(
  "the server of Kubernetes takes each object, with %s",

  async (_name, values) => {
    const { objects } = await renderChart("template", values, join(folder, "values.json"));
    // The kinds of the Prometheus operator are not known to a server without it.
    const known = objects.filter(({ apiVersion }) => !apiVersion.startsWith("monitoring.coreos.com/"));
    expect(known.length).toBeGreaterThan(2);
    for (const object of known) {
      const place = `${pathOf(object)}?dryRun=All&fieldValidation=Strict`;
      await expect(kubernetes.call("POST", place, JSON.stringify(object))).resolves.toContain(object.kind);
    }
  },
);

test("the line of docs/deploying.md installs the chart beside its two Secrets, which the server can read", async () => {
  const [yaml = ""] = blocksOf("docs/deploying.md", "yaml");
  const secrets = parseAllDocuments(yaml).map((document) => document.toJS() as Secret);
  for (const secret of secrets)
    await kubernetes.call("POST", `${pathOf(secret)}?fieldValidation=Strict`, JSON.stringify(secret));
  const { path: helm } = await findTool("helm");
  const access = new URL(kubernetes.storeUrl("operator")).searchParams;
  const env = {
    PATH: [dirname(helm), process.env["PATH"]].join(delimiter),
    HELM_KUBEAPISERVER: access.get("server")!,
    HELM_KUBECAFILE: access.get("caFile")!,
    HELM_KUBETOKEN: readFileSync(access.get("tokenFile")!, "utf8").trim(),
    HELM_NAMESPACE: "test",
  };
  const line = blocksOf("docs/deploying.md", "sh").findIndex((block) => block.startsWith("helm install "));
  const said = await runReadmeBlock("docs/deploying.md", line, { env });
  expect(said).toContain("STATUS: deployed");
  const deployments = JSON.parse(await kubernetes.call("GET", "/apis/apps/v1/namespaces/test/deployments")) as {
    readonly items: readonly { readonly spec: { readonly template: { readonly spec: PodSpec } } }[];
  };
  expect(deployments.items).toHaveLength(1);
  const { containers, volumes } = deployments.items[0]!.spec.template.spec;
  const [store, principals] = secrets;
  expect(containers[0]!.env.map(({ name }) => name)).not.toContain("SNOWLANE_STORE");
  expect(volumes.find(({ name }) => name === "store")?.secret?.secretName).toBe(store!.metadata.name);
  const storeFile = join(folder, "url");
  writeFileSync(storeFile, store!.stringData["url"]!);
  const mounted = volumes.find(({ name }) => name === "principals")?.secret?.secretName;
  expect(mounted).toBe(principals!.metadata.name);
  const file = join(folder, "principals.json");
  writeFileSync(file, principals!.stringData["principals.json"]!);
  const environment = { SNOWLANE_STORE_FILE: storeFile, SNOWLANE_PRINCIPALS: file };
  const { code, stderr } = await runCli(["serve", "--dry-run", "--listen", "0.0.0.0:7609"], { environment });
  expect([code, stderr]).toEqual([0, ""]);
  await runCommand(helm, ["uninstall", "ids"], { env });
});

interface Secret extends ChartObject {
  readonly stringData: Readonly<Record<string, string>>;
}

/** The part of a pod that a test reads. */
interface PodSpec {
  readonly containers: readonly {
    readonly env: readonly { readonly name: string }[];
  }[];
  readonly volumes: readonly { readonly name: string; readonly secret?: { readonly secretName: string } }[];
}

test("the server of Kubernetes refuses an object with a field that there is not", async () => {
  const object = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" }, dta: {} };
  const place = `${pathOf(object)}?dryRun=All&fieldValidation=Strict`;
  await expect(kubernetes.call("POST", place, JSON.stringify(object))).rejects.toThrow(/dta/);
});

test("the chart's role lets a server take a worker ID and issue", async () => {
  const { objects } = await renderChart("template", rightValues["leases as the store"]!, join(folder, "values.json"));
  const made = objects.filter(({ kind }) => kind === "Role" || kind === "RoleBinding");
  expect(made).toHaveLength(2);
  for (const object of made) {
    // Here a user of the token file stands for the service account.
    const subjects = [{ kind: "User", apiGroup: "rbac.authorization.k8s.io", name: "snowlane" }];
    const body = object.kind === "RoleBinding" ? { ...object, subjects } : object;
    await kubernetes.call("POST", pathOf(object), JSON.stringify(body));
  }
  const options = { storeUrl: kubernetes.storeUrl("snowlane"), storeTimeoutMs: 10_000 };
  const workers = [await IssuingWorker.start(options), await IssuingWorker.start(options)];
  await expect.poll(() => Math.min(...workers.map(({ ids }) => ids.length)), { timeout: 120_000 }).toBeGreaterThan(100);
  await Promise.all(workers.map((worker) => worker.stop()));
  expect(duplicatesOf(...workers.map(({ ids }) => ids))).toEqual([]);
});
