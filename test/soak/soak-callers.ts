/** Callers of a soak, each a round that is called again and again: what callers do all day, and what they do wrong. */
import { connect, constants, type ClientHttp2Session } from "node:http2";
import { setTimeout as sleep } from "node:timers/promises";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import {
  BatchNextIdsRequestSchema,
  NextIdResponseSchema,
  ReserveIdsRequestSchema,
  ReserveIdsResponseSchema,
} from "../../src/gen/snowlane/v1/id_service_pb.ts";
import { settingId } from "../../src/http2/frame.ts";
import { type Attack, quickAttacks, slowAttacks } from "../support/http2/attacks.ts";
import { GrpcIdClient } from "../support/processes/grpc-id-client.ts";
import { askHttp1, askHttp2, grpcFrame, type HttpAnswer, type HttpQuestion } from "../support/http2/http-call.ts";
import { nextIdFields } from "../support/http2/http2-floods.ts";
import { RawClient } from "../support/http2/http2-raw-client.ts";
import { data, headers, hello, rstStream, settings } from "../support/http2/http2-wire.ts";
import { ordinaryQuestions } from "../support/http2/ordinary-load.ts";
import type { SnowlaneProcess } from "../support/processes/snowlane-process.ts";
import type { RisingIds } from "./rising-ids.ts";

/** The server that callers call, and the counters for their results. */
export interface SoakTarget {
  readonly server: SnowlaneProcess;
  readonly ids: RisingIds;
  /** Called for each call that was answered as it should be. */
  readonly onCall: () => void;
  /** Called for one that was not. */
  readonly onFailure: (text: string) => void;
}

/** A caller. */
export interface SoakCaller {
  readonly name: string;
  /** How many of them there are. */
  readonly count: number;
  /** Between two rounds. */
  readonly pauseMs: number;
  readonly round: (target: SoakTarget, index: number) => Promise<void>;
}

/** How callers attack. */
export interface AttackOptions {
  readonly attacks: "quick" | "quick and slow";
  /** Between two attacks. */
  readonly attackPauseMs: number;
}

const service = "/snowlane.v1.IdService";
const grpc = { "content-type": "application/grpc", te: "trailers" };
const emptyMessage = grpcFrame(new Uint8Array(0));
const callTimeoutMs = 60_000;
const callsEach = 50;
const callPauseMs = 10;
const streamIds = 20_000n;
const cancelledAtOnce = 20;
const heldStreams = 20;
const heldMs = 300;

async function askForIds({ server, ids, onCall }: SoakTarget): Promise<void> {
  const client = new GrpcIdClient(server.address, "own");
  try {
    for (let call = 0; call < callsEach; call++) {
      ids.add([await client.nextId(callTimeoutMs)]);
      onCall();
      await sleep(callPauseMs);
    }
  } finally {
    client.close();
  }
}

/** Reads a stream to its end, slowly or not. */
async function readStream({ server, ids, onCall }: SoakTarget, chunkPauseMs: number): Promise<void> {
  const client = new GrpcIdClient(server.address, "own");
  try {
    let received = 0;
    for await (const chunk of client.batchNextIds({ count: streamIds, chunkSize: 1_000 }, callTimeoutMs)) {
      ids.add(chunk);
      received += chunk.length;
      if (chunkPauseMs > 0) await sleep(chunkPauseMs);
    }
    if (BigInt(received) !== streamIds) throw new Error(`${received} IDs of ${streamIds}`);
    onCall();
  } finally {
    client.close();
  }
}

async function reserve({ server, ids, onCall }: SoakTarget): Promise<void> {
  const request = toBinary(ReserveIdsRequestSchema, create(ReserveIdsRequestSchema, { count: 1_000 }));
  const question = { path: `${service}/ReserveIds`, headers: grpc, body: grpcFrame(request) };
  const answer = await askHttp2(server.url, question);
  if (statusOf(answer) !== "200 0") throw new Error(statusOf(answer));
  for (const run of fromBinary(ReserveIdsResponseSchema, answer.body.subarray(5)).runs) ids.addRun(run);
  onCall();
}

function statusOf({ status, headers, trailers }: HttpAnswer): string {
  return `${status} ${String(trailers["grpc-status"] ?? headers["grpc-status"] ?? "")}`.trim();
}

/** How each ordinary question is answered, as it was the first time: that does not change. */
const firstStatus = new Map<string, string>();

async function askInEveryProtocol({ server, onCall, onFailure }: SoakTarget): Promise<void> {
  const http1: HttpQuestion = { path: `${service}/NextId`, body: "{}" };
  const asked = [
    ...ordinaryQuestions.map((question) => ({ ask: askHttp2, question })),
    { ask: askHttp1, question: http1 },
  ];
  for (const [index, { ask, question }] of asked.entries()) {
    const status = statusOf(await ask(server.url, question));
    const key = `${server.url} ${index}`;
    const expected = firstStatus.get(key) ?? status;
    firstStatus.set(key, expected);
    if (status === expected && !status.startsWith("5")) onCall();
    else onFailure(`${question.path} answered ${status} instead of ${expected}`);
  }
}

/** Asks for one ID; resolves with the gRPC status, or `reset` if the stream ended without. */
function askOn(session: ClientHttp2Session, ids: RisingIds, timeout: string, cancelMs?: number): Promise<string> {
  return new Promise((resolve) => {
    const fields = { ":method": "POST", ":path": `${service}/NextId`, ...grpc, "grpc-timeout": timeout };
    const call = session.request(fields);
    const chunks: Buffer[] = [];
    let status = "reset";
    call.on("data", (chunk: Buffer) => chunks.push(chunk));
    call.on("response", (head) => (status = String(head["grpc-status"] ?? status)));
    call.on("trailers", (trailers) => (status = String(trailers["grpc-status"])));
    call.on("error", () => undefined);
    call.on("close", () => {
      const body = Buffer.concat(chunks);
      if (status === "0") ids.add([fromBinary(NextIdResponseSchema, body.subarray(5)).id]);
      resolve(status);
    });
    call.end(emptyMessage);
    if (cancelMs !== undefined) setTimeout(() => call.close(constants.NGHTTP2_CANCEL), cancelMs);
  });
}

/** Calls that are cancelled, that have next to no time, and that have enough, on one connection. */
async function cancelSome({ server, ids, onCall, onFailure }: SoakTarget): Promise<void> {
  const session = connect(server.url);
  session.on("error", () => undefined);
  const calls = Array.from({ length: cancelledAtOnce }, async (_, index) => {
    const kind = index % 3;
    const status = await askOn(session, ids, kind === 1 ? "1m" : "60S", kind === 0 ? index % 4 : undefined);
    const allowed = [["0", "reset"], ["0", "4"], ["0"]][kind]!;
    if (allowed.includes(status)) onCall();
    else onFailure(`a call that ${["is cancelled", "has a millisecond", "has time"][kind]} ended with ${status}`);
  });
  await Promise.all(calls);
  session.destroy();
}

const batchFields = nextIdFields.map(([name, value]): readonly [string, string] =>
  name === ":path" ? [name, `${service}/BatchNextIds`] : [name, value],
);
const endlessBatch = grpcFrame(
  toBinary(BatchNextIdsRequestSchema, create(BatchNextIdsRequestSchema, { count: 1_000_000_000n })),
);
const heldIds = Array.from({ length: heldStreams }, (_, index) => 2 * index + 1);

/** Holds endless streams without a window, resets some of them, and goes away without a word. */
async function holdAndVanish({ server, onCall }: SoakTarget): Promise<void> {
  const client = await RawClient.connect(Number(server.address.split(":")[1]));
  const streams = heldIds.flatMap((id) => [headers(id, "body", batchFields), data(id, endlessBatch, "end")]);
  client.send(hello, settings([settingId.initialWindowSize, 0]), ...streams);
  await sleep(heldMs);
  await client.exchange(...heldIds.filter((id) => id % 4 === 1).map((id) => rstStream(id)));
  if (client.isClosed) throw new Error("the connection was closed");
  client.destroy();
  onCall();
}

async function attack({ name, run, end }: Attack, { server, onCall, onFailure }: SoakTarget): Promise<void> {
  const ended = await run(Number(server.address.split(":")[1]));
  if (end.test(ended)) onCall();
  else onFailure(`${name} ended with: ${ended}`);
}

/** One quick attack after another, and then all slow ones at once, for they wait more than they do. */
function attackRound(attacks: AttackOptions["attacks"]): SoakCaller["round"] {
  const rounds: readonly (readonly Attack[])[] = [
    ...quickAttacks.map((quick) => [quick]),
    ...(attacks === "quick" ? [] : [slowAttacks]),
  ];
  return async (target, index) => {
    await Promise.all(rounds[index % rounds.length]!.map((one) => attack(one, target)));
  };
}

/** All callers. */
export function soakCallers({ attacks, attackPauseMs }: AttackOptions): readonly SoakCaller[] {
  return [
    { name: "NextId, 50 calls a connection", count: 4, pauseMs: 100, round: askForIds },
    { name: "streams", count: 1, pauseMs: 500, round: (target) => readStream(target, 0) },
    { name: "slow readers", count: 1, pauseMs: 500, round: (target) => readStream(target, 20) },
    { name: "ReserveIds", count: 1, pauseMs: 200, round: reserve },
    { name: "every protocol, a call a connection", count: 1, pauseMs: 100, round: askInEveryProtocol },
    { name: "cancels and deadlines", count: 1, pauseMs: 200, round: cancelSome },
    { name: "windows of zero, resets, gone without a word", count: 1, pauseMs: 500, round: holdAndVanish },
    { name: "attacks", count: 1, pauseMs: attackPauseMs, round: attackRound(attacks) },
  ];
}
