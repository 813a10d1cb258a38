/**
 * A protocol with one rule removed: a change to the text of one source file, made while it is loaded. The source itself
 * stays as it is.
 */
export interface Mutant {
  readonly name: string;
  /** The rule that is gone. */
  readonly rule: string;
  /** From the root of the repository. */
  readonly file: string;
  /** Stands exactly once in the file. */
  readonly find: string;
  readonly replace: string;
  /**
   * A seed, of 1 to 10,000, in whose history the checker sees that the rule is gone; `npm run simulate -- --mutants`
   * finds one again. undefined = none is known: see {@link Mutant.heldBy}.
   */
  readonly caughtBySeed: number | undefined;
  /** Where the simulation does not show the rule: a test of the sources that fails without it. */
  readonly heldBy?: { readonly file: string; readonly test: string };
}

/**
 * The text of a mutant's file without the rule.
 *
 * @throws Error if what is to be replaced does not stand there exactly once.
 */
export function patched(text: string, { file, find, replace }: Pick<Mutant, "file" | "find" | "replace">): string {
  const pieces = text.split(find);
  if (pieces.length !== 2) throw new Error(`"${find}" stands ${pieces.length - 1} times in ${file}.`);
  return pieces.join(replace);
}

const holder = "src/worker/worker-holder.ts";
const grantLife = "src/worker/grant-life.ts";
const grantSearch = "src/worker/grant-search.ts";
const renewal = "src/lease/renewal.ts";
const acquire = "src/lease/acquire.ts";
const window = "src/lease/window.ts";
const quarantine = "src/lease/quarantine.ts";
const candidates = "src/lease/candidates.ts";
const lossNotices = "src/lease/loss-notices.ts";
const layoutAgreement = "src/lease/layout-agreement.ts";
const release = "src/lease/release.ts";
/** The random bytes of the kernel are simulated, too. */
const kernel = "test/simulation/simulated-process.ts";
const generator = "src/snowflake/generator.ts";
const leadRule = "src/snowflake/lead-rule.ts";
const resumeRecord = "src/lease/resume/resume-record.ts";
const resumeKeeper = "src/lease/resume/resume-keeper.ts";

const futureTests = "src/lease/records/records-of-the-future.test.ts";

/** All of them. */
export const mutants: readonly Mutant[] = [
  {
    name: "window-at-sending",
    caughtBySeed: 3,
    rule: "the window grows with a durable answer, not when the renewal is sent",
    file: renewal,
    find: "grant.unanswered.set(record.writeId, { text, sentAtMs });",
    replace:
      "grant.unanswered.set(record.writeId, { text, sentAtMs }); grant.untilMs = Math.max(grant.untilMs, markMs);",
  },
  {
    name: "conflict-is-success",
    caughtBySeed: 2,
    rule: "a conflict is read again before anything is believed",
    file: renewal,
    find: 'if (answer.kind === "conflict") {',
    replace: 'if (answer.kind === "conflict") { grant.untilMs = record.markMs; return { kind: "renewed" };',
  },
  {
    name: "silence-is-success",
    caughtBySeed: 9,
    rule: "an acquire without an answer counts only if its own text stands in the store",
    file: acquire,
    find: "if (standing?.text !== text) throw cause;",
    replace: "if (standing === undefined) throw cause;",
  },
  {
    name: "own-clock",
    caughtBySeed: 48,
    rule: "a successor begins at the mark, whatever its clock says",
    file: window,
    find: "const fromMs = Math.max(at.markMs, at.wallMs, at.floorMs);",
    replace: "const fromMs = Math.max(at.wallMs, at.floorMs);",
  },
  {
    name: "lowered-mark",
    caughtBySeed: 180,
    rule: "a renewal never lowers the mark",
    file: window,
    find: "return Math.max(at.markMs, Math.min(wantedMs, allowedMs));",
    replace: "return Math.min(wantedMs, allowedMs);",
  },
  {
    name: "mark-at-issue",
    caughtBySeed: 48,
    rule: "the mark is above every timestamp in use when a worker ID is given back",
    file: release,
    find: "markMs: grant.usedToMs, expiresMs: 0",
    replace: "markMs: grant.usedToMs - 50, expiresMs: 0",
  },
  {
    name: "release-before-stop",
    caughtBySeed: 48,
    rule: "issuing under a grant has stopped, and is noted, before its release is sent",
    file: grantLife,
    find: "this.#issuing.usedToMs = generator.markMs;",
    replace: "",
  },
  {
    name: "release-over-anyone",
    caughtBySeed: 1001,
    rule: "a release compares with the record as last confirmed, not with whatever stands there",
    file: release,
    find: "const answer = await store.compareAndSet(grant.key, grant.entry, text);",
    replace: "const answer = await store.compareAndSet(grant.key, (await store.read(grant.key)).entry, text);",
  },
  {
    name: "renew-over-anyone",
    caughtBySeed: 78,
    rule: "a renewal compares with the record as last confirmed, not with whatever stands there",
    file: renewal,
    find: "const answer = await store.compareAndSet(grant.key, grant.entry, text);",
    replace: "const answer = await store.compareAndSet(grant.key, (await store.read(grant.key)).entry, text);",
  },
  {
    name: "acquire-over-anyone",
    caughtBySeed: 4,
    rule: "an acquire compares with the record from which its window was worked out",
    file: acquire,
    find: "const answer = await store.compareAndSet(key, entry, text);",
    replace: "const answer = await store.compareAndSet(key, (await store.read(key)).entry, text);",
  },
  {
    name: "token-only",
    caughtBySeed: 58,
    rule: "only one of our own unanswered writes is ours, not whatever stands under our token",
    file: renewal,
    find: 'const own = slot.kind === "record" ? grant.unanswered.get(slot.record.writeId) : undefined;',
    replace:
      'const own = slot.kind === "record" && slot.record.token === grant.token ? { text: entry.text, sentAtMs: grant.confirmedAtMs } : undefined;',
  },
  {
    name: "lapsed-goes-on",
    caughtBySeed: 968,
    rule: "a lapsed holder acquires again, it never renews",
    file: renewal,
    find: "return judge.nowMs() >= grant.untilMs;",
    replace: "return false;",
  },
  {
    name: "lapse-not-at-answer",
    caughtBySeed: undefined,
    heldBy: {
      file: "src/lease/renewal.test.ts",
      test: "when the window was over before the answer to the renewal came, although it had landed",
    },
    rule: "lapse is tested again when the answer arrives",
    file: renewal,
    find: "const lapsed = hasLapsed(context, grant);",
    replace: "const lapsed = false;",
  },
  {
    name: "no-quarantine",
    caughtBySeed: 7,
    rule: "grants after a loss begin above everything that was lost",
    file: quarantine,
    find: "const lostMs = t0Ms === 0 ? Number.NEGATIVE_INFINITY : t0Ms + quarantineMs(rules);",
    replace: "const lostMs = Number.NEGATIVE_INFINITY;",
  },
  {
    name: "quarantine-of-own-window",
    caughtBySeed: undefined,
    rule: "the quarantine lasts as long as the longest window of the namespace",
    file: window,
    find: "return rules.windowMaxMs + rules.leadMaxMs + 2 * clockErrorMs;",
    replace: "return rules.leadMaxMs + 2 * clockErrorMs;",
    heldBy: {
      file: "src/lease/window.test.ts",
      test: "a quarantine lasts as long as the longest window, the lead and the error of two clocks",
    },
  },
  {
    name: "quarantine-without-lead",
    caughtBySeed: undefined,
    rule: "the quarantine lasts for the lead, too",
    file: window,
    find: "return rules.windowMaxMs + rules.leadMaxMs + 2 * clockErrorMs;",
    replace: "return rules.windowMaxMs + 2 * clockErrorMs;",
    heldBy: {
      file: "src/lease/window.test.ts",
      test: "a quarantine lasts as long as the longest window, the lead and the error of two clocks",
    },
  },
  {
    name: "quarantine-without-clock-error",
    caughtBySeed: undefined,
    rule: "the quarantine lasts for the error of two clocks, too",
    file: window,
    find: "return rules.windowMaxMs + rules.leadMaxMs + 2 * clockErrorMs;",
    replace: "return rules.windowMaxMs + rules.leadMaxMs;",
    heldBy: {
      file: "src/lease/window.test.ts",
      test: "a quarantine lasts as long as the longest window, the lead and the error of two clocks",
    },
  },
  {
    name: "emptied-is-new",
    caughtBySeed: 13,
    rule: "a store that was emptied is not taken for a new one",
    file: quarantine,
    find: 'empty && emptyMeans === "new" && !sawAnother ? { ...fresh, t0Ms: 0 } : fresh;',
    replace: "{ ...fresh, t0Ms: 0 };",
  },
  {
    name: "emptied-is-forgotten",
    caughtBySeed: 2321,
    rule: "who has seen the layout record of a store knows when it was emptied",
    file: layoutAgreement,
    find: "if (deploymentId === undefined ||",
    replace: "if (deploymentId !== undefined || deploymentId === undefined ||",
  },
  {
    name: "lost-layout-is-new",
    caughtBySeed: undefined,
    heldBy: {
      file: "src/lease/layout-agreement.test.ts",
      test: "is not written by a process that never saw it: under its own layout it would issue the IDs of the holders",
    },
    rule: "where records of workers stand, a layout record is written only by who saw it before",
    file: layoutAgreement,
    find: "hasWorkers(listed) ? lostRecord(context, listed, incarnation, known) : createLayoutRecord(context)",
    replace: "createLayoutRecord(context)",
  },
  {
    name: "restart-is-trusted",
    caughtBySeed: 1636,
    rule: "a store that started again may have lost its last writes",
    file: quarantine,
    find: "if ((known.startedMs ?? undefined) !== startedMs) {",
    replace: "if (startedMs === -1) {",
  },
  {
    name: "identity-is-trusted",
    caughtBySeed: 7,
    rule: "another identity is another store",
    file: quarantine,
    find: "if (!sameIdentity(known.identity, identity)) return fresh;",
    replace: "if (!sameIdentity(known.identity, identity)) return { ...fresh, t0Ms: known.t0Ms };",
  },
  {
    name: "incarnation-before-write",
    caughtBySeed: undefined,
    rule: "the incarnation is compared after the write, too",
    file: quarantine,
    find: "if (!sameIncarnation(floor.moment.incarnation, written.incarnation)) return false;",
    replace: "",
    heldBy: {
      file: "src/lease/quarantine.test.ts",
      test: "the same life of the store answers the write",
    },
  },
  {
    name: "incarnation-before-look",
    caughtBySeed: undefined,
    rule: "the incarnation is compared after the look at the floor, too",
    file: quarantine,
    find: " &&\n    sameIncarnation(floor.moment.incarnation, quarantine.moment.incarnation)",
    replace: "",
    heldBy: {
      file: "src/lease/quarantine.test.ts",
      test: "the same life of the store answers the look at the two records",
    },
  },
  {
    name: "floor-without-incarnation",
    caughtBySeed: undefined,
    rule: "a grant is used only while the incarnation record is that of its floor",
    file: quarantine,
    find: "incarnation.entry?.text === floor.incarnationText &&",
    replace: "",
    heldBy: {
      file: "src/lease/quarantine.test.ts",
      test: "the same incarnation record stands: a store that was emptied, and filled by others, has another",
    },
  },
  {
    name: "floor-without-quarantine",
    caughtBySeed: undefined,
    rule: "a grant is used only while the quarantine mark is that of its floor",
    file: quarantine,
    find: "quarantine.entry?.text === floor.quarantineText &&",
    replace: "",
    heldBy: {
      file: "src/lease/quarantine.test.ts",
      test: "the same quarantine mark stands",
    },
  },
  {
    name: "taken-before-mark",
    caughtBySeed: undefined,
    rule: "where data may be lost, a record is taken over only when every clock has passed its mark",
    file: candidates,
    find: 'return durability === "lossy" ? Math.max(expiresMs, markMs + 2 * clockErrorMs) : expiresMs;',
    replace: "return expiresMs;",
    heldBy: {
      file: "src/lease/candidates.test.ts",
      test: "where data may be lost, a record may be taken over only once every clock has passed its mark, too",
    },
  },
  {
    name: "far-window",
    caughtBySeed: undefined,
    rule: "the store's clock bounds every mark",
    file: window,
    find: ": storeMs + rules.windowMs + rules.leadMaxMs + 2 * clockErrorMs;",
    replace: ": Number.POSITIVE_INFINITY;",
    heldBy: {
      file: "src/lease/window.test.ts",
      test: "ends no later than the store's clock allows, and is not to be had if that leaves less than half",
    },
  },
  {
    name: "far-window-at-renewal",
    caughtBySeed: undefined,
    rule: "the store's clock bounds a window again when the renewal is answered",
    file: renewal,
    find: "Math.min(confirmed.record.markMs, allowedMs)",
    replace: "confirmed.record.markMs",
    heldBy: {
      file: "src/lease/renewal.test.ts",
      test: "gives no more than the store's clock allows as it answers, and takes nothing back",
    },
  },
  {
    name: "issues-at-mark",
    caughtBySeed: 28,
    rule: "the mark is exclusive",
    file: generator,
    find: "tick < this.#untilTick && tick <= this.#lead.limitTick",
    replace: "tick <= this.#untilTick && tick <= this.#lead.limitTick",
  },
  {
    name: "no-mark",
    caughtBySeed: 28,
    rule: "no timestamp at or above the confirmed mark is issued",
    file: generator,
    find: "tick < this.#untilTick && tick <= this.#lead.limitTick",
    replace: "tick <= this.#lead.limitTick",
  },
  {
    name: "grant-starts-low",
    caughtBySeed: 111,
    rule: "a mark in milliseconds is rounded up to ticks",
    file: generator,
    find: "const fromTick = Math.max(0, msToTicksUp(layout, fromMs));",
    replace: "const fromTick = Math.max(0, msToTicksUp(layout, fromMs) - 1);",
  },
  {
    name: "follows-the-clock-back",
    caughtBySeed: 1,
    rule: "time stands when the clock goes back",
    file: generator,
    find: "return Math.max(tick, floorTick);",
    replace:
      "return this.#readingMs < this.#floorMs && floorTick < this.#tick ? floorTick : Math.max(tick, floorTick);",
  },
  {
    name: "mad-clock-is-followed",
    caughtBySeed: 118,
    rule: "a step forward of the clock is followed only when something confirms it",
    file: "src/clock/clock-judge.ts",
    find: "if (gainMs > stepForwardMaxMs) return this.#onForward(wallMs, gainMs, expectedMs, monotonicMs);",
    replace: "",
  },
  {
    name: "mark-dies-with-lease",
    caughtBySeed: 65,
    rule: "a mark outlives its holder's lease",
    file: acquire,
    find: "const markMs = Math.max(record?.markMs ?? Number.NEGATIVE_INFINITY, usedMs);",
    replace: 'const markMs = Math.max(record?.token === "" ? record.markMs : Number.NEGATIVE_INFINITY, usedMs);',
  },
  {
    name: "issues-after-the-end",
    caughtBySeed: 27,
    rule: "after LOST not one more ID",
    file: grantLife,
    find: "    this.#stopIssuing();\n    this.#grant = undefined;",
    replace: "",
  },
  {
    name: "burst-without-bound",
    caughtBySeed: 4,
    rule: "under load timestamps lead the clock by the burst at most, beyond what a rollback left",
    file: leadRule,
    find: "this.limitTick = Math.min(indebtedTick + this.#burstTicks, this.nowTick + this.#leadMaxTicks);",
    replace: "this.limitTick = Math.max(indebtedTick, this.nowTick + this.#leadMaxTicks);",
  },
  {
    name: "resume-at-clock",
    caughtBySeed: 83,
    rule: "a resumed grant begins at its durable mark",
    file: resumeRecord,
    find: "fromMs: record.localMarkMs,",
    replace: "fromMs: now.wallMs,",
  },
  {
    name: "mark-after-use",
    caughtBySeed: undefined,
    heldBy: {
      file: "src/lease/resume/resume-keeper.test.ts",
      test: "that can be neither written nor removed holds every ID at its mark, until the disk is well",
    },
    rule: "the mark of a resume record is durable before timestamps below it are used",
    file: resumeKeeper,
    find: "    try {\n      await journal.write({",
    replace: "    kept.markMs = localMarkMs;\n    try {\n      await journal.write({",
  },
  {
    name: "record-outlives-release",
    caughtBySeed: 2042,
    rule: "a resume record is gone before its grant is released",
    file: grantLife,
    find: "if ((await this.#removeRecords()) !== undefined) return;\n    const outcome",
    replace: "const outcome",
  },
  {
    name: "record-removed-after-release",
    caughtBySeed: 5109,
    rule: "a resume record is gone before the release is sent, not after its answer",
    file: grantLife,
    find:
      "if ((await this.#removeRecords()) !== undefined) return;\n" +
      "    const outcome = await release(context, grant, this.#rules);",
    replace: "const outcome = await release(context, grant, this.#rules); await this.#removeRecords();",
  },
  {
    name: "renewal-sent-before-its-note",
    caughtBySeed: undefined,
    heldBy: {
      file: "src/lease/resume/resume-keeper.test.ts",
      test: "knows a renewal that landed when its answer was lost in the crash: used to pass for a copy's write",
    },
    rule: "a renewal stands in the resume record before it is sent",
    file: grantLife,
    find: "await this.#keeper?.note(grant);\n    return await sendRenewal(context, grant, this.#rules, renewal);",
    replace:
      "const outcome = await sendRenewal(context, grant, this.#rules, renewal); await this.#keeper?.note(grant); return outcome;",
  },
  {
    name: "beat-without-look",
    caughtBySeed: undefined,
    heldBy: {
      file: "src/worker/worker-holder.test.ts",
      test: "a step of the clock is seen at the next heartbeat while there is no grant, too",
    },
    rule: "each heartbeat reads the clock, so that a step is seen while there is no grant, too",
    file: holder,
    find: "const usedMs = Math.max(this.judge.nowMs(), this.#parts.generator.lastMs);",
    replace: "const usedMs = grant === undefined ? 0 : Math.max(this.judge.nowMs(), this.#parts.generator.lastMs);",
  },
  {
    name: "seen-in-vain",
    caughtBySeed: undefined,
    heldBy: {
      file: "src/worker/grant-search.test.ts",
      test: "the layout: a store that is emptied before the next try is not taken for a new one",
    },
    rule: "the layout record that an acquire saw counts, also where the acquire then failed",
    file: lossNotices,
    find: "if (layout !== undefined) this.onLayout(layout);",
    replace: "",
  },
  {
    name: "forgotten-layout",
    caughtBySeed: undefined,
    heldBy: {
      file: "src/worker/grant-search.test.ts",
      test: "the layout: where that record alone is lost before the next try, it is written again as it was",
    },
    rule: "a process that saw the layout record writes it again as it was",
    file: layoutAgreement,
    find: "if (known.layout !== undefined) return known.layout;",
    replace: "",
  },
  {
    name: "unseen-life",
    caughtBySeed: undefined,
    heldBy: {
      file: "src/worker/grant-search.test.ts",
      test: "the life of the store: it is reported that another one answers",
    },
    rule: "the life of the store that an acquire saw is told, also where the acquire then failed",
    file: lossNotices,
    find: "if (incarnation !== undefined) this.#onNoted(incarnation);",
    replace: "",
  },
  {
    name: "unseen-records",
    caughtBySeed: undefined,
    heldBy: {
      file: "src/worker/grant-search.test.ts",
      test: "the records: how many worker IDs are free shows, and those that are damaged are reported",
    },
    rule: "the records that an acquire saw are told, also where the acquire then failed",
    file: grantSearch,
    find: "if (seen.candidates !== undefined) this.#onCandidates(seen.candidates);",
    replace: 'if (seen.candidates !== undefined && outcome.kind !== "failed") this.#onCandidates(seen.candidates);',
  },
  {
    name: "unseen-marks",
    caughtBySeed: undefined,
    heldBy: {
      file: "src/worker/grant-search.test.ts",
      test: "the marks: a quarantine after a loss begins above the highest that stood in any record",
    },
    rule: "the marks that an acquire saw count for a later quarantine, also where the acquire then failed",
    file: acquire,
    find: "for (const markMs of candidates.marks()) context.marks.see(markMs);",
    replace: "",
  },
  {
    name: "silent-clock",
    caughtBySeed: undefined,
    heldBy: {
      file: "src/worker/grant-search.test.ts",
      test: "a start that a clock far from the store's holds back says so",
    },
    rule: "a clock that is too far from the store's is told, also where it keeps a process from starting",
    file: grantSearch,
    find: "return { ...step, clockAheadMs: outcome.aheadMs };",
    replace: "return step;",
  },
  {
    name: "unresolved-renewal",
    caughtBySeed: 298,
    rule: "a resumed grant is resolved before its first renewal",
    file: renewal,
    find: "if (grant.unanswered.size > 0 || !grant.isResolved) {",
    replace: "if (grant.unanswered.size > 0) {",
  },
  {
    name: "resumed-renews-anywhere",
    caughtBySeed: undefined,
    heldBy: {
      file: "src/lease/resume/resume-keeper.test.ts",
      test: "under another life of the store is used up and not renewed; then a new grant waits for the quarantine",
    },
    rule: "a resumed grant is renewed only under the life of the store that granted it",
    file: renewal,
    find: "return grant.isResumed && !equalIncarnation(grant.incarnation, moment.incarnation);",
    replace: "return false;",
  },
  {
    name: "part-added-in-silence",
    caughtBySeed: undefined,
    heldBy: {
      file: "src/lease/quarantine.test.ts",
      test: "takes up a part that it does not name yet, and t0 moves to now, once",
    },
    rule: "a part that the record does not name yet may have been another one until now",
    file: quarantine,
    find: "if (sawAnother || same.identity !== known.identity) return same;",
    replace: "if (sawAnother) return same; if (same.identity !== known.identity) return { ...same, t0Ms: known.t0Ms };",
  },
  {
    name: "untold-part-dropped",
    caughtBySeed: undefined,
    heldBy: {
      file: "src/lease/quarantine.test.ts",
      test: "keeps a part that this server does not tell",
    },
    rule: "a part that this server does not tell stays in the record",
    file: quarantine,
    find: "identity: joinIdentities(known.identity, identity),",
    replace: "identity,",
  },
  {
    name: "own-sight-ignored",
    caughtBySeed: undefined,
    heldBy: {
      file: "src/lease/quarantine.test.ts",
      test: "is written once by a process that saw the store go away and come back: nobody else could know",
    },
    rule: "a process that itself saw another life notes it, whatever the record names",
    file: quarantine,
    find: "if (sawAnother || same.identity !== known.identity) return same;",
    replace: "if (same.identity !== known.identity) return same;",
  },
  {
    name: "start-of-unknown-system",
    caughtBySeed: undefined,
    heldBy: {
      file: "src/lease/quarantine.test.ts",
      test: "of a server that started again has t0 = its start only if both name the same system",
    },
    rule: "the start of a server counts for data that are known to be the same",
    file: quarantine,
    find: "if (startedMs === undefined || !isSystemKnown) return same;",
    replace: "if (startedMs === undefined) return same;",
  },
  {
    name: "nothing-in-common",
    caughtBySeed: undefined,
    heldBy: {
      file: "src/store/store-identity.test.ts",
      test: "two identities are one if all parts that both name are equal, and there is such a part",
    },
    rule: "two identities without a common part are different",
    file: "src/store/store-identity.ts",
    find: "return common.length > 0 && common.every(",
    replace: "return common.every(",
  },
  {
    name: "resumed-part-missing",
    caughtBySeed: undefined,
    heldBy: {
      file: "src/lease/resume/resume-keeper.test.ts",
      test: "under a life that tells one more part of the store is used up and not renewed; then a new grant waits for the quarantine",
    },
    rule: "for a resumed grant a part that only one names counts as different",
    file: "src/store/store-identity.ts",
    find: "return parts.size === others.size && [...parts].every(",
    replace: "return [...parts].every(",
  },
  {
    name: "added-dropped",
    caughtBySeed: undefined,
    heldBy: { file: futureTests, test: "by an acquire, a renewal and a release of another holder" },
    rule: "a field that a later version added to a record is kept by a process that does not know it",
    file: acquire,
    find: "added: record?.added ?? noneAdded,",
    replace: "added: noneAdded,",
  },
  {
    name: "higher-format-taken",
    caughtBySeed: undefined,
    heldBy: {
      file: futureTests,
      test: "bars its worker ID alone, and says so to a process that is pinned to it",
    },
    rule: "a record of a higher format is never taken for one of our own",
    file: "src/lease/records/record-text.ts",
    find: "if (version === formatVersion) return",
    replace: "if (version !== undefined) return",
  },
  {
    name: "higher-format-not-judged",
    caughtBySeed: undefined,
    heldBy: { file: futureTests, test: "ends a holder as one of its own format would where it took it over" },
    rule: "a holder judges a record of a higher format by its fence, as one of its own",
    file: renewal,
    find: 'if (slot.kind === "unreadable") {',
    replace: 'if (slot.kind !== "record") {',
  },
  {
    name: "higher-format-mark-unseen",
    caughtBySeed: undefined,
    heldBy: { file: futureTests, test: "shows its mark to a quarantine after a loss" },
    rule: "the mark of a record of a higher format counts for a later quarantine",
    file: candidates,
    find: 'if (slot.kind === "newer") this.#newerMarks.push(slot.fence.markMs);',
    replace: "",
  },
  {
    name: "newer-marks-moved-over",
    caughtBySeed: undefined,
    heldBy: { file: futureTests, test: "is not moved to another store, whether it stands in this one or in that" },
    rule: "a move replaces no record that only a newer version can write again",
    file: "src/operator/store-move/copy-marks.ts",
    find: "refuseNewer(standing);",
    replace: "",
  },
  {
    name: "slab-given-twice",
    caughtBySeed: undefined,
    heldBy: {
      file: "src/http2/output-buffer.test.ts",
      test: "a slab that is told of twice is given back once: two connections would write into one",
    },
    rule: "a slab of output goes back to the pool once",
    file: "src/http2/output-buffer.ts",
    find: "    this.#taken = undefined;\n",
    replace: "",
  },
  {
    name: "same-random",
    caughtBySeed: 636,
    rule: "random bits come from the kernel, so that two copies of a process draw differently",
    file: kernel,
    find: "shadow.#random = random;",
    replace: "",
  },
];
