import { once } from "node:events";
import { systemClock } from "../../clock/clock.ts";
import { workerSettings } from "../../config/server-settings.ts";
import { serverSettingGroups } from "../../config/setting-groups.ts";
import { withFallback } from "../../config/setting.ts";
import { choice, integer } from "../../config/setting-kinds.ts";
import { resolveWorker } from "../../config/resolve-server.ts";
import { problemsOf, valueOf } from "../../config/resolved.ts";
import { resolveTextFormat, writingOptions } from "../../config/text-settings.ts";
import type { Command, CommandInput } from "../command.ts";
import { exitCodes } from "../exit-code.ts";
import { watchOutput } from "../output-end.ts";
import { createIdWriter, idFormats } from "./id-format.ts";
import { startProgress } from "./progress.ts";
import { listenForStop } from "../../server/stop-signal.ts";
import { problemsOfAccess, readAccess, serverOptions } from "../server/server-access.ts";

const options = {
  count: withFallback(integer({ name: "count", short: "n", min: 1, max: 1e12, doc: "How many IDs to print." }), 1),
  ...serverOptions("Asks a server for the IDs. Default: this process makes them, under a worker ID from the store."),
  format: withFallback(
    choice({
      name: "format",
      words: idFormats,
      doc: "lines: one ID a line. csv: with a header, and the parts of each ID. binary: eight bytes an ID, the highest byte first.",
    }),
    "lines",
  ),
  ...writingOptions,
};

/** `snowlane next`. */
export const next: Command<typeof workerSettings, typeof options> = {
  name: "next",
  summary: "Prints new IDs",
  settings: workerSettings,
  groups: serverSettingGroups,
  options,
  examples: [
    "snowlane next",
    "snowlane next -n 1000000 --format binary > ids.bin",
    "snowlane next --form base58",
    "snowlane next --form serial --prefix PAY --offset +08:00",
    "snowlane next -n 5 --server http://127.0.0.1:7609 --format csv",
  ],
  check: (settings, options, environment) => [
    ...problemsOf(resolveTextFormat(options)),
    ...problemsOfAccess(options),
    ...(options.format === "binary" && options.form !== undefined
      ? [
          {
            place: "--form",
            value: options.form,
            hint: "Leave it out, or leave --format binary out: bytes are not text.",
          },
        ]
      : []),
    ...(options.server === undefined ? problemsOf(resolveWorker(settings, environment)) : []),
  ],
  // The worker ID is given back first.
  outlivesOutput: true,
  run: async (input) => {
    const stop = listenForStop(input.process, systemClock);
    const output = watchOutput(input.stdout);
    const signal = AbortSignal.any([stop.signal, output.signal]);
    try {
      await printIds(input, signal);
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      stop.dispose();
    }
    output.check();
    return stop.signal.aborted ? signalCodes[stop.signal.reason as keyof typeof signalCodes] : exitCodes.done;
  },
};

type NextInput = CommandInput<typeof workerSettings, typeof options>;

/** The exit codes that a shell shows for a process ended by a signal: 128 plus its number. */
const signalCodes = { SIGINT: 130, SIGTERM: 143 } as const;

/** Prints the IDs until all are printed or `signal` is aborted, and closes their source in any case. */
async function printIds(
  { settings, options, environment, stdout, stderr }: NextInput,
  signal: AbortSignal,
): Promise<void> {
  const { count, server, format } = options;
  const textFormat = valueOf(resolveTextFormat(options));
  const source =
    server === undefined
      ? await (await import("./local-ids.ts")).openLocalIds(settings, environment, { count, textFormat, signal })
      : await (await import("./remote-ids.ts")).openRemoteIds(
          await readAccess({ ...options, server }),
          count,
          textFormat,
        );
  const writer = createIdWriter(format, source.layout, textFormat !== undefined);
  const progress = startProgress(stderr, systemClock, count);
  /** Waits when the reader is slower than this process. */
  const write = async (data: string | Uint8Array): Promise<void> => {
    if (data.length > 0 && !stdout.write(data)) await once(stdout, "drain", { signal });
  };
  try {
    await write(writer.head);
    for await (const chunk of source.chunks) {
      if (signal.aborted) break;
      await write(writer.write(chunk));
      progress.add(chunk.ids.length);
    }
  } finally {
    progress.end();
    await source.close();
  }
}
