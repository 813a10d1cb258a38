/** What an ID costs its caller under the schemes that people use instead: a round trip each, or a value of its own. */
import { Client as GrpcClient, credentials } from "@grpc/grpc-js";
import { createClient } from "@redis/client";
import mysql from "mysql2/promise";
import { randomUUID } from "node:crypto";
import { Client as PgClient, Pool } from "pg";
import { createNodeClient } from "../../clients/typescript/src/node.ts";
import { runCommand } from "../support/processes/run-command.ts";
import { startMariadb } from "../support/servers/mariadb-server.ts";
import { startPostgres } from "../support/servers/postgres-server.ts";
import { startRedis } from "../support/servers/redis-server.ts";
import { snowlane } from "./bench-server.ts";
import type { Benchmark, Finding } from "./benchmark.ts";
import { interleave, median, medianShare } from "./interleave.ts";
import { percentile } from "./load.ts";
import { formatFigure } from "./report.ts";

/** As many rounds as contestants take turns. */
export const schemeRounds = 5;
const roundMs = 1_000;
const inFlight = 64;
/** Connections to the databases; Redis needs but one. */
const connectionCount = 16;
/** Time in the high bits, a counter in the low: the usual recipe. */
const luaWithTime = `
  local time = redis.call('TIME')
  local sequence = redis.call('INCR', KEYS[1]) % 4096
  return tostring((time[1] * 1000 + math.floor(time[2] / 1000)) * 4096 + sequence)`;

/** A way to an ID or a number. */
export interface Scheme {
  readonly name: string;
  readonly isOurs: boolean;
  readonly next: () => unknown;
}

/** What callers of a scheme found. */
export interface Measured {
  readonly perSecond: number;
  readonly medianUs: number;
  readonly p99Us: number;
  /** Processor time of this process for a call, one at a time and with 64 at once, in microseconds. */
  readonly processorUs: number;
  readonly processorAtOnceUs: number;
}

/** One caller after the other, then 64 at once. */
export async function measureScheme(next: Scheme["next"]): Promise<Measured> {
  const latenciesUs: number[] = [];
  const singleFrom = process.cpuUsage();
  for (const endMs = performance.now() + roundMs; performance.now() < endMs; ) {
    const startMs = performance.now();
    await next();
    latenciesUs.push((performance.now() - startMs) * 1_000);
  }
  const processorUs = processorSince(singleFrom) / latenciesUs.length;
  latenciesUs.sort((a, b) => a - b);
  const startMs = performance.now();
  const manyFrom = process.cpuUsage();
  let count = 0;
  const callers = Array.from({ length: inFlight }, async () => {
    for (; performance.now() < startMs + roundMs; count++) await next();
  });
  await Promise.all(callers);
  const perSecond = (count * 1_000) / (performance.now() - startMs);
  const processorAtOnceUs = processorSince(manyFrom) / count;
  const [medianUs, p99Us] = [percentile(latenciesUs, 0.5), percentile(latenciesUs, 0.99)];
  return { perSecond, medianUs, p99Us, processorUs, processorAtOnceUs };
}

/** Processor time of this process since then, in microseconds. */
function processorSince(from: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(from);
  return user + system;
}

/** Functions that stop what was started, called in reverse order. */
export type Stops = (() => Promise<unknown> | void)[];

const byOurClient = "Snowlane, one NextId an ID, by our client";
const byGrpcJs = "Snowlane, one NextId an ID, by grpc-js";
const byRedis = "Redis INCR";

async function ourSchemes(stops: Stops): Promise<Scheme[]> {
  const server = await snowlane("Snowlane");
  stops.push(() => server.stop());
  const client = createNodeClient({ endpoints: [`http://127.0.0.1:${server.port}`] });
  const buffer = client.prefetch();
  stops.push(() => client.close());
  return [
    { name: "Snowlane, client with prefetch", isOurs: true, next: () => buffer.nextId() },
    { name: byGrpcJs, isOurs: true, next: grpcJsCaller(server.port, stops) },
    { name: byOurClient, isOurs: true, next: () => client.nextId() },
  ];
}

const bytes = (message: Buffer): Buffer => message;

/** Calls NextId as a program without our client does, on bytes. */
function grpcJsCaller(port: number, stops: Stops): Scheme["next"] {
  const client = new GrpcClient(`127.0.0.1:${port}`, credentials.createInsecure());
  stops.push(() => client.close());
  const request = Buffer.alloc(0);
  return () =>
    new Promise((resolve, reject) => {
      client.makeUnaryRequest("/snowlane.v1.IdService/NextId", bytes, bytes, request, (error, answer) => {
        if (error === null) resolve(answer);
        else reject(error);
      });
    });
}

/** Counters of Redis, which writes nothing to disk. */
export async function redisSchemes(stops: Stops): Promise<Scheme[]> {
  const server = await startRedis();
  stops.push(() => server.stop());
  const client = createClient({ url: server.url });
  await client.connect();
  stops.push(() => client.destroy());
  return [
    { name: byRedis, isOurs: false, next: () => client.incr("id") },
    {
      name: "Redis Lua, time and counter",
      isOurs: false,
      next: () => client.eval(luaWithTime, { keys: ["sequence"] }),
    },
  ];
}

/** Counters of a PostgreSQL that writes durably. */
export async function postgresSchemes(stops: Stops): Promise<Scheme[]> {
  const server = await startPostgres(["-c", "fsync=on"]);
  stops.push(() => server.stop());
  const setup = new PgClient({ connectionString: server.url });
  await setup.connect();
  await setup.query(
    "CREATE SEQUENCE ids; CREATE TABLE rows (id bigserial PRIMARY KEY, text text); CREATE TABLE counter (name text PRIMARY KEY, value bigint); INSERT INTO counter VALUES ('ids', 0)",
  );
  await setup.end();
  const pool = new Pool({ connectionString: server.url, max: connectionCount });
  stops.push(() => pool.end());
  const query = (text: string) => () => pool.query(text);
  return [
    { name: "PostgreSQL nextval", isOurs: false, next: query("SELECT nextval('ids')") },
    {
      name: "PostgreSQL auto-increment insert",
      isOurs: false,
      next: query("INSERT INTO rows (text) VALUES ('a') RETURNING id"),
    },
    {
      name: "PostgreSQL, one row updated an ID",
      isOurs: false,
      next: query("UPDATE counter SET value = value + 1 WHERE name = 'ids' RETURNING value"),
    },
  ];
}

/** Counters of MariaDB. */
export async function mariadbSchemes(stops: Stops): Promise<Scheme[]> {
  const server = await startMariadb();
  stops.push(() => server.stop());
  const pool = mysql.createPool({
    host: "127.0.0.1",
    port: server.port,
    user: "root",
    database: "test",
    connectionLimit: connectionCount,
  });
  stops.push(() => pool.end());
  await pool.query("CREATE TABLE line (id bigint AUTO_INCREMENT PRIMARY KEY, text varchar(10))");
  return [
    {
      name: "MariaDB auto-increment insert",
      isOurs: false,
      next: () => pool.query("INSERT INTO line (text) VALUES ('a')"),
    },
  ];
}

/** Other ways to an ID. */
export const schemesBenchmark: Benchmark = {
  name: "schemes",
  title: "Other ways to an ID",
  about: [
    `One process asks for IDs, first one after the other, then with ${inFlight} callers at once. The schemes take`,
    `turns in ${schemeRounds} rounds, after one that warms up; the figures are medians. The servers run beside it with`,
    `durable writes, except for Redis, which writes nothing to disk. The databases get ${connectionCount}`,
    "connections. The processor time is that of the asking process. randomUUID makes IDs that are not ordered and not 64 bits long. A call of NextId is nearly all its",
    "caller's own work and the way between two processes: the server takes a few microseconds (see above).",
    "Prefetching avoids both.",
  ].join("\n"),
  packages: ["@grpc/grpc-js", "@redis/client", "pg", "mysql2"],
  run: async (log) => {
    await runCommand(process.execPath, ["tools/bundle.mjs"]);
    const stops: Stops = [];
    try {
      const schemes: Scheme[] = [];
      for (const raise of [ourSchemes, redisSchemes, postgresSchemes, mariadbSchemes])
        schemes.push(...(await raise(stops)));
      schemes.push({ name: "crypto.randomUUID", isOurs: false, next: () => randomUUID() });
      const contestants = schemes.map(({ name, next }) => ({ name, run: () => measureScheme(next) }));
      const results = await interleave(contestants, schemeRounds, log);
      const rows = schemes.map(({ name, isOurs }) => {
        const found = results.get(name) ?? [];
        const middle = (pick: (one: Measured) => number): number => median(found.map(pick));
        return {
          name,
          isOurs,
          perSecond: middle((one) => one.perSecond),
          medianUs: middle((one) => one.medianUs),
          p99Us: middle((one) => one.p99Us),
          processorAtOnceUs: middle((one) => one.processorAtOnceUs),
          processorUs: middle((one) => one.processorUs),
        };
      });
      return [
        targets(results),
        {
          title: "What a caller waits, and gets",
          columns: [
            "scheme",
            "µs, one at a time",
            "p99",
            "of processor",
            `IDs/s, ${inFlight} callers`,
            "µs of processor",
          ],
          rows: rows.map((row) => [
            row.name,
            formatFigure(row.medianUs),
            formatFigure(row.p99Us),
            formatFigure(row.processorUs),
            formatFigure(row.perSecond),
            formatFigure(row.processorAtOnceUs),
          ]),
          chart: {
            unit: "µs",
            bars: rows.map((row) => ({ label: row.name, value: row.medianUs, isOurs: row.isOurs })),
          },
        },
      ];
    } finally {
      for (const stop of stops.toReversed()) await stop();
    }
  },
};

/** What our client is held to, as medians of each round's ratio. */
function targets(results: ReadonlyMap<string, readonly Measured[]>): Finding {
  const of = (name: string, pick: (one: Measured) => number): readonly number[] => (results.get(name) ?? []).map(pick);
  const row = (target: string, peer: string, pick: (one: Measured) => number, atMost: number): readonly string[] => {
    const share = medianShare(of(byOurClient, pick), of(peer, pick));
    return [target, formatFigure(share), formatFigure(atMost), share <= atMost ? "yes" : "no"];
  };
  return {
    title: "Targets: one NextId an ID, by our client",
    columns: ["target", "found", "at most", "met"],
    rows: [
      row("processor time of the caller, one at a time, of grpc-js's", byGrpcJs, (one) => one.processorUs, 0.5),
      row(`the same, ${inFlight} at once`, byGrpcJs, (one) => one.processorAtOnceUs, 0.5),
      row("what the caller waits, one at a time, of Redis INCR's", byRedis, (one) => one.medianUs, 1.5),
    ],
  };
}
