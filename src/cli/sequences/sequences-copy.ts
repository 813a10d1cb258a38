import type { SettingProblem } from "../../config/load-settings.ts";
import { storeSettings } from "../../config/store-settings.ts";
import { storeUrl } from "../../config/store-url.ts";
import { copyDatabase, type CopyOutcome } from "../../sequence/copy-database.ts";
import { openSequenceStore, sequenceStoreKindOf } from "../../sequence/open-sequence-store.ts";
import { recordedPlace } from "../../store/store-place.ts";
import type { Command } from "../command.ts";
import { exitCodes } from "../exit-code.ts";
import { callTimeoutMs } from "./sequence-access.ts";

const settings = { namespace: storeSettings.namespace };
const options = {
  from: storeUrl({ name: "from", doc: "The database that keeps the sequences now: one, of several. Required." }),
  to: storeUrl({ name: "to", doc: "The database that they move to. It must not have sequences of its own. Required." }),
};

/** `snowlane sequences copy`. */
export const sequencesCopy: Command<typeof settings, typeof options> = {
  name: "sequences copy",
  summary: "Moves the sequences to another database; the old one stays stopped for good. May be repeated",
  settings,
  options,
  examples: ["snowlane sequences copy --from sqlite:/var/lib/snowlane/ids.db --to postgres://snowlane@db/snowlane"],
  check: (_settings, { from, to }) => [...problemsOf("--from", from), ...problemsOf("--to", to)],
  run: async ({ settings: { namespace }, options: { from = "", to = "" }, stdout }) => {
    const source = await openSequenceStore(from, { namespace, callTimeoutMs, whereNew: "refuse" });
    try {
      const target = await openSequenceStore(to, { namespace, callTimeoutMs, whereNew: "create" });
      try {
        const [here, there] = [recordedPlace(from), recordedPlace(to)];
        const outcome = await copyDatabase({ store: source, place: here }, { store: target, place: there });
        stdout.write(linesOf(outcome, here, there));
        return exitCodes.done;
      } finally {
        await target.close();
      }
    } finally {
      await source.close();
    }
  },
};

function problemsOf(place: string, url: string | undefined): readonly SettingProblem[] {
  if (url !== undefined && sequenceStoreKindOf(url) !== undefined) return [];
  return [{ place, hint: "Give the URL of one database: sqlite:, postgres: or mysql:." }];
}

function linesOf(outcome: CopyOutcome, here: string, there: string): string {
  if (outcome.kind === "done")
    return `The sequences were moved from ${here} to ${there} earlier: nothing is left to do.\n`;
  const { sequenceCount, counterCount } = outcome;
  const sequences = sequenceCount === 1 ? "1 sequence" : `${sequenceCount} sequences`;
  const counters = counterCount === 1 ? "1 counter" : `${counterCount} counters`;
  return (
    `${sequences} with ${counters} moved from ${here} to ${there}. Values can be taken there in 30 seconds.\n` +
    `Start servers with --sequence-stores set to the second database. The first one stays stopped for good.\n`
  );
}
