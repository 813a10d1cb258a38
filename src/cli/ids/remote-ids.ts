import { createClient } from "@connectrpc/connect";
import { type BatchNextIdsResponse, IdService } from "../../gen/snowlane/v1/id_service_pb.ts";
import { layoutFromResponse } from "../../service/message/layout-message.ts";
import { formatToMessage } from "../../service/message/text-message.ts";
import type { TextFormat } from "../../text/text-form.ts";
import type { IdChunks } from "./id-chunks.ts";
import { refuseCall } from "../server/remote-error.ts";
import type { ServerAccess } from "../server/server-access.ts";
import { transportTo } from "../server/server-transport.ts";

/** How long the first answer may take. */
const answerTimeoutMs = 5_000;

/**
 * Asks a server for `count` IDs, over gRPC.
 *
 * @throws CommandError with what the server said, or that it cannot be reached.
 */
export async function openRemoteIds(
  access: ServerAccess,
  count: number,
  textFormat: TextFormat | undefined,
): Promise<IdChunks> {
  const client = createClient(IdService, transportTo(access));
  const abort = new AbortController();
  const request = {
    count: BigInt(count),
    ...(textFormat === undefined ? {} : { textFormat: formatToMessage(textFormat) }),
  };
  const { layout } = await client.getInfo({}, { timeoutMs: answerTimeoutMs }).catch(refuseCall(access));
  return {
    layout: layoutFromResponse(layout),
    chunks: chunksOf(client.batchNextIds(request, { signal: abort.signal }), refuseCall(access)),
    close: async () => abort.abort(),
  };
}

async function* chunksOf(responses: AsyncIterable<BatchNextIdsResponse>, refuse: (error: unknown) => never) {
  try {
    for await (const { ids, texts } of responses) yield { ids, texts: texts.length === 0 ? undefined : texts };
  } catch (error) {
    refuse(error);
  }
}
