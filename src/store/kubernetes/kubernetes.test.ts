import { afterAll, beforeAll } from "vitest";
import { describeRecordStoreContract } from "../../../test/contract/record-store-contract.ts";
import { FakeKubernetes } from "../../../test/support/servers/fake-kubernetes.ts";
import { openKubernetesStore } from "./kubernetes.ts";

const api = new FakeKubernetes();
let fixtures = 0;
beforeAll(async () => {
  await api.listen();
});
afterAll(async () => {
  await api.stop();
});

describeRecordStoreContract("Kubernetes", async () => {
  fixtures += 1;
  const prefix = `f${fixtures}-`;
  return {
    open: (namespace = "default") =>
      openKubernetesStore(api.url, { namespace: prefix + namespace, callTimeoutMs: 30_000 }),
    dispose: async () => {},
  };
});
