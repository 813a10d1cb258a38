/** Gives back a worker ID for an operator, in place of its dead holder. */
import { delay, type Clock, type Timers } from "../clock/clock.ts";
import { holderUntilMs } from "../lease/candidates.ts";
import { storeNowMs } from "../lease/quarantine.ts";
import { type RecordStore, unlessRefused } from "../store/record-store.ts";
import { encodeWorkerRecord, parseWorkerRecord, type WorkerRecord, workerKey } from "../lease/records/worker-record.ts";

/** The outcome of a release in place of the holder. */
export type ExpiredRelease =
  /** `record` is what the store held before. */
  | { readonly kind: "released"; readonly record: WorkerRecord }
  | { readonly kind: "was-released"; readonly record: WorkerRecord }
  /** Its holder seems to be alive; `untilMs` is undefined if a lock shows that. */
  | { readonly kind: "held"; readonly record: WorkerRecord; readonly untilMs: number | undefined }
  /** No process ever held it. */
  | { readonly kind: "absent" };

/** The clocks by which an operator's release waits, and the randomness of what it writes. */
export interface OperatorPorts {
  readonly clock: Clock;
  readonly timers: Timers;
  /** Draws 128 bits from the kernel, as 32 hex digits. */
  readonly random128: () => string;
}

/** A living holder renews within one period; the second period is for a holder that is a little late. */
const watchedPeriods = 2;

/**
 * Gives back a worker ID whose holder's time is over. The mark stays: the next holder begins there, as after an expiry.
 * If the old holder is alive after all, it finds the record changed and stops, so uniqueness does not depend on whether
 * the check was right.
 *
 * If the store has no clock to show that the time is over, the record is first watched for two renewal periods.
 *
 * @throws IdError as the store does: then the outcome is not known; INVALID_CONFIG for a record that is not Snowlane's.
 */
export async function releaseExpired(
  store: RecordStore,
  workerIndex: number,
  ports: OperatorPorts,
): Promise<ExpiredRelease> {
  const { liveness } = store;
  const key = workerKey(workerIndex);
  if (liveness.kind === "ttl") return await releaseUnlocked(store, key, ports);
  const { entry } = await store.read(key);
  if (entry === undefined) return { kind: "absent" };
  if (!(await liveness.tryLock(key))) {
    return { kind: "held", record: parseWorkerRecord(key, entry.text), untilMs: undefined };
  }
  try {
    return await releaseUnlocked(store, key, ports);
  } finally {
    await liveness.unlock(key);
  }
}

async function releaseUnlocked(store: RecordStore, key: string, ports: OperatorPorts): Promise<ExpiredRelease> {
  const first = await store.read(key);
  if (first.entry === undefined) return { kind: "absent" };
  const record = parseWorkerRecord(key, first.entry.text);
  if (record.token === "") return { kind: "was-released", record };
  if (store.liveness.kind === "ttl") {
    const untilMs = holderUntilMs(record, store.durability);
    if (storeNowMs(first.moment, ports.clock.nowMs()) < untilMs) return { kind: "held", record, untilMs };
    if (first.moment.clockMs === undefined) {
      await delay(ports.timers, watchedPeriods * store.timing.renewalPeriodMs);
    }
  }
  const next: WorkerRecord = { ...record, token: "", writeId: ports.random128(), expiresMs: 0 };
  const answer = unlessRefused(await store.compareAndSet(key, first.entry, encodeWorkerRecord(next)));
  if (answer.kind === "applied") return { kind: "released", record };
  // The record changed while it was watched: another process renewed it, took it over or gave it back.
  const { entry } = await store.read(key);
  const standing = entry === undefined ? record : parseWorkerRecord(key, entry.text);
  if (standing.token === "") return { kind: "was-released", record: standing };
  return { kind: "held", record: standing, untilMs: holderUntilMs(standing, store.durability) };
}
