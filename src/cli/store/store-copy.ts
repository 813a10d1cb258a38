import { systemClock, systemTimers } from "../../clock/clock.ts";
import { onOff } from "../../config/setting-kinds.ts";
import { storeSettings } from "../../config/store-settings.ts";
import { storeUrl } from "../../config/store-url.ts";
import { kernelRandom128 } from "../../kernel-random.ts";
import type { RecordStore } from "../../store/record-store.ts";
import { recordedPlace } from "../../store/store-place.ts";
import { abandonMove } from "../../operator/store-move/abandon-move.ts";
import type { LiveHolder, MoveParts } from "../../operator/store-move/move-parts.ts";
import { moveStore } from "../../operator/store-move/move-store.ts";
import { layoutOf } from "../../lease/worker-list.ts";
import { parseLayoutSlot } from "../../lease/records/layout-slot.ts";
import { recordKeys } from "../../lease/records/record-text.ts";
import { readBinding } from "../../lease/sequences-binding.ts";
import { nameWorker } from "../../lease/worker-settings.ts";
import type { Command, CommandInput } from "../command.ts";
import { CommandError, exitCodes } from "../exit-code.ts";
import { openExistingRecords, openNewRecords } from "./open-records.ts";
import { timeOf } from "../printable.ts";

const settings = { namespace: storeSettings.namespace };
const options = {
  from: storeUrl({ name: "from", doc: "The store that holds the namespace now. Required." }),
  to: storeUrl({
    name: "to",
    doc: "The store that the namespace moves to. It must not hold this namespace yet. Required.",
  }),
  abandon: onOff({
    name: "abandon",
    doc: "Undoes a copy that was interrupted: --to is closed for this copy, then --from serves again.",
  }),
};

/** `snowlane store copy`. */
export const storeCopy: Command<typeof settings, typeof options> = {
  name: "store copy",
  summary: "Moves a namespace to another store: layout and marks; the old store then sends servers to the new one",
  settings,
  options,
  examples: [
    "snowlane store copy --from sqlite:/var/lib/snowlane/ids.db --to postgres://snowlane@db/snowlane",
    "snowlane store copy --from redis://redis-1 --to etcd://etcd-1,etcd-2,etcd-3 --namespace orders",
    "snowlane store copy --from redis://redis-1 --to etcd://etcd-1,etcd-2,etcd-3 --namespace orders --abandon",
  ],
  check: (_settings, { from, to }) => [
    ...(from === undefined
      ? [{ place: "--from", hint: "Give the URL of the store that holds the namespace now." }]
      : []),
    ...(to === undefined ? [{ place: "--to", hint: "Give the URL of the store that it moves to." }] : []),
  ],
  run: async (input) => {
    const { from = "", to = "" } = input.options;
    const { namespace } = input.settings;
    const source = await openExistingRecords(from, namespace);
    try {
      const target = await openNewRecords(to, namespace);
      try {
        return await copy(input, source, target);
      } finally {
        await target.close();
      }
    } finally {
      await source.close();
    }
  },
};

async function copy(input: CommandInput<typeof settings, typeof options>, source: RecordStore, target: RecordStore) {
  const { from = "", to = "", abandon } = input.options;
  const { stdout, stderr } = input;
  const parts: MoveParts = {
    source: { store: source, place: recordedPlace(from) },
    target: { store: target, place: recordedPlace(to) },
    clock: systemClock,
    timers: systemTimers,
    random128: kernelRandom128,
    report: (step) => void stderr.write(`snowlane: ${step}\n`),
  };
  const places = `from ${parts.source.place} to ${parts.target.place}`;
  if (abandon) {
    const { namespace } = await abandonMove(parts);
    stdout.write(
      `The copy of namespace ${namespace} ${places} was undone: servers may start on the first store again.\n`,
    );
    return exitCodes.done;
  }
  const outcome = await moveStore(parts);
  if (outcome.kind === "held") throw await heldError(source, outcome.holders, outcome.isClosed);
  const { namespace } = outcome.layout;
  if (outcome.kind === "was-moved") {
    stdout.write(`Namespace ${namespace} was moved ${places} earlier: nothing is left to do.\n`);
    await saySequencesStay(input, target);
    return exitCodes.done;
  }
  const marks = outcome.records === 1 ? "1 mark" : `${outcome.records} marks`;
  stdout.write(
    `Namespace ${namespace} is moved ${places}, with ${marks}. Start servers with --store set to the second store.\n`,
  );
  await saySequencesStay(input, target);
  if (source.durability === "lossy") {
    stderr.write(
      "snowlane: The old store may lose its last writes: stop it, or remove the namespace from it, before you start servers that still name it.\n",
    );
  }
  return exitCodes.done;
}

/** Where the deployment has sequences, they are in a database of their own, which the move leaves where it is. */
async function saySequencesStay(
  { stdout }: Pick<CommandInput<typeof settings, typeof options>, "stdout">,
  target: RecordStore,
) {
  const bound = await readBinding(target);
  if (bound === undefined) return;
  stdout.write(
    `The sequences stay in ${bound.place}. Start servers with --sequence-stores set to its URL: another database is refused.\n`,
  );
}

async function heldError(
  source: RecordStore,
  holders: readonly LiveHolder[],
  isClosed: boolean,
): Promise<CommandError> {
  const { entry } = await source.read(recordKeys.layout);
  const slot = entry && parseLayoutSlot(entry.text);
  const record = slot?.kind === "move" ? slot.move.layout : slot?.record;
  const lines = holders.slice(0, 20).map(({ workerIndex, record: { holder }, untilMs }) => {
    const name = record === undefined ? String(workerIndex) : nameWorker(layoutOf(record), workerIndex);
    const until = untilMs === undefined ? "" : `; if it died, its worker ID expires at ${timeOf(untilMs)}`;
    return `worker ID ${name} is held by ${holder.instance} (process ${holder.processId} on ${holder.host})${until}`;
  });
  const more = holders.length > lines.length ? [`and ${holders.length - lines.length} more`] : [];
  const state = isClosed
    ? "The store accepts no new servers any more. Stop these, and run the same command again; or undo the copy with --abandon."
    : "Nothing was changed. Stop these (SIGTERM gives a worker ID back), and run the same command again.";
  return new CommandError([...lines, ...more, state].join("\n"), exitCodes.refused);
}
