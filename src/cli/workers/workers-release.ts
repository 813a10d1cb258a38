import { systemClock, systemTimers } from "../../clock/clock.ts";
import { integer } from "../../config/setting-kinds.ts";
import { storeSettings } from "../../config/store-settings.ts";
import { resolveStoreUrl } from "../../config/resolve-server.ts";
import { problemsOf } from "../../config/resolved.ts";
import { createLog } from "../../server/log.ts";
import type { Layout } from "../../snowflake/layout.ts";
import { kernelRandom128 } from "../../kernel-random.ts";
import { type ExpiredRelease, releaseExpired } from "../../operator/release-expired.ts";
import type { Command, CommandContext } from "../command.ts";
import { CommandError, exitCodes } from "../exit-code.ts";
import { openRecords } from "../store/open-records.ts";
import { reasonOption } from "../reason-option.ts";
import { nameWorker } from "../../lease/worker-settings.ts";
import { readStoredLayout } from "../store/stored-layout.ts";
import { timeOf } from "../printable.ts";

const options = {
  workerId: integer({ name: "workerId", min: 0, max: 2 ** 31 - 1, doc: "The worker ID to give back. Required." }),
  datacenterId: integer({
    name: "datacenterId",
    min: 0,
    max: 2 ** 31 - 1,
    doc: "The datacenter of the worker ID. Required where the layout has datacenters.",
  }),
  reason: reasonOption("The reason, for readers of the log: 1 to 200 printable ASCII characters. Required."),
};

/** `snowlane workers release`. */
export const workersRelease: Command<typeof storeSettings, typeof options> = {
  name: "workers release",
  summary: "Gives back a worker ID whose holder died; its mark stays, and the worker ID of a living holder is refused",
  settings: storeSettings,
  options,
  examples: [
    "snowlane workers release --datacenter-id 3 --worker-id 5 --reason 'the host is gone'",
    "snowlane workers release --store etcd://etcd-1,etcd-2 --datacenter-id 0 --worker-id 1 --reason 'ticket 42'",
  ],
  check: (settings, { workerId, reason }, environment) => [
    ...problemsOf(resolveStoreUrl(settings, environment)),
    ...(workerId === undefined ? [{ place: "--worker-id", hint: "Give the worker ID, such as 5." }] : []),
    ...(reason === undefined ? [{ place: "--reason", hint: "Give the reason, such as 'the host is gone'." }] : []),
  ],
  run: async ({ settings, options: { workerId = 0, datacenterId, reason }, environment, stderr, stdout }) => {
    const store = await openRecords(settings, environment);
    try {
      const { layout } = await readStoredLayout(store, settings.namespace);
      const workerIndex = indexOf(layout, workerId, datacenterId);
      if (store.liveness.kind === "ttl" && (await store.moment()).clockMs === undefined) {
        stderr.write(
          "snowlane: The store has no clock: the record is watched first, to see that no process renews it.\n",
        );
      }
      const ports = { clock: systemClock, timers: systemTimers, random128: kernelRandom128 };
      const outcome = await releaseExpired(store, workerIndex, ports);
      const place = { datacenterId: datacenterId ?? 0, workerId, name: nameWorker(layout, workerIndex) };
      return tell(outcome, { place, reason: reason ?? "", stdout, stderr });
    } finally {
      await store.close();
    }
  },
};

function indexOf(layout: Layout, workerId: number, datacenterId: number | undefined): number {
  if (layout.datacenter.bits > 0 && datacenterId === undefined) {
    throw usage("--datacenter-id: Give it: the layout of this namespace counts workers within a datacenter.");
  }
  if (layout.datacenter.bits === 0 && (datacenterId ?? 0) !== 0) {
    throw usage(`--datacenter-id is ${datacenterId}. Leave it out: the layout of this namespace has no datacenters.`);
  }
  const bounds = [
    ["--datacenter-id", datacenterId ?? 0, layout.datacenter.max],
    ["--worker-id", workerId, layout.worker.max],
  ] as const;
  for (const [place, value, max] of bounds) {
    if (value > max) throw usage(`${place} is ${value}. The layout of this namespace allows 0 to ${max}.`);
  }
  return (datacenterId ?? 0) * 2 ** layout.worker.bits + workerId;
}

function usage(message: string): CommandError {
  return new CommandError(message, exitCodes.usage);
}

/** A worker ID, and its name in a sentence. */
interface Place {
  readonly datacenterId: number;
  readonly workerId: number;
  readonly name: string;
}

function tell(
  outcome: ExpiredRelease,
  { place, reason, stdout, stderr }: Pick<CommandContext, "stdout" | "stderr"> & { place: Place; reason: string },
): number {
  const { name, datacenterId, workerId } = place;
  if (outcome.kind === "absent") {
    stdout.write(`Worker ID ${name} was never held: there is nothing to give back.\n`);
    return exitCodes.done;
  }
  const { holder, markMs, generation } = outcome.record;
  const by = `${holder.instance} (process ${holder.processId} on ${holder.host})`;
  if (outcome.kind === "was-released") {
    stdout.write(`Worker ID ${name} was given back earlier, by ${by}: nothing was changed.\n`);
    return exitCodes.done;
  }
  if (outcome.kind === "held") {
    const { untilMs } = outcome;
    const hint = "Stop it with SIGTERM, and it gives its worker ID back itself";
    const until = untilMs === undefined ? `${hint}.` : `${hint}; if it died, try again after ${timeOf(untilMs)}.`;
    throw new CommandError(`Worker ID ${name} is held by ${by}: nothing was changed. ${until}`, exitCodes.refused);
  }
  const log = createLog({
    level: "info",
    format: "text",
    write: (line) => void stderr.write(line),
    nowMs: () => systemClock.nowMs(),
  });
  const { instance, host, processId } = holder;
  log.warn("An operator gave an expired worker ID back", {
    datacenterId,
    workerId,
    reason,
    generation,
    mark: timeOf(markMs),
    instance,
    host,
    processId,
  });
  stdout.write(`Worker ID ${name} is given back. Its next holder begins at its mark, ${timeOf(markMs)}.\n`);
  return exitCodes.done;
}
