/** The checks of `snowlane doctor` on a store. */
import { hostname } from "node:os";
import { systemClock } from "../../clock/clock.ts";
import { lengthOfTime } from "../../clock/length-of-time.ts";
import { IdError } from "../../errors.ts";
import { exhaustionOf } from "../../snowflake/exhaustion.ts";
import type { Layout } from "../../snowflake/layout.ts";
import { version } from "../../version.ts";
import { checkAgreement, hasWorkers, lostLayout, showWorkerIds } from "../../lease/layout-agreement.ts";
import { type ListAnswer, type RecordStore, unlessRefused } from "../../store/record-store.ts";
import { checkOneStore, storeNowMs } from "../../lease/quarantine.ts";
import type { LayoutRecord } from "../../lease/records/layout-record.ts";
import { parseIncarnationRecord } from "../../lease/records/incarnation-record.ts";
import { clockErrorMs, clockOffMaxMs } from "../../lease/window.ts";
import { listWorkers, type WorkerList } from "../../lease/worker-list.ts";
import { deploymentIdOf, parseLayoutRecord } from "../../lease/records/layout-slot.ts";
import { recordKeys } from "../../lease/records/record-text.ts";
import { createHolder } from "../../lease/records/worker-record.ts";
import { resolveWorkerSettings, type TimedStore, type WorkerOptions } from "../../lease/worker-settings.ts";
import { exitCodes } from "../exit-code.ts";
import { fail, failOf, type Finding, ok, warn } from "./finding.ts";
import { quarantineWords } from "../workers/worker-rows.ts";

/** The store to check. */
export interface StoreUnderCheck {
  readonly store: RecordStore;
  /** Opens another namespace of the same store. */
  readonly openNamespace: (namespace: string) => Promise<RecordStore>;
  /** The place of the store, without credentials. */
  readonly place: string;
  readonly namespace: string;
  readonly layout: Layout;
  /** The settings with which serve would take a worker ID. */
  readonly worker: Omit<WorkerOptions, "holder">;
}

const trips = 5;
/** Renewals have the length of a window to spare, but a start makes a dozen calls. */
const slowMs = 250;
const usedWarnShare = 0.75;

/** Checks a store step by step: later checks are left out where earlier ones show that they are pointless. */
export async function checkStore(under: StoreUnderCheck): Promise<readonly Finding[]> {
  if (await isUntouched(under.store)) return await checkUntouched(under);
  const reached = await checkReach(under);
  if (reached.some(({ level }) => level === "fail")) return reached;
  const { store, namespace } = under;
  const times = checkTimes(under.worker, under.layout, store);
  if (times.level === "fail") return [...reached, times];
  reached.push(times);
  const { entry } = await store.read(recordKeys.layout);
  if (entry === undefined) {
    if (hasWorkers(await store.list())) {
      return [...reached, failOf("layout", lostLayout(store, namespace), "Start no server before it is repaired.")];
    }
    const detail = `Namespace ${namespace} has no records: the first start writes its layout record.`;
    return [...reached, ok("layout", detail), ...(await probeElsewhere(under))];
  }
  const findings = [...reached, checkLayout(under, entry.text)];
  if (findings.at(-1)?.level === "fail") return findings;
  findings.push(showDeployment(entry.text));
  findings.push(...(await probe(under)));
  const listed = await store.list();
  findings.push(...checkWriters(store, listed, parseLayoutRecord(entry.text)));
  const list = await listWorkers(store, listed, systemClock.nowMs());
  return [...findings, ...checkWorkers(list), checkPasses(list), ...checkLife(under.layout)];
}

/** Tells whether the store has not even a table or the like. */
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
    const detail = `No server was started on this store yet: the first start writes the layout record of ${under.namespace}.`;
    const times = checkTimes(under.worker, under.layout, store);
    return [...reached, times].some(({ level }) => level === "fail")
      ? [...reached, times]
      : [...reached, times, ok("layout", detail), ...(await probeElsewhere(under))];
  } finally {
    await store.close();
  }
}

async function checkReach(under: StoreUnderCheck): Promise<Finding[]> {
  const { store, place } = under;
  const tripsMs: number[] = [];
  let clockAheadMs: number | undefined;
  try {
    // The first one connects.
    await store.moment();
    for (let trip = 0; trip < trips; trip += 1) {
      const sentMs = systemClock.monotonicMs();
      const { clockMs } = await store.moment();
      const tripMs = systemClock.monotonicMs() - sentMs;
      // The shortest trip shows the time best, because the store read its clock somewhere within it.
      if (clockMs !== undefined && tripsMs.every((before) => tripMs < before)) {
        clockAheadMs = systemClock.nowMs() - tripMs / 2 - clockMs;
      }
      tripsMs.push(tripMs);
    }
  } catch (error) {
    return [failOf("store", error, reachHint(store.kind, error))];
  }
  const medianMs = tripsMs.toSorted((one, other) => one - other)[Math.floor(trips / 2)]!;
  const detail = `${place} answers in ${medianMs.toFixed(1)} ms (median of ${trips}).`;
  const hint = "Use a closer store: each start makes a dozen calls to it, and each renewal waits for it.";
  const reached = medianMs > slowMs ? warn("store", detail, hint) : ok("store", detail);
  const windowMs = under.worker.windowMs ?? store.timing.windowMs;
  const clock = checkClock(store, { aheadMs: clockAheadMs, tripMs: Math.min(...tripsMs), windowMs });
  return [reached, clock, ...(await checkSettings(under))];
}

/** What to do about a store that cannot be used, in addition to the advice of its message. */
function reachHint(kind: string, error: unknown): string {
  if (error instanceof IdError && error.metadata["servers"] !== undefined)
    return "See docs/store-losses.md, Two primaries.";
  if (error instanceof IdError && error.metadata["writers"] === "none") {
    return "It answers, but takes no writes: a start waits until a server does.";
  }
  if (error instanceof IdError && error.metadata["hint"] !== undefined) {
    return "It answers: its message says what to do.";
  }
  if (error instanceof IdError && error.metadata["writers"] === "away") {
    return "One of its servers answers, but takes no writes, and another one is away. Start that one, or fence it and promote the one that answers.";
  }
  if (error instanceof IdError && error.reason === "INVALID_CONFIG") return "See docs/stores.md, Start.";
  if (kind === "sqlite")
    return "The message says what prevents it. A start waits ten seconds for that to end, and then fails.";
  return "Start it (where it does not stay up, its own log says why), or check whether --store names the server that takes writes, the credentials and certificates, and whether a firewall blocks the connection.";
}

/** The settings of the store's server; nothing where a store has none that matter. */
async function checkSettings({ store, worker }: StoreUnderCheck): Promise<readonly Finding[]> {
  if (store.advise === undefined) return [];
  try {
    const advice = await store.advise({ windowMs: worker.windowMs ?? store.timing.windowMs });
    if (advice.length === 0) return [ok("store settings", "No setting of the server endangers the records.")];
    return advice.map(({ detail, hint }) => warn("store settings", detail, hint));
  } catch (error) {
    return [{ ...failOf("store settings", error, "Give the user the privileges of docs/stores.md."), level: "warn" }];
  }
}

/**
 * Checks this machine's clock against the store's. If the store is behind by more than half a window, no window can
 * begin; if it is behind by a whole one, none can go on.
 */
export function checkClock(
  store: Pick<RecordStore, "kind" | "durability">,
  {
    aheadMs,
    tripMs,
    windowMs,
  }: { readonly aheadMs: number | undefined; readonly tripMs: number; readonly windowMs: number },
): Finding {
  if (aheadMs === undefined) {
    return ok("clock offset", `A ${store.kind} store has no clock of its own to compare with.`);
  }
  const side = aheadMs >= 0 ? "ahead of" : "behind";
  const offMs = Math.abs(aheadMs);
  const off = offMs < 1_000 ? `${offMs.toFixed(0)} ms` : lengthOfTime(offMs);
  const detail = `This machine's clock is ${off} ${side} the store's (to within ${Math.ceil(tripMs / 2)} ms).`;
  const hint = "Let NTP (chrony, systemd-timesyncd) set the clocks of this machine and of the store.";
  if (Math.abs(aheadMs) > clockOffMaxMs)
    return fail("clock offset", detail, `serve refuses more than 5 minutes. ${hint}`, exitCodes.usage);
  if (aheadMs > windowMs / 2 + tripMs / 2) {
    const cost = `With a window of ${windowMs / 1_000} s, servers cannot get or keep one while the store is that far behind.`;
    return fail("clock offset", detail, `${cost} ${hint}`, exitCodes.clock);
  }
  if (Math.abs(aheadMs) <= clockErrorMs + tripMs / 2) return ok("clock offset", detail);
  const lossy = ` On a store that may lose data, uniqueness needs ${clockErrorMs} ms at most.`;
  return warn("clock offset", detail, store.durability === "lossy" ? hint + lossy : hint);
}

/** Checks the window and its renewal against the defaults of the store, as a start does. */
export function checkTimes(worker: StoreUnderCheck["worker"], layout: Layout, store: TimedStore): Finding {
  try {
    const { windowMs, renewalPeriodMs } = resolveWorkerSettings({ ...worker, holder: nobody() }, layout, store);
    return ok("times", `The window is ${lengthOfTime(windowMs)}, renewed every ${lengthOfTime(renewalPeriodMs)}.`);
  } catch (error) {
    return failOf("times", error, "Give --window, --renewal-period and --window-max that fit, or none of them.");
  }
}

/** Checks whether the store became another one and back again, as happens when two stores answer in turn. */
function checkWriters(
  { kind }: RecordStore,
  { entries, moment }: ListAnswer,
  rules: Pick<LayoutRecord, "windowMaxMs" | "leadMaxMs">,
): readonly Finding[] {
  const text = entries.find(({ key }) => key === recordKeys.incarnation)?.text;
  if (text === undefined) return [];
  try {
    checkOneStore(parseIncarnationRecord(text), kind, storeNowMs(moment, systemClock.nowMs()), rules);
    return [];
  } catch (error) {
    return [failOf("one writer", error, "See docs/store-losses.md, Two primaries.")];
  }
}

function nobody(): ReturnType<typeof createHolder> {
  return createHolder({
    instance: "doctor",
    host: hostname(),
    processId: process.pid,
    bootId: "",
    sinceMs: 0,
    version,
  });
}

function checkLayout({ store, layout, worker }: StoreUnderCheck, text: string): Finding {
  try {
    const record = parseLayoutRecord(text);
    checkAgreement(record, resolveWorkerSettings({ ...worker, holder: nobody() }, layout, store));
    const bound = [
      ...(record.datacenterIds === "all" ? [] : [`datacenters ${record.datacenterIds.join(", ")}`]),
      ...(record.workerIds === "all" ? [] : [`worker IDs ${showWorkerIds(record.workerIds)}`]),
    ];
    const to = bound.length === 0 ? "not bound to datacenters or worker IDs" : `bound to ${bound.join(" and ")}`;
    return ok("layout", `The layout is ${layout.name}, ${to}.`);
  } catch (error) {
    return failOf("layout", error, "Give the settings that the store has, or use another --store or --namespace.");
  }
}

/**
 * Shows the fingerprint. Only an operator can compare it with those of other stores: a copy has that of its original.
 */
function showDeployment(layoutText: string): Finding {
  const detail = `The fingerprint is ${deploymentIdOf(layoutText)}. Another store with the same one repeats these IDs.`;
  return ok("deployment", detail);
}

/**
 * Shows that we may write, without leaving a trace. The layout record is replaced by itself, which no other process can
 * notice, because they compare texts. Creating it once more is refused, but only after the store has checked the right
 * to create. Where such a replacement is not written, a record of our own shows whether commits work.
 */
async function probe(under: StoreUnderCheck): Promise<readonly Finding[]> {
  const { store } = under;
  try {
    const { entry } = await store.read(recordKeys.layout);
    if (entry === undefined) throw new IdError("STORE_UNAVAILABLE", "The layout record vanished during the check.");
    const sentMs = systemClock.monotonicMs();
    const replaced = unlessRefused(await store.compareAndSet(recordKeys.layout, entry, entry.text));
    const tripMs = systemClock.monotonicMs() - sentMs;
    const created = unlessRefused(await store.compareAndSet(recordKeys.layout, undefined, entry.text));
    if (replaced.kind !== "applied" || created.kind !== "conflict") return [wroteTogether()];
    if (store.skipsEqualWrites) return await probeElsewhere(under);
    return [
      ok("privileges", `Records can be read, created and replaced; a durable write takes ${tripMs.toFixed(1)} ms.`),
    ];
  } catch (error) {
    return [refusedWrite(error)];
  }
}

/** A namespace that no server uses: a record in a new one would look like the rest of a loss of data. */
const probeNamespace = "snowlane-doctor";
const probeKey = "probe";
/** The record has one of them, and gets the other: a text that is already there might not be written. */
const probeTexts = [1, 2].map((probe) => JSON.stringify({ probe }));

/** Writes a record of our own in another namespace, which stays there. */
async function probeElsewhere({ openNamespace }: StoreUnderCheck): Promise<readonly Finding[]> {
  const store = await openNamespace(probeNamespace);
  try {
    let { entry } = await store.read(probeKey);
    if (entry === undefined) {
      const created = await store.compareAndSet(probeKey, undefined, probeTexts[0]!);
      if (created.kind === "refused") return [refusedElsewhere(created.error)];
      entry = created.kind === "applied" ? created.entry : (await store.read(probeKey)).entry;
    }
    const sentMs = systemClock.monotonicMs();
    const next = probeTexts.find((text) => text !== entry?.text)!;
    const replaced = await store.compareAndSet(probeKey, entry, next);
    const tripMs = systemClock.monotonicMs() - sentMs;
    if (replaced.kind === "refused") return [refusedElsewhere(replaced.error)];
    if (replaced.kind === "conflict") return [wroteTogether()];
    const detail = `Records can be read, created and replaced; a durable write takes ${tripMs.toFixed(1)} ms (tried in namespace ${probeNamespace}).`;
    return [ok("privileges", detail)];
  } catch (error) {
    return [refusedElsewhere(error)];
  } finally {
    await store.close();
  }
}

function wroteTogether(): Finding {
  return warn(
    "privileges",
    "Another process wrote at the same time, so this check has no result.",
    "Run doctor again.",
  );
}

/** Missing privileges may end at the namespace that was tried; a store that takes no writes takes none of a server. */
function refusedElsewhere(error: unknown): Finding {
  const found = refusedWrite(error);
  if (found.check === "writes") return found;
  const hint = `Give the user the privileges of docs/stores.md. If they end at this namespace, ${probeNamespace} cannot be tried: the first start will show it.`;
  return { ...found, hint, level: "warn" };
}

/** The cause that kept a write from being made: a store that takes none at present, or privileges. */
function refusedWrite(error: unknown): Finding {
  const isUnavailable = error instanceof IdError && error.reason === "STORE_UNAVAILABLE";
  if (!isUnavailable) return failOf("privileges", error, "Give the user the privileges of docs/stores.md.");
  const isSilent = error.metadata["unanswered"] === "write";
  const why = isSilent
    ? "reads are answered, so look in its log and its list of sessions for a lock, a full disk, or a copy that it waits for."
    : "its message says why it does not.";
  return failOf("writes", error, `No server can start before the store takes writes: ${why}`);
}

/**
 * Doctor warns below this many passes over the whole past, unless an eighth of the worker IDs, which servers leave
 * alone, is fewer.
 */
const passesWarn = 8;

/** Checks how often all of the past can still be claimed: each claim of it takes a worker ID that has no record. */
function checkPasses({ total, workers }: WorkerList): Finding {
  const passes = total - workers.length;
  const detail = `${passes} of ${total} worker IDs have an entirely unused past: that many back-fills of the whole time are left.`;
  if (passes >= passesWarn || total < 8 * passesWarn) return ok("back-fills", detail);
  return warn("back-fills", detail, "Back-fill what is to be numbered soon, the oldest rows first: docs/back-fill.md.");
}

function checkWorkers({ total, free, workers, quarantine }: WorkerList): readonly Finding[] {
  const findings: Finding[] = [];
  if (quarantine !== undefined) {
    const detail = `The store is under quarantine ${quarantineWords(quarantine)}`;
    findings.push(warn("quarantine", detail, "Wait: a process that starts before then waits as well. Holders go on."));
  }
  const taken = workers.filter(({ state }) => state !== "released" && state !== "expired").length;
  const used = quarantine === undefined ? total - free : taken;
  const detail = `${used} of ${total} worker IDs are in use (${((used / total) * 100).toFixed(0)} %).`;
  const hint =
    "Stop processes, or plan a layout with more worker bits in a new namespace: a clock that steps back needs spare ones.";
  if (used >= total) findings.push(fail("worker IDs", detail, hint, exitCodes.held));
  else if (used >= total * usedWarnShare) findings.push(warn("worker IDs", detail, hint));
  else findings.push(ok("worker IDs", detail));
  const unreadable = workers.filter(({ state }) => state === "unreadable").length;
  if (unreadable > 0) {
    const seen = `${unreadable} worker ${unreadable === 1 ? "record is" : "records are"} damaged, another program's or a newer version's.`;
    findings.push(
      warn(
        "records",
        seen,
        "See snowlane workers. No process is granted these worker IDs. Never delete a record: it holds a mark.",
      ),
    );
  }
  return findings;
}

function checkLife(layout: Layout): readonly Finding[] {
  const { endTime, yearsLeft, state } = exhaustionOf(layout, systemClock.nowMs());
  const detail = `The layout lasts until ${endTime.slice(0, 10)}, for ${Math.max(0, yearsLeft).toFixed(1)} years.`;
  const hint = "Plan a later epoch in a new namespace.";
  if (state === "exhausted") return [fail("layout's life", detail, hint, exitCodes.clock)];
  return [state === "warning" ? warn("layout's life", detail, hint) : ok("layout's life", detail)];
}
