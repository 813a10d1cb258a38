import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { type BatchNextIdsResponse, IdService } from "../gen/snowlane/v1/id_service_pb.ts";
import { layoutFromResponse } from "../service/layout-message.ts";
import { formatToMessage } from "../service/text-message.ts";
import type { TextFormat } from "../text/text-form.ts";
import { CommandError, exitCodes } from "./exit-code.ts";
import type { IdChunks } from "./id-chunks.ts";

/** How long the first answer may take. */
const answerTimeoutMs = 5_000;

/**
 * Asks a server for `count` IDs, over gRPC.
 *
 * @throws CommandError with what the server said, or that it cannot be reached.
 */
export async function openRemoteIds(
  baseUrl: string,
  count: number,
  textFormat: TextFormat | undefined,
): Promise<IdChunks> {
  const client = createClient(IdService, createGrpcTransport({ baseUrl }));
  const abort = new AbortController();
  const request = {
    count: BigInt(count),
    ...(textFormat === undefined ? {} : { textFormat: formatToMessage(textFormat) }),
  };
  const { layout } = await client.getInfo({}, { timeoutMs: answerTimeoutMs }).catch(refuse(baseUrl));
  return {
    layout: layoutFromResponse(layout),
    chunks: chunksOf(client.batchNextIds(request, { signal: abort.signal }), refuse(baseUrl)),
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

function refuse(baseUrl: string): (error: unknown) => never {
  return (error) => {
    const { code, rawMessage } = ConnectError.from(error);
    const unreachable = code === Code.Unavailable && /ECONN|ENOTFOUND|EAI_AGAIN|EHOST|ENET/.test(rawMessage);
    const message = unreachable
      ? `No server answers at ${baseUrl}. Start one with snowlane serve, or leave --server out.`
      : `The server at ${baseUrl} says ${Code[code]}: ${rawMessage}`;
    throw new CommandError(message, exitCodes.refused);
  };
}
