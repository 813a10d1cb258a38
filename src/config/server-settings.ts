import { address, addressOrSocket } from "./address.ts";
import { hostNames } from "./host-names.ts";
import { http2Limits } from "./http2-limits.ts";
import { workerTimeRanges } from "../lease/worker-settings.ts";
import { rollbackPolicies } from "../snowflake/rollback-policy.ts";
import { layoutSettings } from "./layout-settings.ts";
import { networks } from "./networks.ts";
import { numberRange, numberRanges } from "./number-ranges.ts";
import { type SettingValues, withFallback } from "./setting.ts";
import { choice, duration, integer, moment, octalMode, onOff, text } from "./setting-kinds.ts";
import { storeStatement } from "./statement-settings.ts";
import { origins } from "./origins.ts";
import { sequenceSettings } from "./sequence-settings.ts";
import { storeSettings } from "./store-settings.ts";

/** Settings that say which records are ours: for every command that issues IDs from a store itself. */
export const workerSettings = {
  ...layoutSettings,
  ...storeSettings,
  create: onOff({
    name: "create",
    doc:
      "Creates the folder of the SQLite file that --store names, if it is missing. Without it such a start is refused, " +
      "because a typing error in the path would begin a new deployment, which repeats the IDs of the old one.",
  }),
  instance: text({
    name: "instance",
    placeholder: "NAME",
    pattern: /^[\x21-\x7e]{1,128}$/,
    hint: "1 to 128 visible ASCII characters",
    doc:
      "The name of this process across restarts, by which it finds and prefers the worker ID that it had before. " +
      "Default: host name and port. Uniqueness does not depend on it.",
  }),
  datacenterId: integer({
    name: "datacenterId",
    min: 0,
    max: 2 ** 31 - 1,
    doc: "Takes only worker IDs of this datacenter. Default: any free worker ID.",
  }),
  datacenterIds: numberRanges({
    name: "datacenterIds",
    countMax: 64,
    doc:
      "Binds the store to these datacenters, such as 0-3,7. The first start writes them into the store; from then on no process " +
      "is granted a worker ID of another datacenter. Two stores that are bound to different datacenters never repeat each " +
      "other's IDs. Default: the store's; a new store is bound to none.",
  }),
  workerIds: numberRange({
    name: "workerIds",
    doc:
      "Binds the store to a range of worker IDs, such as 512-1023, where the layout has no datacenters. The first start writes " +
      "it into the store; from then on no process is granted another worker ID. Two stores that are bound to different ranges " +
      "never repeat each other's IDs. Default: the store's; a new store is bound to none.",
  }),
  workerId: integer({
    name: "workerId",
    min: 0,
    max: 2 ** 31 - 1,
    doc:
      "Pins the worker ID (within the datacenter, where the layout has one). A pinned process cannot move to another worker ID, " +
      "so after a crash and after a long step of the clock it waits. Default: any free worker ID.",
  }),
  rollbackPolicy: withFallback(
    choice({
      name: "rollbackPolicy",
      placeholder: "POLICY",
      words: rollbackPolicies,
      doc: "The reaction to a wall clock that moves back: advance, reject, wait, logical or reuse. docs/clock.md has the guarantee of each.",
    }),
    "advance",
  ),
  sequenceSpread: withFallback(
    choice({
      name: "sequenceSpread",
      words: ["on", "off"],
      doc:
        "How a tick's first sequence number is chosen while the worker is not busy. on: at random from the lower quarter, so that " +
        "`id % n` spreads evenly. off: it is 0, as in Twitter's algorithm, where an idle worker issues only even IDs.",
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
    ...workerTimeRanges.window,
    doc:
      "How far ahead of use time is reserved in the store. A longer window bridges a longer outage of the store, but after a " +
      "crash the worker ID stays unusable for longer. Default: the store's; 10s for SQLite.",
  }),
  renewalPeriodMs: duration({
    name: "renewalPeriod",
    ...workerTimeRanges.renewalPeriod,
    doc:
      "The time between two renewals of the window; at most half of the window. A longer one writes less to the store, and a " +
      "shorter one leaves more of the window for an outage. Default: the store's; 2s for SQLite.",
  }),
  windowMaxMs: duration({
    name: "windowMax",
    ...workerTimeRanges.window,
    doc:
      "The longest window that any process of the namespace may take. After a loss of the store's data, new grants wait for " +
      "about as long. The first process writes it into the store; later ones leave it out or give the same. Default: the " +
      "store's, or the first process's window if that is longer; 10s for SQLite.",
  }),
  storeTimeoutMs: duration({
    name: "storeTimeout",
    minMs: 100,
    maxMs: 60_000,
    doc:
      "The longest time of one call to the store. A longer limit suits a distant store; a shorter one leaves more of the window " +
      "for an outage. Without a worker ID, connecting may take 5s more. Default: a sixth of the window, at most 5s; 5s for SQLite.",
  }),
};

/** The settings of `snowlane serve`. */
export const serverSettings = {
  listen: withFallback(
    addressOrSocket({
      name: "listen",
      namesElsewhere: ["port", "p", "host", "address", "bind", "socket"],
      doc:
        "The address that serves gRPC, gRPC-Web and Connect over HTTP/1.1 and HTTP/2. With port 0 the system chooses a free port. " +
        "An address other than loopback needs --store, and --principals, --tls-client-ca or --auth none. unix:/PATH is a socket " +
        "for programs on this machine.",
    }),
    { host: "127.0.0.1", port: 7609 },
  ),
  socketMode: withFallback(
    octalMode({
      name: "socketMode",
      doc:
        "With --listen unix:/PATH: who may connect, as the octal mode of the socket. 0600 is only this user, 0660 its group too, " +
        "0666 every user.",
    }),
    0o600,
  ),
  adminListen: address({
    name: "adminListen",
    namesElsewhere: ["metricsListen", "metricsPort"],
    doc:
      "A second address, for operators: GET /metrics, /healthz and /readyz, health, reflection and AdminService. It speaks TLS " +
      "where --listen does, and asks for no client certificate. On loopback /metrics needs no credentials. Each server of a " +
      "shared port needs one for its metrics. Default: none.",
  }),
  reusePort: onOff({
    name: "reusePort",
    doc:
      "Shares the address with other servers of this machine and this user, which give this setting too; the system spreads " +
      "connections over them. Each takes a worker ID of its own and needs an --instance of its own.",
  }),
  auth: choice({
    name: "auth",
    words: ["none", "required"],
    doc:
      "Whether every caller that reaches the address may call everything (none), or each needs credentials: those of " +
      "--principals, or a certificate of --tls-client-ca (required). Default: required with either of these two settings; " +
      "without them none on loopback, and no start on any other address.",
  }),
  principals: text({
    name: "principals",
    placeholder: "FILE",
    doc:
      "The file of the callers that may call, with their tokens, names of certificates and permissions; snowlane token prints " +
      "an entry. docs/security.md has the format. The file is read again within ten seconds after it has changed, and at once " +
      "on SIGHUP; one with a fault is not used.",
  }),
  quotaIdsPerSecond: integer({
    name: "quotaIdsPerSecond",
    min: 1,
    max: 1_000_000_000,
    doc:
      "The most IDs and values, per second, for each principal of --principals whose entry has no idsPerSecond. Default: no " +
      "limit.",
  }),
  hosts: hostNames({
    name: "hosts",
    doc:
      "The names, besides localhost and addresses, by which callers over HTTP/1.1 in cleartext may call this server: a page of " +
      "another site cannot take one by DNS rebinding. any: all names. Default on loopback: none. Default elsewhere: every name, " +
      "but a page from a named origin may call only if --cors-origin has it.",
  }),
  ...workerSettings,
  resumeDir: text({
    name: "resumeDir",
    placeholder: "DIR",
    doc:
      "The folder in which a server notes its worker ID and the end of its window. After a crash it then serves again up to that " +
      "end, even while the store does not answer: docs/stores.md. Give a folder that is local to this machine and survives restarts. " +
      "off: nothing is noted. Not with SQLite, which needs no notes. Default: one folder in the user's state directory.",
  }),
  startTimeoutMs: duration({
    name: "startTimeout",
    minMs: 1_000,
    maxMs: 86_400_000,
    doc:
      "Ends a start that has no worker ID after this time, for supervisors that restart ended processes and do not look " +
      "at probes. The exit code is that of what it waited for: 4 for the store, 6 for a worker ID or a quarantine. " +
      "Until then health says NOT_SERVING, and calls for IDs are UNAVAILABLE. Default: no limit.",
  }),
  workerIdPatienceMs: withFallback(
    duration({
      name: "waitForWorkerId",
      minMs: 0,
      maxMs: 86_400_000,
      doc:
        "How long a start waits for a worker ID to become free, where all of them are held: for layouts of few worker IDs, whose " +
        "crashed servers keep theirs for the window and 3s. --start-timeout limits this wait, too. 0ms: such a start ends at " +
        "once, with code 6.",
    }),
    0,
  ),
  ...sequenceSettings,
  waitMaxMs: withFallback(
    duration({
      name: "waitMax",
      minMs: 0,
      maxMs: 60_000,
      doc: "The longest time that a call waits for IDs or values before it is refused. A shorter deadline of the caller wins.",
    }),
    1000,
  ),
  batchCountMax: withFallback(
    integer({
      name: "batchCountMax",
      min: 1,
      max: 1e12,
      doc:
        "The most IDs or values that one BatchNextIds or BatchNextValues call may ask for. A lower one is for servers whose " +
        "callers must not take a worker ID's time for minutes.",
    }),
    1e9,
  ),
  connectionsMax: withFallback(
    integer({
      name: "connectionsMax",
      min: 1,
      max: 1_000_000,
      doc: "The most connections at one time. From nine tenths on, each new one closes the one that has been idle longest in the network that has most.",
    }),
    10_000,
  ),
  connectionsPerSecond: withFallback(
    integer({
      name: "connectionsPerSecond",
      min: 1,
      max: 1_000_000,
      doc:
        "Rate limit for new connections, per second. Half a second's worth may arrive at once, and is accepted at up to four a " +
        "millisecond; further connections queue, and networks take turns.",
    }),
    1_000,
  ),
  proxyProtocol: networks({
    name: "proxyProtocol",
    doc:
      "The networks of proxies whose connections to --listen begin with a header of the PROXY protocol, version 1 or 2, which " +
      "names the caller. A connection from there without the header is closed; from elsewhere no header is read. Give no network from " +
      "which callers come without the proxy: each could name any address. Default: none.",
  }),
  trustedProxies: networks({
    name: "trustedProxies",
    doc:
      "The networks of proxies whose X-Forwarded-For is believed: the caller is the last address in it that is not of these " +
      "networks. The header Forwarded is not read. Give no network from which callers come without the proxy: each could name " +
      "any address. Default: none.",
  }),
  http2: withFallback(
    choice({
      name: "http2",
      words: ["engine", "node"],
      doc:
        "The implementation of HTTP/2. engine: this project's, which answers a request for an ID in a tenth of the CPU time. node: " +
        "Node's own, for comparison, and in case a client does not work with the engine. docs/http2.md has what callers see of the " +
        "difference.",
    }),
    // docs/adr/0113 says what had to be true first.
    "engine",
  ),
  http2Limits: withFallback(
    http2Limits({
      name: "http2Limits",
      doc:
        "Limits of the HTTP/2 engine that differ from their defaults, each by its name in the table of docs/http2.md: " +
        "idleTimeoutMs=60000,pingsPerSecond=100. The value off turns a time limit off.",
    }),
    {},
  ),
  tlsCert: text({
    name: "tlsCert",
    placeholder: "FILE",
    doc: "Serves TLS 1.3 and 1.2 only, with this certificate chain (PEM). Needs --tls-key. When the file is replaced, it is read again.",
  }),
  tlsKey: text({ name: "tlsKey", placeholder: "FILE", doc: "The private key of --tls-cert (PEM)." }),
  tlsClientCa: text({
    name: "tlsClientCa",
    placeholder: "FILE",
    doc:
      "Accepts only callers with a certificate that one of these authorities (PEM) has signed. Needs --tls-cert. Without " +
      "--principals every one of them may call everything.",
  }),
  tlsClientAuth: withFallback(
    choice({
      name: "tlsClientAuth",
      words: ["required", "optional"],
      doc:
        "Whether a caller must show a certificate of --tls-client-ca. optional is for a port where some callers have a " +
        "certificate, and others send a token of --principals instead. A certificate of another authority ends the connection in both cases.",
    }),
    "required",
  ),
  corsOrigins: withFallback(
    origins({
      name: "corsOrigin",
      doc:
        "The origins, besides the server's own, whose pages may call it from a browser. Write each exactly as the browser does: " +
        "scheme, host, and port unless it is the scheme's default. A star stands for a part of the host's first label, as in " +
        "https://pr-*.preview.example.com; give one only where nobody else decides about such names.",
    }),
    [],
  ),
  page: withFallback(
    choice({
      name: "page",
      words: ["on", "off"],
      doc:
        "Whether the server serves the page at / that generates, reads and explains IDs in a browser: docs/page.md. Its files " +
        "hold no secret. off is for operators whose rules forbid the page: GET / is then 404.",
    }),
    "on",
  ),
  metrics: withFallback(
    choice({
      name: "metrics",
      words: ["on", "off"],
      doc:
        "Whether the server counts its calls and answers GET /metrics in Prometheus' text format: docs/metrics.md. Where callers " +
        "need credentials, a scrape needs the permission observe. off is for measuring what counting costs: GET /metrics is then " +
        "404, and the samples of GetStatus, which snowlane status shows, have 0 calls and errors, and no p50 and p99.",
    }),
    "on",
  ),
  connectionAgeMs: duration({
    name: "connectionAge",
    minMs: 1_000,
    maxMs: 604_800_000,
    doc:
      "The age by which a connection is ended after its last call, from nine tenths of it on, so that clients connect again and spread over all servers. " +
      "HTTP/2 gets GOAWAY, HTTP/1.1 Connection: close. Calls in flight have the drain time. Default: no limit.",
  }),
  networkStreamsMax: withFallback(
    integer({
      name: "networkStreamsMax",
      min: 1,
      max: 1_000_000,
      doc:
        "The most answers in a stream at one time to callers of one network that show no credentials: Health/Watch, and all " +
        "methods where --auth is none. A network is an IPv4 address, or the first 64 bits of an IPv6 address. Principals have " +
        "a quota of their own.",
    }),
    1_000,
  ),
  stallTimeoutMs: withFallback(
    duration({
      name: "stallTimeout",
      minMs: 100,
      maxMs: 3_600_000,
      doc: "How long a response may wait for a reader that takes less than 16 kB of it in this time. Then the response is ended, a stream with STREAM_STALLED.",
    }),
    30_000,
  ),
  drainTimeoutMs: withFallback(
    duration({
      name: "drainTimeout",
      minMs: 0,
      maxMs: 600_000,
      doc: "How long calls in flight may run on after SIGTERM or Ctrl-C.",
    }),
    10_000,
  ),
  backfillKnownSince: storeStatement({
    name: "backfillKnownSince",
    doc:
      "Offers ClaimPast to callers with the permission manage, and states since when every ID of this layout came from the " +
      "store with this fingerprint. In another store ClaimPast is off. docs/back-fill.md says what it means. Default: ClaimPast is off.",
  }),
  backfillStoreKeptUntil: moment({
    name: "backfillStoreKeptUntil",
    doc:
      "For ClaimPast: a time up to which the store lost nothing that it had confirmed. Default: nothing is stated, and claims " +
      "begin after the last sign of a loss.",
  }),
  issueLog: text({
    name: "issueLog",
    placeholder: "FILE",
    doc:
      "For proofs: appends every run of IDs to this file before the run is given out. A run has 16 bytes: the first ID, the count, " +
      "and the binary logarithm of the distance between neighbours (8, 4 and 4 bytes, the highest first). Each call then costs " +
      "a write to the file. Default: no log.",
  }),
  traceCallsPerSecond: withFallback(
    integer({
      name: "traceCallsPerSecond",
      min: 1,
      max: 10_000,
      doc:
        "The most calls, per second, that are traced, of those whose callers say that they are sampled: a caller that samples all " +
        "of its calls costs no other one more than that. Raise it where snowlane_sampled_calls_total shows that traces miss " +
        "calls. Calls are traced where " +
        "OTEL_EXPORTER_OTLP_ENDPOINT names a receiver: docs/operations.md.",
    }),
    100,
  ),
  logCalls: withFallback(
    choice({
      name: "logCalls",
      words: ["none", "refused"],
      doc:
        "Which calls have log lines, at the level info, for an operator who must be able to say who was refused. refused: those that were refused for credentials, permission, quota or " +
        "host, with method, principal and address; ten lines a reason in ten seconds, and then the number of the others.",
    }),
    "none",
  ),
  logLevel: withFallback(
    choice({
      name: "logLevel",
      placeholder: "LEVEL",
      words: ["debug", "info", "warn", "error"],
      doc: "The lowest level of log lines that are written: debug, info, warn or error.",
    }),
    "info",
  ),
  logFormat: withFallback(
    choice({
      name: "logFormat",
      placeholder: "FORMAT",
      words: ["auto", "text", "json"],
      doc:
        "The format of log lines, on standard error: text for people, json with one object a line, or auto, which is text on a " +
        "terminal and under npm start, and json otherwise. With text, a few lines about the server are on standard output; with " +
        "json, nothing is there.",
    }),
    "auto",
  ),
};

/** The settings of `snowlane serve` with their values. */
export type ServerConfig = SettingValues<typeof serverSettings>;

/** The settings with which a command holds a worker ID, with their values. */
export type WorkerConfig = SettingValues<typeof workerSettings>;
