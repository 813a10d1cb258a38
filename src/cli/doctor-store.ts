/** What `snowlane doctor` finds out about a store. */
import { hostname } from "node:os";
import { systemClock } from "../clock.ts";
import { IdError } from "../errors.ts";
import { exhaustionOf } from "../snowflake/exhaustion.ts";
import type { Layout } from "../snowflake/layout.ts";
import { version } from "../version.ts";
import { checkAgreement, hasWorkers, lostLayout } from "../worker/layout-record.ts";
import type { RecordStore } from "../worker/record-store.ts";
import { clockErrorMs, clockOffMaxMs } from "../worker/window.ts";
import { listWorkers, type WorkerList } from "../worker/worker-list.ts";
import { createHolder, parseLayoutRecord, recordKeys } from "../worker/worker-record.ts";
import { settleWorkerSettings, type WorkerOptions } from "../worker/worker-settings.ts";
import { exitCodes } from "./exit-code.ts";
import { fail, failOf, type Finding, ok, warn } from "./finding.ts";
import { timeOf } from "./worker-rows.ts";

/** What is asked of a store. */
export interface StoreUnderCheck {
  readonly store: RecordStore;
  /** Opens another namespace of the same store. */
  readonly openNamespace: (namespace: string) => Promise<RecordStore>;
  /** Without credentials. */
  readonly place: string;
  readonly namespace: string;
  readonly layout: Layout;
  /** What serve would take a worker ID with. */
  readonly worker: Omit<WorkerOptions, "holder">;
}

const trips = 5;
/** Renewals have a window's length to spare, but a start asks a dozen times. */
const slowMs = 250;
const usedWarnShare = 0.75;
const yearsWarn = 3;

/** Looks at a store from afar to near: later checks are left out where earlier ones show that they are pointless. */
export async function checkStore(under: StoreUnderCheck): Promise<readonly Finding[]> {
  if (await isUntouched(under.store)) return await checkUntouched(under);
  const reached = await checkReach(under);
  if (reached.some(({ level }) => level === "fail")) return reached;
  const { store, namespace } = under;
  const { entry } = await store.read(recordKeys.layout);
  if (entry === undefined) {
    if (hasWorkers(await store.list())) {
      return [...reached, failOf("layout", lostLayout(store, namespace), "Start no server before it is mended.")];
    }
    const detail = `Namespace ${namespace} has no records: the first start writes its layout record.`;
    return [...reached, ok("layout", detail), ...(await probeElsewhere(under))];
  }
  const findings = [...reached, checkLayout(under, entry.text)];
  if (findings.at(-1)?.level === "fail") return findings;
  findings.push(await probe(under));
  const list = listWorkers(store, await store.list(), systemClock.nowMs());
  return [...findings, ...checkWorkers(list), ...checkLife(under.layout)];
}

/** Whether not even a table or the like is there. */
async function isUntouched(store: RecordStore): Promise<boolean> {
  try {
    await store.moment();
  } catch (error) {
    return error instanceof IdError && error.metadata["kept"] === "nothing";
  }
  return false;
}

/** Makes what a first start would make, but in a namespace of our own. */
async function checkUntouched(under: StoreUnderCheck): Promise<readonly Finding[]> {
  const store = await under.openNamespace(probeNamespace);
  try {
    const reached = await checkReach({ ...under, store });
    const detail = `Nothing was started on this store yet: the first start writes the layout record of ${under.namespace}.`;
    return reached.some(({ level }) => level === "fail")
      ? reached
      : [...reached, ok("layout", detail), ...(await probeElsewhere(under))];
  } finally {
    await store.close();
  }
}

async function checkReach({ store, place }: StoreUnderCheck): Promise<readonly Finding[]> {
  const tripsMs: number[] = [];
  let clockAheadMs: number | undefined;
  try {
    // The first one connects.
    await store.moment();
    for (let trip = 0; trip < trips; trip += 1) {
      const sentMs = systemClock.monotonicMs();
      const { clockMs } = await store.moment();
      const tripMs = systemClock.monotonicMs() - sentMs;
      // The nearest trip tells the time best: the store read its clock somewhere within it.
      if (clockMs !== undefined && tripsMs.every((before) => tripMs < before)) {
        clockAheadMs = systemClock.nowMs() - tripMs / 2 - clockMs;
      }
      tripsMs.push(tripMs);
    }
  } catch (error) {
    const cure = "Start it, or check --store, credentials, certificates, and whether a firewall stands between.";
    return [failOf("store", error, cure)];
  }
  const medianMs = tripsMs.toSorted((one, other) => one - other)[Math.floor(trips / 2)]!;
  const detail = `${place} answers in ${medianMs.toFixed(1)} ms (median of ${trips}).`;
  const cure = "Use a store nearer by: each start asks it a dozen times, and each renewal waits for it.";
  const reached = medianMs > slowMs ? warn("store", detail, cure) : ok("store", detail);
  return [reached, checkClock(store, clockAheadMs, Math.min(...tripsMs))];
}

function checkClock(store: RecordStore, aheadMs: number | undefined, tripMs: number): Finding {
  if (aheadMs === undefined) {
    return ok("clock offset", `A ${store.kind} store has no clock of its own to compare with.`);
  }
  const side = aheadMs >= 0 ? "ahead of" : "behind";
  const detail = `This machine's clock is ${Math.abs(aheadMs).toFixed(0)} ms ${side} the store's (to within ${Math.ceil(tripMs / 2)} ms).`;
  const cure = "Let NTP (chrony, systemd-timesyncd) set the clocks of this machine and of the store.";
  if (Math.abs(aheadMs) > clockOffMaxMs)
    return fail("clock offset", detail, `serve refuses more than 5 minutes. ${cure}`, exitCodes.usage);
  if (Math.abs(aheadMs) <= clockErrorMs + tripMs / 2) return ok("clock offset", detail);
  const lossy = ` On a store that may lose data uniqueness needs ${clockErrorMs} ms at most.`;
  return warn("clock offset", detail, store.durability === "lossy" ? cure + lossy : cure);
}

function checkLayout({ store, layout, worker }: StoreUnderCheck, text: string): Finding {
  try {
    const record = parseLayoutRecord(text);
    const nobody = { instance: "doctor", host: hostname(), processId: process.pid, bootId: "", sinceMs: 0, version };
    checkAgreement(record, settleWorkerSettings({ ...worker, holder: createHolder(nobody) }, layout, store));
    const bound =
      record.datacenterIds === "all"
        ? "bound to no datacenters"
        : `bound to datacenters ${record.datacenterIds.join(", ")}`;
    return ok("layout", `The layout record is that of ${layout.name}, ${bound}; deployment ${record.deploymentId}.`);
  } catch (error) {
    return failOf("layout", error, "Say what the store says, or use another --store or --namespace.");
  }
}

/**
 * Shows that we may write, without leaving a trace: the layout record is replaced by itself, which nobody can tell from
 * no write, as all compare texts; and creating it once more is refused after the right to create was looked at.
 */
async function probe({ store }: StoreUnderCheck): Promise<Finding> {
  try {
    const { entry } = await store.read(recordKeys.layout);
    if (entry === undefined)
      throw new IdError("STORE_UNAVAILABLE", "The layout record vanished while it was looked at.");
    const sentMs = systemClock.monotonicMs();
    const replaced = await store.compareAndSet(recordKeys.layout, entry, entry.text);
    const tripMs = systemClock.monotonicMs() - sentMs;
    const created = await store.compareAndSet(recordKeys.layout, undefined, entry.text);
    if (replaced.kind === "applied" && created.kind === "conflict") {
      return ok(
        "privileges",
        `Records can be read, created and replaced; a durable write takes ${tripMs.toFixed(1)} ms.`,
      );
    }
    return warn("privileges", "Somebody else wrote at the same time: nothing was found out.", "Run doctor again.");
  } catch (error) {
    return failOf("privileges", error, "Give the user the privileges of docs/stores.md.");
  }
}

/** Nobody's namespace: a record of ours in a new one would pass for what is left of a loss. */
const probeNamespace = "snowlane-doctor";
const probeKey = "probe";
const probeText = JSON.stringify({ probe: true });

/** Where the namespace is new: a record of our own in another one, which stays there and is replaced by itself. */
async function probeElsewhere({ openNamespace }: StoreUnderCheck): Promise<readonly Finding[]> {
  const store = await openNamespace(probeNamespace);
  try {
    const { entry } = await store.read(probeKey);
    const created = entry === undefined ? await store.compareAndSet(probeKey, undefined, probeText) : undefined;
    const standing = created?.kind === "applied" ? created.entry : (entry ?? (await store.read(probeKey)).entry);
    const replaced = await store.compareAndSet(probeKey, standing, standing?.text ?? probeText);
    if (replaced.kind === "conflict") {
      return [warn("privileges", "Somebody else wrote at the same time: nothing was found out.", "Run doctor again.")];
    }
    return [ok("privileges", `Records can be created and replaced (tried in namespace ${probeNamespace}).`)];
  } catch (error) {
    const cure = `Give the user the privileges of docs/stores.md. If they end at this namespace, ${probeNamespace} cannot be tried: the first start will tell.`;
    return [{ ...failOf("privileges", error, cure), level: "warn" }];
  } finally {
    await store.close();
  }
}

function checkWorkers({ total, free, workers, quarantine }: WorkerList): readonly Finding[] {
  const findings: Finding[] = [];
  if (quarantine !== undefined) {
    const detail = `The store is under quarantine until ${timeOf(quarantine.untilMs)}: ${quarantine.reason}.`;
    findings.push(warn("quarantine", detail, "Wait: who starts before waits as well. Holders go on."));
  }
  const taken = workers.filter(({ state }) => state !== "released" && state !== "expired").length;
  const used = quarantine === undefined ? total - free : taken;
  const detail = `${used} of ${total} worker IDs are in use (${((used / total) * 100).toFixed(0)} %).`;
  const cure =
    "Stop processes, or plan a layout with more worker bits in a new namespace: a clock that steps back needs spare ones.";
  if (used >= total) findings.push(fail("worker IDs", detail, cure, exitCodes.worker));
  else if (used >= total * usedWarnShare) findings.push(warn("worker IDs", detail, cure));
  else findings.push(ok("worker IDs", detail));
  const unreadable = workers.filter(({ state }) => state === "unreadable").length;
  if (unreadable > 0) {
    const seen = `${unreadable} worker ${unreadable === 1 ? "record is" : "records are"} damaged or another program's.`;
    findings.push(
      warn(
        "records",
        seen,
        "See snowlane workers. Nobody is granted these worker IDs; never delete a record, it holds a mark.",
      ),
    );
  }
  return findings;
}

function checkLife(layout: Layout): readonly Finding[] {
  const { endMs, yearsLeft } = exhaustionOf(layout, systemClock.nowMs());
  const detail = `The layout lasts until ${timeOf(endMs).slice(0, 10)}, for ${Math.max(0, yearsLeft).toFixed(1)} years.`;
  const cure = "Plan a later epoch in a new namespace.";
  if (yearsLeft <= 0) return [fail("layout's life", detail, cure, exitCodes.clock)];
  return [yearsLeft < yearsWarn ? warn("layout's life", detail, cure) : ok("layout's life", detail)];
}
