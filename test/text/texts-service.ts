import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Client, createClient, createRouterTransport } from "@connectrpc/connect";
import { systemClock } from "../../src/clock/clock.ts";
import { IdService } from "../../src/gen/snowlane/v1/id_service_pb.ts";
import { createIdService } from "../../src/service/id-service.ts";
import { errorInterceptor, toConnectError } from "../../src/service/connect-error.ts";
import { layouts } from "../../src/snowflake/presets.ts";
import { openWorker, type Worker } from "../../src/worker/open-worker.ts";

/** The namespace and the layout of {@link openTextsService}. */
export const textsNamespace = "texts";
export const textsLayout = layouts.twitter;

/** IdService over a real worker ID, called without a network. */
export interface TextsService {
  readonly client: Client<typeof IdService>;
  readonly worker: Worker;
  readonly close: () => Promise<void>;
}

/** Opens one in a temporary folder. */
export async function openTextsService(): Promise<TextsService> {
  const folder = mkdtempSync(join(tmpdir(), "snowlane-texts-"));
  const storeUrl = `sqlite:${join(folder, "store.db")}`;
  const worker = await openWorker({
    storeUrl,
    namespace: textsNamespace,
    layout: textsLayout,
    instance: "test",
    version: "0.0.0",
  });
  const { descriptor, implementation } = createIdService({
    source: worker.source,
    namespace: textsNamespace,
    clock: systemClock,
    rollbackPolicy: "advance",
    batchCountMax: 1e9,
    fingerprintNow: () => worker.deploymentFingerprint,
    bindingNow: () => worker.storeBinding,
  });
  const transport = createRouterTransport((router) => void router.service(descriptor, implementation), {
    router: { interceptors: [errorInterceptor((error) => toConnectError(error, onUnforeseen))] },
  });
  return {
    client: createClient(IdService, transport),
    worker,
    close: async () => {
      await worker.close(1_000);
      rmSync(folder, { recursive: true });
    },
  };
}

function onUnforeseen(error: unknown): never {
  throw error;
}
