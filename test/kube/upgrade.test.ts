import { afterAll, beforeAll, expect, test } from "vitest";
import { type Builds, makeBuilds, rollThereAndBack } from "../support/releases/rolling-upgrade.ts";
import { type KubernetesServer, startKubernetes } from "../support/servers/kubernetes-server.ts";

/** A rolling upgrade of servers whose store is a real kube-apiserver, and the way back. */
let builds: Builds;
let kubernetes: KubernetesServer;
beforeAll(async () => {
  builds = await makeBuilds();
  kubernetes = await startKubernetes();
  await kubernetes.call("POST", "/api/v1/namespaces", "{apiVersion: v1, kind: Namespace, metadata: {name: test}}");
}, 3_600_000);
afterAll(async () => {
  await kubernetes?.stop();
  builds?.remove();
});

test("two servers roll from the last build to this one and back under load on kubernetes: no ID twice, and no call fails", {
  timeout: 900_000,
}, async () => {
  await rollThereAndBack(kubernetes.storeUrl("operator"), builds);
  const path = "/apis/coordination.k8s.io/v1/namespaces/test/leases";
  expect(JSON.parse(await kubernetes.call("GET", path))).toHaveProperty("items.1");
});
