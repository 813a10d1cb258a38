/** Measures what each way to an ID costs the server as it is shipped: each method by each protocol, beside a peer. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { create, toBinary, toJsonString } from "@bufbuild/protobuf";
import { HealthCheckRequestSchema } from "../../src/gen/grpc/health/v1/health_pb.ts";
import { ParseRequestSchema, ReserveIdsRequestSchema } from "../../src/gen/snowlane/v1/id_service_pb.ts";
import { NextValueRequestSchema } from "../../src/gen/snowlane/v1/sequence_service_pb.ts";
import { runCommand } from "../support/processes/run-command.ts";
import { type BenchServer, buildGoPeer, goPeer, nodePeer, snowlane } from "./bench-server.ts";
import type { Benchmark, Finding } from "./benchmark.ts";
import { interleave, median, medianShare } from "./interleave.ts";
import { type H2load, runH2load } from "./load.ts";
import { formatFigure } from "./report.ts";

const rounds = 7;
const ours = "Snowlane";
const grpcGo = "grpc-go + bwmarrin/snowflake";
const connectNode = "plain Connect-Node";
const bareHttp1 = "bare node:http, a constant";
/** The row that others are compared with. */
const plainest = "NextId: gRPC, HTTP/2";

type Load = Omit<H2load, "connections" | "streams" | "calls">;

/** One row: a call, and what it is compared with. */
interface Way {
  readonly name: string;
  readonly server: typeof ours | typeof grpcGo | typeof connectNode | typeof bareHttp1;
  readonly load: Load;
  readonly calls: number;
  /** Another row, and the most that a call may cost as a share of one there. Absent for a peer. */
  readonly target?: { readonly beside: string; readonly most: number };
}

const bytesOf = (message: Uint8Array | string): readonly number[] => [...Buffer.from(message)];

/** The messages in both codecs. */
const messages = {
  NextId: { binary: [], json: bytesOf("{}") },
  // More than 8 would meet the layout's ceiling, not the code's.
  ReserveIds: codecsOf(ReserveIdsRequestSchema, create(ReserveIdsRequestSchema, { count: 8 })),
  Check: codecsOf(HealthCheckRequestSchema, create(HealthCheckRequestSchema)),
  NextValue: codecsOf(NextValueRequestSchema, create(NextValueRequestSchema, { name: "orders" })),
  Parse: codecsOf(
    ParseRequestSchema,
    create(ParseRequestSchema, { source: { case: "id", value: 1_890_000_000_000_000_000n } }),
  ),
  GetInfo: { binary: [], json: bytesOf("{}") },
} as const;

function codecsOf<Schema extends Parameters<typeof toBinary>[0]>(
  schema: Schema,
  message: Parameters<typeof toBinary<Schema>>[1],
): { readonly binary: readonly number[]; readonly json: readonly number[] } {
  return { binary: bytesOf(toBinary(schema, message)), json: bytesOf(toJsonString(schema, message)) };
}

const services: Partial<Record<keyof typeof messages, string>> = {
  Check: "grpc.health.v1.Health",
  NextValue: "snowlane.v1.SequenceService",
};

function way(
  method: keyof typeof messages,
  protocol: NonNullable<Load["protocol"]>,
  version: NonNullable<Load["version"]>,
  calls: number,
  target?: Way["target"],
): Way {
  const message = messages[method][protocol === "Connect, JSON" ? "json" : "binary"];
  const service = services[method];
  return {
    name: `${method === "Check" ? "Health/Check" : method}: ${protocol}, ${version}`,
    server: ours,
    load: { method, protocol, version, message, ...(service === undefined ? {} : { service }) },
    calls,
    ...(target === undefined ? {} : { target }),
  };
}

const likePlainest = { beside: plainest, most: 2 };
const likeHttp1 = { beside: bareHttp1, most: 1.5 };
const likeConnect = { beside: connectNode, most: 1 };
const [many, some, few] = [300_000, 60_000, 10_000];

const ways: readonly Way[] = [
  way("NextId", "gRPC", "HTTP/2", many, { beside: grpcGo, most: 0.1 }),
  { name: grpcGo, server: grpcGo, load: { method: "NextId" }, calls: some },
  way("NextId", "gRPC-Web", "HTTP/2", many, likePlainest),
  way("ReserveIds", "Connect, binary", "HTTP/2", many, likePlainest),
  way("NextId", "Connect, JSON", "HTTP/2", many, likePlainest),
  way("ReserveIds", "gRPC", "HTTP/2", many, { beside: plainest, most: 1.5 }),
  way("ReserveIds", "Connect, JSON", "HTTP/2", many, likePlainest),
  way("NextValue", "gRPC", "HTTP/2", many, { beside: plainest, most: 1.5 }),
  way("NextValue", "Connect, JSON", "HTTP/2", many, likePlainest),
  way("Check", "gRPC", "HTTP/2", many, likePlainest),
  way("NextId", "gRPC-Web", "HTTP/1.1", some, likeHttp1),
  way("ReserveIds", "Connect, binary", "HTTP/1.1", some, likeHttp1),
  way("NextId", "Connect, JSON", "HTTP/1.1", some, likeHttp1),
  way("ReserveIds", "Connect, JSON", "HTTP/1.1", some, likeHttp1),
  way("NextValue", "Connect, JSON", "HTTP/1.1", some, likeHttp1),
  way("Check", "Connect, JSON", "HTTP/1.1", some, likeHttp1),
  {
    name: bareHttp1,
    server: bareHttp1,
    load: { protocol: "Connect, JSON", version: "HTTP/1.1", message: messages.NextId.json },
    calls: some,
  },
  way("Parse", "gRPC", "HTTP/2", some, likeConnect),
  way("GetInfo", "gRPC", "HTTP/2", some, likeConnect),
  way("Parse", "Connect, JSON", "HTTP/2", few, likeConnect),
  { name: connectNode, server: connectNode, load: { method: "Parse", message: messages.Parse.binary }, calls: few },
];

async function createSequence({ port }: BenchServer): Promise<void> {
  const response = await fetch(`http://127.0.0.1:${port}/snowlane.v1.SequenceService/CreateSequence`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ sequence: { name: "orders" } }),
  });
  if (!response.ok) throw new Error(`CreateSequence: ${response.status} ${await response.text()}`);
}

async function compare(
  servers: Readonly<Record<Way["server"], BenchServer>>,
  folder: string,
  log: (line: string) => void,
): Promise<Finding> {
  const contestants = ways.map(({ name, server, load, calls }) => {
    const shape = load.version === "HTTP/1.1" ? { connections: 8, streams: 1 } : { connections: 4, streams: 32 };
    return {
      name,
      run: async () => (await runH2load(servers[server], { ...load, ...shape, calls }, folder)).cpuUs,
    };
  });
  const results = await interleave<number>(contestants, rounds, log);
  const costs = (name: string): readonly number[] => results.get(name) ?? [];
  const rows = ways.map(({ name, target }) => {
    const us = formatFigure(median(costs(name)));
    if (target === undefined) return [name, us, "", "", "", ""];
    const share = medianShare(costs(name), costs(target.beside));
    const isMet = share <= target.most;
    return [name, us, target.beside, share.toFixed(3), String(target.most), isMet ? "yes" : "no"];
  });
  return {
    title: "One call: µs of processor time of the server",
    columns: ["call", "µs", "beside", "share", "at most", "met"],
    rows,
  };
}

/** Every way to an ID. */
export const waysBenchmark: Benchmark = {
  name: "ways",
  title: "Each way to an ID, as shipped",
  about: [
    "What one call costs the server that `npm start` starts, without a flag: each method that gives IDs, and some others,",
    "by each protocol. The load is h2load's: four connections of 32 calls at once over HTTP/2, eight connections of one",
    "call over HTTP/1.1. A share is the median of the ratios of each round to the row that is named beside it, in",
    `${rounds} rounds in turn after one that warms up. Rows without a share are the peers. The peer of the calls over`,
    "HTTP/1.1 does nothing: it answers with a constant. That of the last rows is Connect-Node's own Parse.",
  ].join("\n"),
  packages: ["@connectrpc/connect-node"],
  run: async (log) => {
    const folder = mkdtempSync(join(tmpdir(), "snowlane-bench-ways-"));
    await runCommand(process.execPath, ["tools/bundle.mjs"]);
    const servers = {
      [ours]: await snowlane(ours),
      [grpcGo]: await goPeer(await buildGoPeer(folder), grpcGo, "grpc"),
      [connectNode]: await nodePeer(connectNode, "connect"),
      [bareHttp1]: await nodePeer(bareHttp1, "bare-http1"),
    };
    try {
      await createSequence(servers[ours]);
      return [await compare(servers, folder, log)];
    } finally {
      await Promise.all(Object.values(servers).map((server) => server.stop()));
      rmSync(folder, { recursive: true, force: true });
    }
  },
};
