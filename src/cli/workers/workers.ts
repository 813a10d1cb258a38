import { systemClock } from "../../clock/clock.ts";
import { onOff } from "../../config/setting-kinds.ts";
import { storeSettings } from "../../config/store-settings.ts";
import { resolveStoreUrl } from "../../config/resolve-server.ts";
import { problemsOf, valueOf } from "../../config/resolved.ts";
import { listWorkers } from "../../lease/worker-list.ts";
import type { Command, CommandInput } from "../command.ts";
import { exitCodes } from "../exit-code.ts";
import { placeOf } from "../../store/store-place.ts";
import { openRecords } from "../store/open-records.ts";
import { paintFor } from "../paint.ts";
import { problemsOfAccess, readAccess, serverOptions } from "../server/server-access.ts";
import { noLayout } from "../store/stored-layout.ts";
import { watch } from "../server/watch.ts";
import { type ShownWorkers, workersToJson, workersToTable } from "./worker-rows.ts";

const options = {
  ...serverOptions("Asks a server for the worker IDs of its store. Default: reads the store, without a server."),
  json: onOff({ name: "json", doc: "Prints one JSON object a line, for programs." }),
  watch: onOff({ name: "watch", doc: "Prints the list again every two seconds, until Ctrl-C." }),
};

const watchPeriodMs = 2_000;

type Input = CommandInput<typeof storeSettings, typeof options>;

/** `snowlane workers`. */
export const workers: Command<typeof storeSettings, typeof options> = {
  name: "workers",
  summary: "Lists the worker IDs that were ever held: holder, start, mark, and how many are free",
  settings: storeSettings,
  options,
  examples: [
    "snowlane workers",
    "snowlane workers --watch --server http://127.0.0.1:7609",
    "snowlane workers --store postgres://snowlane@db/snowlane --json",
    "snowlane workers release --worker-id 5 --datacenter-id 3 --reason 'the host is gone'",
    "snowlane workers quarantine --reason 'the store was restored'",
  ],
  check: (settings, options, environment) => [
    ...(options.server === undefined ? problemsOf(resolveStoreUrl(settings, environment)) : []),
    ...problemsOfAccess(options),
  ],
  run: async (input) => {
    const { look, close } = await openLook(input);
    try {
      if (!input.options.watch) show(input, await look());
      else
        await watch(input, {
          json: input.options.json,
          periodMs: watchPeriodMs,
          look,
          show: (found) => show(input, found),
        });
    } finally {
      await close();
    }
    return exitCodes.done;
  },
};

interface Look {
  readonly look: () => Promise<ShownWorkers>;
  readonly close: () => Promise<void>;
}

async function openLook({ settings, options, environment }: Input): Promise<Look> {
  const { server } = options;
  if (server !== undefined) {
    const access = await readAccess({ ...options, server });
    const { askForWorkers } = await import("./remote-workers.ts");
    return { look: () => askForWorkers(access), close: async () => undefined };
  }
  const store = await openRecords(settings, environment);
  const from = { store: placeOf(valueOf(resolveStoreUrl(settings, environment))), namespace: settings.namespace };
  return {
    look: async () => {
      const list = await listWorkers(store, await store.list(), systemClock.nowMs());
      if (list.layoutRecord === undefined) throw await noLayout(store, settings.namespace);
      return { ...list, from };
    },
    close: () => store.close(),
  };
}

function show({ options: { json }, stdout, environment }: Input, workers: ShownWorkers): void {
  stdout.write(json ? `${workersToJson(workers)}\n` : workersToTable(workers, paintFor(stdout, environment)));
}
