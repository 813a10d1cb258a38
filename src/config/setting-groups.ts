/** Settings of one subject, by their names. */
export interface SettingGroup {
  readonly title: string;
  /** One or two sentences on all of them; absent where the title is enough. */
  readonly note?: string;
  readonly names: readonly string[];
}

/**
 * Every setting of a server once, by subject: for help and for docs/configuration.md. The first group is what an
 * operator needs on the first day.
 */
export const serverSettingGroups: readonly SettingGroup[] = [
  {
    title: "Most needed",
    names: [
      "listen",
      "adminListen",
      "store",
      "namespace",
      "auth",
      "principals",
      "layout",
      "datacenterId",
      "workerId",
      "instance",
      "tlsCert",
      "tlsKey",
      "tlsClientCa",
      "logLevel",
      "logFormat",
    ],
  },
  { title: "Layout of your own", names: ["layoutFields", "epoch", "tick"] },
  { title: "Worker IDs", names: ["datacenterIds", "workerIds", "waitForWorkerId", "startTimeout"] },
  { title: "The store and its window", names: ["storeFile", "create", "resumeDir", "window", "windowMax"] },
  { title: "Clock and issuing", names: ["rollbackPolicy", "sequenceSpread", "waitMax"] },
  { title: "IDs for the past", names: ["backfillKnownSince", "backfillStoreKeptUntil"] },
  { title: "Sequences", names: ["sequenceStores", "sequenceStripes"] },
  { title: "Callers", names: ["quotaIdsPerSecond", "tlsClientAuth", "hosts", "corsOrigin", "page", "logCalls"] },
  {
    title: "Connections",
    names: ["socketMode", "reusePort", "connectionAge", "drainTimeout", "proxyProtocol", "trustedProxies"],
  },
  {
    title: "Tuning",
    note:
      "Leave these alone: the defaults suit small and large deployments. Change one only where an error, a log line or a " +
      "measurement of your own names it.",
    names: [
      "burst",
      "batchCountMax",
      "storeTimeout",
      "renewalPeriod",
      "sequenceStoreTimeout",
      "sequenceConnections",
      "sequencesInMemory",
      "connectionsMax",
      "connectionsPerSecond",
      "networkStreamsMax",
      "stallTimeout",
      "http2",
      "http2Limits",
      "metrics",
      "traceCallsPerSecond",
      "issueLog",
    ],
  },
];
