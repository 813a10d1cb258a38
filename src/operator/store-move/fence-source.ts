/** Step 3: gives back the records of the source whose holders are dead. */
import { delay } from "../../clock/clock.ts";
import { IdError } from "../../errors.ts";
import { holderUntilMs } from "../../lease/candidates.ts";
import { storeNowMs } from "../../lease/quarantine.ts";
import {
  encodeWorkerRecord,
  parseWorkerKey,
  readableRecord,
  type WorkerRecord,
} from "../../lease/records/worker-record.ts";
import { type Entry, type ListAnswer, unlessRefused } from "../../store/record-store.ts";
import { type LiveHolder, type MoveParts, roundsMax } from "./move-parts.ts";
import { refuseNewer } from "./refuse-newer.ts";

/** If no store clock shows that a holder's time is over, its record is watched for this many renewal periods. */
const watchedPeriods = 2;

type Fenced =
  | { readonly kind: "fenced"; readonly listed: ListAnswer }
  | { readonly kind: "held"; readonly holders: readonly LiveHolder[] };

/**
 * Gives back every record whose holder is dead, so that none of its late renewals can raise a mark that was copied.
 *
 * @throws IdError STORE_UNAVAILABLE: run the move again; INVALID_CONFIG: a newer version wrote records of the source.
 */
export async function fenceSource(parts: MoveParts): Promise<Fenced> {
  const { store } = parts.source;
  let listed = await store.list();
  for (let round = 0; round < roundsMax; round += 1) {
    const taken = takenRecords(listed);
    if (taken.length === 0) return { kind: "fenced", listed };
    const holders = await findHolders(parts, listed, "watching");
    if (holders.length > 0) return { kind: "held", holders };
    for (const { entry, record } of taken) {
      const next = { ...record, token: "", writeId: parts.random128(), expiresMs: 0 };
      unlessRefused(await store.compareAndSet(entry.key, entry, encodeWorkerRecord(next)));
    }
    listed = await store.list();
  }
  throw new IdError(
    "STORE_UNAVAILABLE",
    `${parts.source.place} changes while it is copied. Run the same command again.`,
  );
}

interface Taken {
  readonly workerIndex: number;
  readonly entry: Entry;
  readonly record: WorkerRecord;
}

/**
 * Records that were not given back. Damaged ones have no known holder.
 *
 * @throws IdError INVALID_CONFIG: a newer version wrote one of them.
 */
function takenRecords({ entries }: ListAnswer): readonly Taken[] {
  refuseNewer(entries);
  return entries.flatMap((entry) => {
    const workerIndex = parseWorkerKey(entry.key);
    const record = workerIndex === undefined ? undefined : readableRecord(entry);
    return workerIndex === undefined || record === undefined || record.token === ""
      ? []
      : [{ workerIndex, entry, record }];
  });
}

/** Holders that seem to be alive. In a store with locks, this process keeps the locks of dead holders from here on. */
export async function findHolders(
  parts: MoveParts,
  listed: ListAnswer,
  how: "at once" | "watching",
): Promise<readonly LiveHolder[]> {
  const { store } = parts.source;
  const taken = takenRecords(listed);
  const { liveness } = store;
  if (liveness.kind === "lock") {
    const found: LiveHolder[] = [];
    for (const { workerIndex, record, entry } of taken) {
      if (!(await liveness.tryLock(entry.key))) found.push({ workerIndex, record, untilMs: undefined });
    }
    return found;
  }
  const nowMs = storeNowMs(listed.moment, parts.clock.nowMs());
  const found = taken
    .map(({ workerIndex, record }) => ({ workerIndex, record, untilMs: holderUntilMs(record, store.durability) }))
    .filter(({ untilMs }) => nowMs < untilMs);
  if (found.length > 0 || taken.length === 0 || listed.moment.clockMs !== undefined || how === "at once") return found;
  return await watch(parts, taken);
}

/** Watches records whose time is over only by our clock: a living holder renews meanwhile. */
async function watch({ source, timers, report }: MoveParts, taken: readonly Taken[]): Promise<readonly LiveHolder[]> {
  report("watches whether a process renews, as the store has no clock");
  await delay(timers, watchedPeriods * source.store.timing.renewalPeriodMs);
  const again = takenRecords(await source.store.list());
  return again
    .filter(({ entry }) => !taken.some((before) => before.entry.key === entry.key && before.entry.text === entry.text))
    .map(({ workerIndex, record }) => ({ workerIndex, record, untilMs: record.expiresMs }));
}
