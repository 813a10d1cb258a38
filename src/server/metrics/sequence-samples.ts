import type { MetricSources } from "./metric-sources.ts";
import { one, type Sample, seconds } from "./sample.ts";

/** The metrics of sequences; none where the server has no database for them. */
export function sequenceSamples({ sequences }: Pick<MetricSources, "sequences">) {
  const status = sequences?.status();
  const of = (samples: (found: NonNullable<typeof status>) => readonly Sample[]) =>
    status === undefined ? [] : samples(status);
  return {
    snowlane_values_issued_total: of(({ issued }) => [one(issued)]),
    snowlane_sequences: of(({ names }) => [one(names)]),
    snowlane_sequence_stock_seconds: of(({ stockMs }) => (Number.isFinite(stockMs) ? [seconds(stockMs)] : [])),
    snowlane_sequence_takes_total: of(({ taken, refused, failed }) => [
      [["taken"], taken],
      [["refused"], refused],
      [["failed"], failed],
    ]),
    snowlane_sequence_stopped: of(({ stopped }) => [one(stopped ? 1 : 0)]),
    snowlane_sequence_events_total: of(({ stops, openings }) => [
      [["stopped"], stops],
      [["opened"], openings],
    ]),
  };
}
