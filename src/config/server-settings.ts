import { address } from "./address.ts";
import { http2Limits } from "./http2-limits.ts";
import { rollbackPolicies } from "../snowflake/rollback-policy.ts";
import { layoutSettings } from "./layout-settings.ts";
import { numberRanges } from "./number-ranges.ts";
import { type SettingValues, withFallback } from "./setting.ts";
import { choice, duration, integer, text } from "./setting-kinds.ts";
import { origins } from "./origins.ts";
import { storeSettings } from "./store-settings.ts";

/** Which records are ours: for every command that issues IDs from a store itself. */
export const workerSettings = {
  ...layoutSettings,
  ...storeSettings,
  instance: text({
    name: "instance",
    placeholder: "NAME",
    pattern: /^[\x21-\x7e]{1,128}$/,
    cure: "1 to 128 visible ASCII characters",
    doc:
      "Who this process is across restarts: it prefers the worker ID that it had before. Default: host name and port. " +
      "Uniqueness does not depend on it.",
  }),
  datacenterId: integer({
    name: "datacenterId",
    min: 0,
    max: 2 ** 31 - 1,
    doc: "Takes only worker IDs of this datacenter. Without it any free one is taken.",
  }),
  datacenterIds: numberRanges({
    name: "datacenterIds",
    countMax: 64,
    doc:
      "Binds the store to these datacenters, such as 0-3,7: the first start writes them into the store, and from then on nobody is " +
      "granted a worker ID of another. Two stores that are bound to different ones never repeat each other's IDs. Default: as the " +
      "store says; a new one is bound to none.",
  }),
  workerId: integer({
    name: "workerId",
    min: 0,
    max: 2 ** 31 - 1,
    doc:
      "Pins the worker ID (within the datacenter, where the layout has one). A pinned process has no other worker ID to move to: " +
      "after a crash, and after a long step of the clock, it waits.",
  }),
  rollbackPolicy: withFallback(
    choice({
      name: "rollbackPolicy",
      placeholder: "POLICY",
      words: rollbackPolicies,
      doc: "What happens when the wall clock moves back: advance, reject, wait, logical or reuse. docs/clock.md has each one's guarantee.",
    }),
    "advance",
  ),
  sequenceSpread: withFallback(
    choice({
      name: "sequenceSpread",
      words: ["on", "off"],
      doc:
        "on: the first sequence number of a tick is drawn from the lower quarter while the worker is not busy, so that `id % n` spreads " +
        "evenly. off: it is 0, as in Twitter's algorithm, where an idle worker issues even IDs alone.",
    }),
    "on",
  ),
  burstMs: withFallback(
    duration({
      name: "burst",
      minMs: 0,
      maxMs: 2_000,
      doc: "How far timestamps may run ahead of the clock under load; at least one tick of the layout.",
    }),
    10,
  ),
  windowMs: duration({
    name: "window",
    minMs: 1_000,
    maxMs: 86_400_000,
    doc:
      "How far ahead of use time is reserved in the store. A longer window outlives a longer outage of the store, and costs more " +
      "quarantined IDs after a crash. Default: the store's; 10s for SQLite.",
  }),
  renewalPeriodMs: duration({
    name: "renewalPeriod",
    minMs: 100,
    maxMs: 43_200_000,
    doc: "How often the window is renewed; at most half of it. Default: the store's; 2s for SQLite.",
  }),
  windowMaxMs: duration({
    name: "windowMax",
    minMs: 1_000,
    maxMs: 86_400_000,
    doc:
      "The longest window that any process of the namespace may take; after a loss of the store's data new grants wait for about as " +
      "long. Written into the store once, by the first process; from then on it may be left out, or must be the same. Default: the " +
      "store's, or the first process's window if that is longer; 10s for SQLite.",
  }),
  ttlMs: duration({
    name: "ttl",
    minMs: 4_000,
    maxMs: 172_800_000,
    doc:
      "How long after its last renewal a process that is silent keeps its worker ID; at least the window and 3s. Uniqueness does not " +
      "depend on it. Not with SQLite, where a lock tells who lives. Default: the store's, or the window and 3s if that is longer.",
  }),
};

/** The settings of `snowlane serve`. */
export const serverSettings = {
  listen: withFallback(
    address({
      name: "listen",
      doc:
        "The address that serves gRPC, gRPC-Web and Connect over HTTP/1.1 and HTTP/2. Port 0 leaves the choice to the system. " +
        "An address other than loopback needs --auth and --store.",
    }),
    { host: "127.0.0.1", port: 7609 },
  ),
  auth: choice({
    name: "auth",
    words: ["none"],
    doc: "Who may call. none: whoever reaches the address. Needed where that is more than this machine.",
  }),
  ...workerSettings,
  resumeDir: text({
    name: "resumeDir",
    placeholder: "DIR",
    doc:
      "Where a server notes its worker ID and how far it may go, so that after a crash it serves again while the store does not answer, up to " +
      "the end of its window: docs/stores.md. A folder of this machine alone, kept over restarts. off: nothing is noted. Default: one folder " +
      "in the user's state directory; nothing is noted where the store is an SQLite file.",
  }),
  waitMaxMs: withFallback(
    duration({
      name: "waitMax",
      minMs: 0,
      maxMs: 60_000,
      doc: "The longest that a call waits for IDs before it is refused; a shorter deadline of the caller wins.",
    }),
    1000,
  ),
  batchCountMax: withFallback(
    integer({ name: "batchCountMax", min: 1, max: 1e12, doc: "The most IDs that one BatchNextIds call may ask for." }),
    1e9,
  ),
  connectionsMax: withFallback(
    integer({
      name: "connectionsMax",
      min: 1,
      max: 1_000_000,
      doc: "The most connections at once; further ones are closed at once.",
    }),
    10_000,
  ),
  connectionsPerSecond: withFallback(
    integer({
      name: "connectionsPerSecond",
      min: 1,
      max: 1_000_000,
      doc: "The most new connections in a second, after as many as half a second has as fast as four in a millisecond; further ones wait for their turn.",
    }),
    1_000,
  ),
  violationsPerSecond: withFallback(
    integer({
      name: "violationsPerSecond",
      min: 1,
      max: 1_000_000,
      doc:
        "How many connections from one network may break a rule of HTTP/2 in a second, after as many as half a second has at once; for more, " +
        "new connections from there wait until they are paid for, two seconds at most. By the engine.",
    }),
    10,
  ),
  http2: withFallback(
    choice({
      name: "http2",
      words: ["node", "engine"],
      doc:
        "What serves HTTP/2: node, which is Node's own; or engine, which is this project's and answers an ID for a tenth of the CPU time. " +
        "Callers see no difference.",
    }),
    "node",
  ),
  http2Limits: withFallback(
    http2Limits({
      name: "http2Limits",
      doc:
        "Limits of the HTTP/2 engine that are to differ from their defaults, each by its name in the table of docs/http2.md: " +
        "idleTimeoutMs=60000,pingsPerSecond=100. A time span of off is none.",
    }),
    {},
  ),
  tlsCert: text({
    name: "tlsCert",
    placeholder: "FILE",
    doc: "Serves TLS 1.3 and 1.2 only, with this certificate chain (PEM). Needs --tls-key. A file that is replaced is read again.",
  }),
  tlsKey: text({ name: "tlsKey", placeholder: "FILE", doc: "The private key of --tls-cert (PEM)." }),
  tlsClientCa: text({
    name: "tlsClientCa",
    placeholder: "FILE",
    doc: "Takes only callers that show a certificate signed by one of these authorities (PEM). Needs --tls-cert.",
  }),
  corsOrigins: withFallback(
    origins({
      name: "corsOrigin",
      doc:
        "The origins whose pages may call this server from a browser, besides its own, each exactly as the browser writes it: scheme, host, and " +
        "port unless it is the scheme's own. There are no patterns.",
    }),
    [],
  ),
  streamsMax: withFallback(
    integer({ name: "streamsMax", min: 1, max: 65_535, doc: "The most HTTP/2 streams at once on a connection." }),
    100,
  ),
  stallTimeoutMs: withFallback(
    duration({
      name: "stallTimeout",
      minMs: 100,
      maxMs: 3_600_000,
      doc: "How long a reader may take nothing from a response before it is ended, with STREAM_STALLED where it is a stream.",
    }),
    30_000,
  ),
  drainTimeoutMs: withFallback(
    duration({
      name: "drainTimeout",
      minMs: 0,
      maxMs: 600_000,
      doc: "How long calls in flight may take to finish after SIGTERM or Ctrl-C.",
    }),
    10_000,
  ),
  issueLog: text({
    name: "issueLog",
    placeholder: "FILE",
    doc:
      "For proofs: every run of IDs is appended to this file before it is given out, 16 bytes each: the first ID, the count, and the " +
      "binary logarithm of the distance between neighbours (8, 4 and 4 bytes, the highest first). Costs a write to the file for each call.",
  }),
  logLevel: withFallback(
    choice({
      name: "logLevel",
      placeholder: "LEVEL",
      words: ["debug", "info", "warn", "error"],
      doc: "The least important log lines that are written: debug, info, warn or error. No call writes a line of its own.",
    }),
    "info",
  ),
  logFormat: withFallback(
    choice({
      name: "logFormat",
      placeholder: "FORMAT",
      words: ["auto", "text", "json"],
      doc:
        "Log lines go to standard error. text: for people, and a few lines about the server on standard output. json: one JSON " +
        "object a line, and nothing on standard output. auto: text on a terminal and under npm start, json otherwise.",
    }),
    "auto",
  ),
};

/** The settings of `snowlane serve` with their values. */
export type ServerConfig = SettingValues<typeof serverSettings>;

/** What a command needs to hold a worker ID. */
export type WorkerConfig = SettingValues<typeof workerSettings>;
