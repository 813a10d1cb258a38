import { version } from "../../version.ts";
import { countOpenFiles, readOpenFilesMax } from "../listen/open-files.ts";
import type { MetricSources } from "./metric-sources.ts";
import { one, seconds } from "./sample.ts";

/** The metrics of the process. */
export function processSamples({ lag, clock, readLostLines }: Pick<MetricSources, "lag" | "clock" | "readLostLines">) {
  const { user, system } = process.cpuUsage();
  const memory = process.memoryUsage();
  const [fileCount, filesMax] = [countOpenFiles(), readOpenFilesMax()];
  return {
    snowlane_build_info: [[[version, process.versions.node], 1] as const],
    nodejs_eventloop_lag_p99_seconds: [seconds(lag.readMs())],
    process_cpu_seconds_total: [one((user + system) / 1e6)],
    process_resident_memory_bytes: [one(memory.rss)],
    process_start_time_seconds: [seconds(clock.nowMs() - process.uptime() * 1_000)],
    process_open_fds: fileCount === undefined ? [] : [one(fileCount)],
    process_max_fds: filesMax === undefined ? [] : [one(filesMax)],
    snowlane_log_lines_lost_total: [one(readLostLines())],
    nodejs_heap_size_used_bytes: [one(memory.heapUsed)],
  };
}
