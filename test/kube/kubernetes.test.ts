import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { openStore } from "../../src/store/open-store.ts";
import type { RecordStore } from "../../src/store/record-store.ts";
import { openKubernetesStore } from "../../src/store/kubernetes/kubernetes.ts";
import { describeRecordStoreContract } from "../contract/record-store-contract.ts";
import { duplicatesOf, IssuingWorker } from "../support/processes/issuing-worker.ts";
import { type KubernetesCaller, type KubernetesServer, startKubernetes } from "../support/servers/kubernetes-server.ts";
import { docBlock } from "../house/stores-doc.ts";

const unavailable = expect.objectContaining({ reason: "STORE_UNAVAILABLE" });
const refused = expect.objectContaining({ reason: "INVALID_CONFIG" });

let kubernetes: KubernetesServer;
let fixtures = 0;
// It is built once, which takes minutes.
beforeAll(async () => {
  kubernetes = await startKubernetes();
  await kubernetes.call("POST", "/api/v1/namespaces", "{apiVersion: v1, kind: Namespace, metadata: {name: test}}");
  const rbac = "/apis/rbac.authorization.k8s.io/v1/namespaces/test";
  const [role, binding] = docBlock("privileges: kubernetes").split("---\n");
  await kubernetes.call("POST", `${rbac}/roles`, role);
  // Here a user of the token file stands for the service account of the page.
  const subject = "kind: User\n    apiGroup: rbac.authorization.k8s.io";
  await kubernetes.call("POST", `${rbac}/rolebindings`, binding!.replace("kind: ServiceAccount", subject));
}, 3_600_000);
afterAll(() => kubernetes.stop());

describeRecordStoreContract("a real kube-apiserver with the role of docs/stores.md", async () => {
  fixtures += 1;
  const prefix = `f${fixtures}-`;
  return {
    open: (namespace = "default") =>
      openKubernetesStore(kubernetes.storeUrl("snowlane"), { namespace: prefix + namespace, callTimeoutMs: 30_000 }),
    dispose: async () => {},
  };
});

async function open(caller: KubernetesCaller, callTimeoutMs = 30_000): Promise<RecordStore> {
  fixtures += 1;
  const store = await openStore(kubernetes.storeUrl(caller), { namespace: `n${fixtures}`, callTimeoutMs });
  onTestFinished(() => store.close());
  return store;
}

describe("a real kube-apiserver", () => {
  test("refuses a caller without the role, and one whose token is wrong", async () => {
    await expect((await open("stranger")).read("layout")).rejects.toEqual(refused);
    const nobody = kubernetes.storeUrl("snowlane").replace(/tokenFile=.*/, "tokenFile=/etc/hostname");
    const store = await openStore(nobody, { namespace: "default", callTimeoutMs: 30_000 });
    onTestFinished(() => store.close());
    await expect(store.read("layout")).rejects.toEqual(refused);
  });

  test("that is frozen or killed is STORE_UNAVAILABLE, and goes on from what is stored", async () => {
    const store = await open("snowlane", 2_000);
    const patient = { timeout: 90_000, interval: 200 };
    await expect
      .poll(async () => (await store.compareAndSet("worker-1", undefined, "old")).kind, patient)
      .toBeDefined();
    kubernetes.server.pause();
    await expect(store.read("worker-1")).rejects.toEqual(unavailable);
    kubernetes.server.resume();
    await expect.poll(async () => (await store.read("worker-1")).entry?.text, patient).toBe("old");
    await kubernetes.server.kill();
    await expect(store.read("worker-1")).rejects.toEqual(unavailable);
    await kubernetes.server.restart();
    await expect.poll(async () => (await store.read("worker-1")).entry?.text, patient).toBe("old");
  });

  test("gives worker IDs under which no ID comes twice", async () => {
    const options = { storeUrl: kubernetes.storeUrl("snowlane"), storeTimeoutMs: 10_000 };
    const workers = [await IssuingWorker.start(options), await IssuingWorker.start(options)];
    await expect.poll(() => Math.min(...workers.map(({ ids }) => ids.length))).toBeGreaterThan(100);
    await Promise.all(workers.map((worker) => worker.stop()));
    expect(duplicatesOf(...workers.map(({ ids }) => ids))).toEqual([]);
  });
});
