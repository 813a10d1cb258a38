/**
 * The rule for new grants after a store lost data, or may have: the floor below which none begins.
 *
 * Two records beside the others hold it. The incarnation record says when (t0) which life of the store was first seen;
 * it is lost together with the others, and that reveals the loss. The quarantine mark is written by a holder whose
 * record went back, or by an operator.
 */
import { IdError } from "../errors.ts";
import {
  type Entry,
  type ListAnswer,
  type RecordStore,
  type StoreMoment,
  sameIncarnation,
  unlessRefused,
} from "../store/record-store.ts";
import { joinIdentities, namesPart, sameIdentity, systemPart } from "../store/store-identity.ts";
import type { StoreChanges } from "./store-changes.ts";
import { quarantineMs, type WindowRules } from "./window.ts";
import {
  encodeIncarnationRecord,
  type IncarnationRecord,
  parseIncarnationRecord,
} from "./records/incarnation-record.ts";
import { addEarlierLife, endOfLife } from "./records/earlier-lives.ts";
import { parseLayoutSlot } from "./records/layout-slot.ts";
import { encodeMoveRecord } from "./records/move-record.ts";
import { encodeQuarantineRecord, foreverMs, isForever, parseQuarantineRecord } from "./records/quarantine-record.ts";
import { noneAdded } from "./records/added-fields.ts";
import { recordKeys } from "./records/record-text.ts";

/** The floor of a grant, and the texts that it was read from, which must be unchanged after the grant was written. */
export interface QuarantineFloor {
  /** No grant begins below it: Unix milliseconds; -Infinity if nothing was lost. */
  readonly floorMs: number;
  /** The reason, for operators. */
  readonly detail: string;
  readonly incarnationText: string;
  readonly quarantineText: string | undefined;
  readonly moment: StoreMoment;
}

/** By kind of store: what else, apart from another store or an empty one, looks like another life. */
const lifeChanges: Readonly<Partial<Record<string, string>>> = {
  mysql: "started again, its table was made again (OPTIMIZE TABLE, ALTER TABLE)",
  postgres: "started again or was promoted, its table was made again",
  redis: "started again, another server was promoted, its first replica attached",
  zookeeper: "elected a leader or went back, its tree was made again",
};

/** Why new grants wait where no mark says it; for operators. */
export function lossDetail(kind: string): string {
  return `the store ${lifeChanges[kind] ?? "went back to an older copy"}, it is another one, or it was emptied`;
}

/** The present time for quarantines: the store's clock where it has one, otherwise the wall clock. */
export function storeNowMs(moment: StoreMoment, wallMs: number): number {
  return moment.clockMs ?? wallMs;
}

/**
 * Works out the floor.
 *
 * @param incarnation - From {@link noteIncarnation} on the same list.
 * @param kind - Scheme of the store.
 * @throws IdError INVALID_CONFIG for a foreign record, or one of a higher format.
 */
export function quarantineFloor(
  listed: ListAnswer,
  incarnation: NotedIncarnation,
  rules: WindowRules,
  kind: string,
): QuarantineFloor {
  const quarantineText = listed.entries.find(({ key }) => key === recordKeys.quarantine)?.text;
  const mark = quarantineText === undefined ? undefined : parseQuarantineRecord(quarantineText);
  const { t0Ms } = incarnation.record;
  const lostMs = t0Ms === 0 ? Number.NEGATIVE_INFINITY : t0Ms + quarantineMs(rules);
  return {
    floorMs: Math.max(mark?.untilMs ?? Number.NEGATIVE_INFINITY, lostMs),
    detail: mark !== undefined && mark.untilMs > lostMs ? mark.reason : lossDetail(kind),
    incarnationText: incarnation.entry.text,
    quarantineText,
    moment: incarnation.moment,
  };
}

/**
 * Whether a grant written under `floor` may be used: after the write, the same incarnation answers, and the two records
 * are unchanged. A store that was emptied between the look and the write would otherwise take the grant without a
 * quarantine.
 *
 * @param written - The moment of the write's answer.
 */
export async function floorStands(store: RecordStore, floor: QuarantineFloor, written: StoreMoment): Promise<boolean> {
  if (!sameIncarnation(floor.moment.incarnation, written.incarnation)) return false;
  const incarnation = await store.read(recordKeys.incarnation);
  const quarantine = await store.read(recordKeys.quarantine);
  return (
    incarnation.entry?.text === floor.incarnationText &&
    quarantine.entry?.text === floor.quarantineText &&
    sameIncarnation(floor.moment.incarnation, quarantine.moment.incarnation)
  );
}

/** The incarnation record as it is in the store. */
export interface NotedIncarnation {
  readonly record: IncarnationRecord;
  readonly entry: Entry;
  readonly moment: StoreMoment;
  /** Whether the record named another incarnation until now. */
  readonly changed: boolean;
}

/**
 * Rounds of compare-and-set before the caller has to try again. Other processes note the same, so the second round is
 * nearly always the last.
 */
const noteRoundsMax = 5;

/**
 * Notes the store's incarnation beside the records unless it is noted already. The process that sees it first does so;
 * from then on t0 is the same for all. docs/adr/0011 says why it is noted there.
 *
 * @param storeChanges - The changes that this process saw; those that are not reported yet are reported with it.
 * @param seen - The findings of an answer: the record, if there was one, and whether the store holds no record at
 * all.
 */
export async function noteIncarnation(
  store: RecordStore,
  storeChanges: StoreChanges,
  seen: { readonly entry: Entry | undefined; readonly moment: StoreMoment; readonly empty: boolean },
  wallMs: number,
): Promise<NotedIncarnation> {
  let { entry, moment } = seen;
  for (let round = 0; round < noteRoundsMax; round += 1) {
    // A list is not a snapshot: if it shows other records but not this one, a read decides.
    if (entry === undefined) ({ entry, moment } = await store.read(recordKeys.incarnation));
    const known = entry && parseIncarnationRecord(entry.text);
    const { changes, hasUnreported: sawAnother } = storeChanges;
    const sight = { moment, empty: seen.empty, sawAnother };
    const record = judgeIncarnation(known, sight, storeNowMs(moment, wallMs));
    if (record === known && entry !== undefined) return { record, entry, moment, changed: false };
    const written = unlessRefused(
      await store.compareAndSet(recordKeys.incarnation, entry, encodeIncarnationRecord(record)),
    );
    if (written.kind === "applied" && sameIncarnation(written.moment.incarnation, moment.incarnation)) {
      storeChanges.reported(changes);
      return { record, entry: written.entry, moment: written.moment, changed: known !== undefined };
    }
    entry = undefined;
  }
  const message = `The record of the ${store.kind} store's life was changed by others ${noteRoundsMax} times while this process tried to write it. If that goes on, check whether two stores answer under this URL.`;
  throw new IdError("STORE_UNAVAILABLE", message, { metadata: { store: store.kind, rounds: noteRoundsMax } });
}

/** What a process knows of the store's present life. */
export interface IncarnationSight {
  readonly moment: StoreMoment;
  /** Whether the store holds no record at all. */
  readonly empty: boolean;
  /** Whether this process itself saw another life, and has not noted since that it ended. */
  readonly sawAnother: boolean;
}

/**
 * Returns the incarnation record that the store should have, given the one that it has. docs/adr/0103 has the rules.
 *
 * @returns `known` itself if it is right.
 */
export function judgeIncarnation(
  known: IncarnationRecord | undefined,
  { moment, empty, sawAnother }: IncarnationSight,
  nowMs: number,
): IncarnationRecord {
  const { identity, startedMs, emptyMeans } = moment.incarnation;
  const fresh = { identity, startedMs: startedMs ?? null, t0Ms: nowMs, added: known?.added ?? noneAdded };
  if (known === undefined) return empty && emptyMeans === "new" && !sawAnother ? { ...fresh, t0Ms: 0 } : fresh;
  if (!sameIdentity(known.identity, identity)) {
    return { ...fresh, earlier: addEarlierLife(known.earlier, known.identity, nowMs) };
  }
  // A part that was not noted yet may have been a different one until now. A part that this server does not report is
  // kept.
  const same = {
    ...fresh,
    earlier: known.earlier,
    identity: joinIdentities(known.identity, identity),
    t0Ms: Math.max(known.t0Ms, nowMs),
  };
  if (sawAnother || same.identity !== known.identity) return same;
  if ((known.startedMs ?? undefined) !== startedMs) {
    // The same data under a server that started again: anything that it lost was granted before the start. The system
    // part of the identity shows whether the data is the same.
    const isSystemKnown = namesPart(known.identity, systemPart) && namesPart(identity, systemPart);
    if (startedMs === undefined || !isSystemKnown) return same;
    return { ...same, t0Ms: Math.max(known.t0Ms, startedMs + startWobbleMs) };
  }
  return known;
}

/**
 * Refuses a life of the store that comes back within Q of its end: two servers that are not one store answer in turn.
 * It was noted like every change, so that later starts wait long enough. docs/adr/0150 has the decision.
 *
 * @throws IdError INVALID_CONFIG.
 */
export function checkOneStore(
  { identity, earlier }: IncarnationRecord,
  kind: string,
  nowMs: number,
  rules: Pick<WindowRules, "windowMaxMs" | "leadMaxMs">,
): void {
  const endMs = endOfLife(earlier, identity);
  if (endMs === undefined || nowMs >= endMs + quarantineMs(rules)) return;
  const fromMs = endMs + quarantineMs(rules);
  const message =
    `Two stores answer under this URL: name one writer. The ${kind} store became another one, and then this one again, ` +
    `as after a failover and back. In that case start again after ${new Date(fromMs).toISOString()}.`;
  throw new IdError("INVALID_CONFIG", message, { metadata: { store: kind, identity, from_unix_ms: fromMs } });
}

/** The error of a start that is given in whole seconds: it may be too early by this much. */
const startWobbleMs = 1_000;

/**
 * Writes a quarantine mark for the whole store, or raises the present one. While the namespace is leaving the store,
 * the present one has no end, and the move record holds the quarantine that binds the store besides; then that one is
 * raised.
 *
 * @param mark - `untilMs` and why; see QuarantineRecord.
 * @returns The end of the quarantine, and whether this call set or raised it.
 */
export async function writeQuarantine(
  store: RecordStore,
  mark: { readonly sinceMs: number; readonly untilMs: number; readonly reason: string },
): Promise<{ readonly untilMs: number; readonly written: boolean }> {
  for (let round = 0; round < noteRoundsMax; round += 1) {
    const { entry } = await store.read(recordKeys.quarantine);
    const standing = entry && parseQuarantineRecord(entry.text);
    if (entry !== undefined && isForever(entry)) {
      const raised = await raiseInMove(store, mark.untilMs);
      if (raised !== undefined) return raised;
      continue;
    }
    const isHighEnough = standing !== undefined && standing.untilMs >= mark.untilMs;
    if (isHighEnough && !store.readsMayBeUndone) return { untilMs: standing.untilMs, written: false };
    // A mark that was only read is written again, a millisecond later: a database may report success for a text that
    // changes nothing, without writing it.
    const next = isHighEnough
      ? { ...standing, untilMs: standing.untilMs + 1 }
      : { ...mark, added: standing?.added ?? noneAdded };
    const answer = unlessRefused(await store.compareAndSet(recordKeys.quarantine, entry, encodeQuarantineRecord(next)));
    if (answer.kind === "applied") return { untilMs: next.untilMs, written: !isHighEnough };
  }
  const message = `The quarantine mark was changed by others ${noteRoundsMax} times while this process tried to raise it. Try again.`;
  throw new IdError("STORE_UNAVAILABLE", message, { metadata: { store: store.kind, rounds: noteRoundsMax } });
}

/**
 * Raises the quarantine that binds a store apart from the endless one that its move wrote. The next process that takes
 * the move back, or copies the marks, puts it in place of the endless one.
 *
 * @returns undefined if the record changed meanwhile: then the mark has to be read again.
 */
async function raiseInMove(
  store: RecordStore,
  untilMs: number,
): Promise<{ readonly untilMs: number; readonly written: boolean } | undefined> {
  const { entry } = await store.read(recordKeys.layout);
  const slot = entry && parseLayoutSlot(entry.text);
  if (slot?.kind === "layout") return undefined;
  // A store that its namespace has left grants nothing until the namespace comes back, and the move back brings its own
  // quarantine.
  if (slot?.move.phase !== "leaving") return { untilMs: foreverMs, written: false };
  const { quarantineUntilMs } = slot.move;
  const isHighEnough = quarantineUntilMs !== null && quarantineUntilMs >= untilMs;
  if (!store.readsMayBeUndone && isHighEnough) return { untilMs: quarantineUntilMs, written: false };
  const nextMs = isHighEnough ? quarantineUntilMs + 1 : untilMs;
  const text = encodeMoveRecord({ ...slot.move, quarantineUntilMs: nextMs });
  const answer = unlessRefused(await store.compareAndSet(recordKeys.layout, entry, text));
  return answer.kind === "applied" ? { untilMs: nextMs, written: !isHighEnough } : undefined;
}
