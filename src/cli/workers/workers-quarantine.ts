import { systemClock } from "../../clock/clock.ts";
import { duration, formatSpan, moment } from "../../config/setting-kinds.ts";
import { storeSettings } from "../../config/store-settings.ts";
import { resolveStoreUrl } from "../../config/resolve-server.ts";
import { problemsOf } from "../../config/resolved.ts";
import { createLog } from "../../server/log.ts";
import { storeNowMs, writeQuarantine } from "../../lease/quarantine.ts";
import type { RecordStore } from "../../store/record-store.ts";
import { quarantineMs } from "../../lease/window.ts";
import { parseLayoutRecord } from "../../lease/records/layout-slot.ts";
import { recordKeys } from "../../lease/records/record-text.ts";
import type { Command } from "../command.ts";
import { CommandError, exitCodes } from "../exit-code.ts";
import { openRecords } from "../store/open-records.ts";
import { noLayout } from "../store/stored-layout.ts";
import { reasonOption } from "../reason-option.ts";
import { timeOf } from "../printable.ts";

/** A mark can only be raised, so a typing error must not close a store for years. */
const lengthMaxMs = 604_800_000;

const options = {
  reason: reasonOption(
    "The reason, for the log and for the list of workers: 1 to 200 printable ASCII characters. Required.",
  ),
  until: moment({
    name: "until",
    doc: "The end of the quarantine: a time with its offset, at most seven days ahead. Default: see --for.",
  }),
  lengthMs: duration({
    name: "for",
    minMs: 1_000,
    maxMs: lengthMaxMs,
    doc:
      "How long the quarantine lasts from now on. Default, and the minimum: the longest window of the namespace, the lead and " +
      "the error of two clocks; 13s for an SQLite store, 33s for PostgreSQL.",
  }),
};

/** `snowlane workers quarantine`. */
export const workersQuarantine: Command<typeof storeSettings, typeof options> = {
  name: "workers quarantine",
  summary:
    "Keeps the whole store from granting worker IDs for a while: a step of the runbook after a store was restored",
  settings: storeSettings,
  options,
  examples: [
    "snowlane workers quarantine --store etcd://etcd-1 --reason 'restored from the snapshot of 03:00'",
    "snowlane workers quarantine --reason 'rehearsal' --for 2m",
  ],
  check: (settings, { reason, until, lengthMs }, environment) => [
    ...problemsOf(resolveStoreUrl(settings, environment)),
    ...(reason === undefined
      ? [{ place: "--reason", hint: "Give the reason, such as 'the store was restored'." }]
      : []),
    ...(until !== undefined && lengthMs !== undefined
      ? [{ place: "--for", hint: "Give --for or --until, not both." }]
      : []),
  ],
  run: async ({ settings, options: { reason = "", until, lengthMs }, environment, stdout, stderr }) => {
    const store = await openRecords(settings, environment);
    try {
      const nowMs = storeNowMs(await store.moment(), systemClock.nowMs());
      const leastMs = await leastLengthMs(store);
      if (leastMs === undefined && until === undefined && lengthMs === undefined)
        throw await noLayout(store, settings.namespace);
      const wantedMs = until === undefined ? (lengthMs ?? leastMs ?? 0) : until - nowMs;
      checkLength(wantedMs, leastMs ?? 0);
      const mark = { sinceMs: nowMs, untilMs: nowMs + wantedMs, reason };
      const { untilMs, written } = await writeQuarantine(store, mark);
      if (leastMs === undefined) {
        stderr.write(`snowlane: Namespace ${settings.namespace} has no layout record: check that its name is right.\n`);
      }
      if (!written) {
        stdout.write(`There is a longer quarantine already, until ${timeOf(untilMs)}: nothing was changed.\n`);
        return exitCodes.done;
      }
      const log = createLog({
        level: "info",
        format: "text",
        write: (line) => void stderr.write(line),
        nowMs: () => systemClock.nowMs(),
      });
      log.warn("An operator put the store under quarantine", { until: timeOf(untilMs), reason });
      stdout.write(
        `No worker ID is granted before ${timeOf(untilMs)}; holders go on. snowlane workers shows the quarantine.\n`,
      );
      return exitCodes.done;
    } finally {
      await store.close();
    }
  },
};

/** undefined where no process has written yet how long windows are. */
async function leastLengthMs(store: RecordStore): Promise<number | undefined> {
  const { entry } = await store.read(recordKeys.layout);
  return entry && quarantineMs(parseLayoutRecord(entry.text));
}

function checkLength(wantedMs: number, leastMs: number): void {
  const shown = formatSpan(Math.round(wantedMs / 1_000) * 1e9);
  if (wantedMs < leastMs) {
    const least = formatSpan(Math.ceil(leastMs / 1_000) * 1e9);
    const wanted = wantedMs < 0 ? "A quarantine that ends in the past" : `A quarantine of ${shown}`;
    const message = `${wanted} is too short: windows that the store forgot may be in use for ${least}. Give at least that.`;
    throw new CommandError(message, exitCodes.usage);
  }
  if (wantedMs > lengthMaxMs) {
    const message = `That quarantine is too long: it cannot be undone, and no process would be granted a worker ID meanwhile. Give seven days at most.`;
    throw new CommandError(message, exitCodes.usage);
  }
}
