import { setTimeout as sleep } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import { askHttp1, askHttp2, grpcFrame, type HttpQuestion } from "./http-call.ts";

const service = "/snowlane.v1.IdService";
const grpc = { "content-type": "application/grpc", te: "trailers" };
const streamIds = 20_000;
const lingerMs = 1_500;

function compressed(message: Uint8Array): Buffer {
  const frame = grpcFrame(gzipSync(message));
  frame[0] = 1;
  return frame;
}

const nextId: HttpQuestion = { path: `${service}/NextId`, headers: grpc, body: grpcFrame(new Uint8Array(0)) };
/** One of each: on the hot path and off it, streamed and compressed, in each protocol, well-formed and not. */
export const ordinaryQuestions: readonly HttpQuestion[] = [
  ...Array.from({ length: 4 }, () => nextId),
  { ...nextId, headers: { ...grpc, "grpc-encoding": "gzip" }, body: compressed(new Uint8Array(0)) },
  { ...nextId, headers: { ...grpc, "grpc-timeout": "10S" } },
  { path: `${service}/NextId`, body: "{}" },
  { path: `${service}/NextId`, body: '{"no":1}' },
  { path: `${service}/Parse`, body: '{"id":"1"}' },
  {
    path: `${service}/BatchNextIds`,
    headers: { "content-type": "application/connect+json" },
    body: grpcFrame(Buffer.from(`{"count":"${streamIds}"}`)),
  },
  { path: `${service}/BatchNextIds`, headers: grpc, body: grpcFrame(Buffer.of(8, 0xa0, 0x9c, 1)) },
];

/**
 * Asks a server as callers do all day, each call on a connection of its own, until the time is over. Looks at no
 * answer: a connection may be cut that a busy machine kept waiting.
 *
 * @param fields - Further ones of each request.
 */
export async function ordinaryLoad(
  url: string,
  callersAtOnce: number,
  seconds: number,
  fields: Readonly<Record<string, string>> = {},
): Promise<void> {
  const asks = (question: HttpQuestion): HttpQuestion => ({
    ...question,
    headers: { "content-type": "application/json", ...question.headers, ...fields },
  });
  const endsMs = Date.now() + 1_000 * seconds;
  const call = async (): Promise<void> => {
    do {
      for (const question of ordinaryQuestions) await askHttp2(url, asks(question)).catch(() => undefined);
      await askHttp1(url, asks({ path: `${service}/NextId`, body: "{}" })).catch(() => undefined);
    } while (Date.now() < endsMs);
  };
  await Promise.all(Array.from({ length: callersAtOnce }, call));
  // The server still holds the last connections: it lets a closed one linger for a second.
  await sleep(lingerMs);
}
