import type { Mutant } from "./mutant.ts";

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
const resumeKeeper = "src/lease/resume/resume-keeper.ts";
const futureTests = "src/lease/records/records-of-the-future.test.ts";

/** Those that no known seed shows: a test of the sources fails with each. */
export const testMutants: readonly Mutant[] = [
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
    name: "two-stores-in-turn",
    caughtBySeed: undefined,
    rule: "a start ends where a life of the store that ended comes back",
    file: acquire,
    find: "checkOneStore(incarnation.record, store.kind, storeNowMs(incarnation.moment, wallMs), rules);",
    replace: "",
    heldBy: {
      file: "src/worker/worker-holder.test.ts",
      test: "and is two stores in turn: starts noted each against the other for ever; now a start ends, and t0 still moves",
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
];
