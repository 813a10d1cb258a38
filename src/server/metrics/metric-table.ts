/** The description of one metric. Units are base units: seconds, bytes. */
export interface Metric {
  readonly type: "counter" | "gauge" | "histogram";
  /** Every label has a bounded number of values, whatever callers send. */
  readonly labels?: readonly string[];
  readonly help: string;
}

/**
 * Every metric of a server. `/metrics` and docs/metrics.md are made from this table. A counter grows from 0 since the
 * process started.
 */
export const metricTable = {
  snowlane_calls_total: {
    type: "counter",
    labels: ["method", "code"],
    help: "Calls that have ended, by method and gRPC status code. Methods that do not exist count as other.",
  },
  snowlane_call_seconds: {
    type: "histogram",
    labels: ["method"],
    help: "Time from the request to the end of the answer, in the server.",
  },
  snowlane_refused_total: {
    type: "counter",
    labels: ["why"],
    help: "Calls that were refused before anything was done for them, by cause.",
  },
  snowlane_sampled_calls_total: {
    type: "counter",
    labels: ["outcome"],
    help: "Calls whose callers sampled them: traced, or untraced for the limit of each second. Absent where no receiver is named.",
  },
  snowlane_streams: { type: "gauge", help: "Streams of answers that have not ended." },
  snowlane_ids_issued_total: { type: "counter", help: "IDs handed out." },
  snowlane_waiting_calls: { type: "gauge", help: "Calls that wait for IDs." },
  snowlane_waited_calls_total: { type: "counter", help: "Calls that had to wait for IDs." },
  snowlane_serving: { type: "gauge", help: "1 while IDs can be issued, else 0." },
  snowlane_lead_seconds: { type: "gauge", help: "How far issued timestamps are ahead of the wall clock." },
  snowlane_window_left_seconds: {
    type: "gauge",
    help: "Rest of the reserved window: how long IDs can be issued without the store. 0 without a worker ID.",
  },
  snowlane_window_seconds: { type: "gauge", help: "Length of a whole window. Absent without a worker ID." },
  snowlane_grant_info: {
    type: "gauge",
    labels: ["datacenter", "worker"],
    help: "1, with the worker ID that is held. Absent while none is held.",
  },
  snowlane_grant_generation: {
    type: "gauge",
    help: "How often this worker ID was granted, to any process. Absent while none is held.",
  },
  snowlane_worker_events_total: {
    type: "counter",
    labels: ["event"],
    help: "Events in the life of the worker ID.",
  },
  snowlane_store_up: { type: "gauge", help: "1 if the store answered the last call, else 0." },
  snowlane_store_answer_age_seconds: {
    type: "gauge",
    help: "Time since the last answer of the store. Absent before the first.",
  },
  snowlane_store_clock_ahead_seconds: {
    type: "gauge",
    help: "How far the clock of the store is ahead of ours. Absent where the store has none.",
  },
  snowlane_worker_ids: {
    type: "gauge",
    labels: ["state"],
    help: "Worker IDs of the namespace by state. Absent until the store was asked, after the first scrape.",
  },
  snowlane_never_held_worker_ids: {
    type: "gauge",
    help: "Worker IDs that no server or library ever held. Claims of the past take these first.",
  },
  snowlane_worker_list_age_seconds: {
    type: "gauge",
    help: "Age of the two metrics before. A scrape has them read again when they are older than a minute.",
  },
  snowlane_layout_left_seconds: { type: "gauge", help: "Time until the layout has no timestamp left." },
  snowlane_values_issued_total: { type: "counter", help: "Values of sequences handed out." },
  snowlane_sequences: { type: "gauge", help: "Sequences in memory." },
  snowlane_sequence_stock_seconds: {
    type: "gauge",
    help: "How long the values in memory last, of the sequence whose values end first. Absent where none is in use.",
  },
  snowlane_sequence_takes_total: {
    type: "counter",
    labels: ["outcome"],
    help: "Takes of values from the database of sequences. One that failed may leave a gap.",
  },
  snowlane_sequence_stopped: {
    type: "gauge",
    help: "1 while the database of sequences is stopped after a loss or a move, else 0.",
  },
  snowlane_sequence_events_total: {
    type: "counter",
    labels: ["event"],
    help: "How often the database of sequences was found stopped, and how often it opened again.",
  },
  snowlane_connections: {
    type: "gauge",
    labels: ["protocol"],
    help: "Open connections. new: those that have not sent enough to tell the protocol, or wait for admission.",
  },
  snowlane_connections_refused_total: {
    type: "counter",
    labels: ["why"],
    help: "Connections that were closed without a call, or to make room, by cause.",
  },
  snowlane_tls_expiry_seconds: {
    type: "gauge",
    help: "When the certificate of the server ends, in Unix time. Absent in cleartext.",
  },
  snowlane_principals: { type: "gauge", help: "Principals in use. Absent without --principals." },
  snowlane_principal_ids_total: {
    type: "counter",
    labels: ["principal"],
    help: "IDs and values handed out to each principal of the file: at most 1,000.",
  },
  snowlane_principal_refused_total: {
    type: "counter",
    labels: ["principal"],
    help: "Calls of each principal that were refused, for its quota or for a missing permission.",
  },
  snowlane_principal_quota_ids_per_second: {
    type: "gauge",
    labels: ["principal"],
    help: "The quota of IDs and values of each principal that has one.",
  },
  nodejs_eventloop_lag_p99_seconds: {
    type: "gauge",
    help: "Delay of the event loop that 1 in 100 exceeded since the scrape before. 0 in the first scrape.",
  },
  snowlane_build_info: { type: "gauge", labels: ["version", "node"], help: "1, with the versions of server and Node." },
  process_cpu_seconds_total: { type: "counter", help: "Processor time of the process." },
  process_resident_memory_bytes: { type: "gauge", help: "Memory of the process that is in RAM." },
  process_start_time_seconds: { type: "gauge", help: "When the process started, in Unix time." },
  process_open_fds: { type: "gauge", help: "Open file descriptors. Absent where the system does not report it." },
  process_max_fds: {
    type: "gauge",
    help: "The limit of open file descriptors. Absent where the system does not report it, or has none.",
  },
  snowlane_log_lines_lost_total: {
    type: "counter",
    help: "Log lines that could not be written: the disk was full, or the reader was gone or read nothing.",
  },
  nodejs_heap_size_used_bytes: { type: "gauge", help: "Memory of JavaScript objects." },
} as const satisfies Readonly<Record<string, Metric>>;

/** The name of a metric. */
export type MetricName = keyof typeof metricTable;
