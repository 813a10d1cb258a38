import { systemClock } from "../clock/clock.ts";
import { onOff } from "../config/setting-kinds.ts";
import { storeSettings } from "../config/store-settings.ts";
import { resolveStoreUrl } from "../config/resolve-server.ts";
import { problemsOf, valueOf } from "../config/resolved.ts";
import { IdError } from "../errors.ts";
import { listenForStop } from "../server/stop-signal.ts";
import { listWorkers } from "../operator/worker-list.ts";
import type { Command, CommandInput, CommandContext } from "./command.ts";
import { CommandError, exitCodes } from "./exit-code.ts";
import { openRecords, placeOf } from "./open-records.ts";
import { paintFor } from "./paint.ts";
import { serverOption } from "./server-option.ts";
import { noLayout } from "./stored-layout.ts";
import { type ShownWorkers, workersToJson, workersToTable } from "./worker-rows.ts";

const options = {
  server: serverOption(
    "Asks a server for the worker IDs of its store. Default: reads the store, for which no server has to run.",
  ),
  json: onOff({ name: "json", doc: "Prints one JSON object a line, for programs." }),
  watch: onOff({ name: "watch", doc: "Prints the list again every two seconds, until Ctrl-C." }),
};

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
  check: (settings, { server }, environment) =>
    server === undefined ? problemsOf(resolveStoreUrl(settings, environment)) : [],
  run: async (input) => {
    const { look, close } = await openLook(input);
    try {
      if (!input.options.watch) show(input, await look());
      else await watch(input, look);
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

async function openLook({ settings, options: { server }, environment }: Input): Promise<Look> {
  if (server !== undefined) {
    const { askForWorkers } = await import("./remote-workers.ts");
    return { look: () => askForWorkers(server), close: async () => undefined };
  }
  const store = await openRecords(settings, environment);
  const from = { store: placeOf(valueOf(resolveStoreUrl(settings, environment))), namespace: settings.namespace };
  return {
    look: async () => {
      const list = listWorkers(store, await store.list(), systemClock.nowMs());
      if (list.layoutRecord === undefined) throw await noLayout(store, settings.namespace);
      return { ...list, from };
    },
    close: () => store.close(),
  };
}

function show({ options: { json }, stdout, environment }: Input, workers: ShownWorkers): void {
  stdout.write(json ? `${workersToJson(workers)}\n` : workersToTable(workers, paintFor(stdout, environment)));
}

const watchPeriodMs = 2_000;
/** Moves to the top left, then clears the rest of the screen: a full clear would flicker. */
const [cursorHome, clearBelow] = ["\u001b[H", "\u001b[J"];
const clearScreen = "\u001b[2J";

/** Reads again and again. A failure is reported, and the next read follows. */
async function watch(input: Input, look: Look["look"]): Promise<void> {
  const { stdout, stderr, process, options } = input;
  const stop = listenForStop(process, systemClock);
  const redraws = stdout.isTTY === true && !options.json;
  if (redraws) stdout.write(clearScreen);
  try {
    for (let round = 0; !stop.signal.aborted; round += 1) {
      if (redraws) stdout.write(cursorHome + clearBelow);
      else if (round > 0 && !options.json) stdout.write("\n");
      await look().then(
        (found) => show(input, found),
        (error: unknown) => tell(stderr, error, round),
      );
      await pause(watchPeriodMs, stop.signal);
    }
  } finally {
    stop.dispose();
  }
}

/** The first read fails as without --watch: a fault at that time is most likely permanent. */
function tell(stderr: CommandContext["stderr"], error: unknown, round: number): void {
  if (round === 0 || !(error instanceof IdError || error instanceof CommandError)) throw error;
  stderr.write(`snowlane: ${error.message}\n`);
}

function pause(lengthMs: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(end, lengthMs);
    function end(): void {
      clearTimeout(timer);
      signal.removeEventListener("abort", end);
      resolve();
    }
    signal.addEventListener("abort", end);
    if (signal.aborted) end();
  });
}
