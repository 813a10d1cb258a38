/** A program that measures, or shows what happens under faults, and is not a test. */
export interface MeasuringProgram {
  /** The word behind `npm run measure --`, and the file in this folder. */
  readonly name: string;
  /** About how long it takes on two cores without options. */
  readonly minutes: number;
  /** What it does, without a full stop. */
  readonly about: string;
}

/** All of them, in the order in which they are listed. */
export const measuringPrograms: readonly MeasuringProgram[] = [
  { name: "bench", minutes: 180, about: "all benchmarks; one: NAME of the benchmark" },
  { name: "compare", minutes: 20, about: "this build beside that of another checkout" },
  { name: "soak", minutes: 10, about: "a server under calls of every kind, for as long as you like" },
  { name: "faults", minutes: 4, about: "faults below real servers; --size full takes hours" },
  { name: "fault-lines", minutes: 12, about: "what the log and doctor say of each fault of a store" },
  { name: "clients", minutes: 4, about: "what dark connections cost each client" },
  { name: "losses", minutes: 6, about: "losses of data of each store, and what shows of them" },
  { name: "recovery", minutes: 25, about: "for how long IDs are refused after a store's fault" },
  { name: "churn", minutes: 7, about: "servers that are killed and replaced under load" },
  { name: "crowd", minutes: 3, about: "more servers on PostgreSQL than it has connections" },
  { name: "scale", minutes: 15, about: "many servers on one store: starts, outages, writes" },
  { name: "newest-servers", minutes: 30, about: "the suite stores on newer versions of the servers" },
  { name: "clickhouse", minutes: 1, about: "the functions of snowlane sql in a real ClickHouse" },
  { name: "record", minutes: 1, about: "the README's picture of a terminal" },
];
