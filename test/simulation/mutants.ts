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
   * finds one anew. undefined = none is known: see {@link Mutant.heldBy}.
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
const renewal = "src/worker/renewal.ts";
const acquire = "src/worker/acquire.ts";
const window = "src/worker/window.ts";
const quarantine = "src/worker/quarantine.ts";
const lossNotices = "src/worker/loss-notices.ts";
const candidates = "src/worker/candidates.ts";
const layoutRecord = "src/worker/layout-record.ts";
const release = "src/worker/release.ts";
/** What the kernel gives is simulated, too. */
const kernel = "test/simulation/simulated-process.ts";
const generator = "src/snowflake/generator.ts";
const leadRule = "src/snowflake/lead-rule.ts";
const resumeRecord = "src/worker/resume-record.ts";
const resumeKeeper = "src/worker/resume-keeper.ts";

/** All of them. */
export const mutants: readonly Mutant[] = [
  {
    name: "window-at-sending",
    caughtBySeed: 3,
    rule: "the window grows with a durable answer, not when the renewal is sent",
    file: renewal,
    find: "grant.unanswered.set(next.writeId, { text, sentAtMs });",
    replace: "grant.unanswered.set(next.writeId, { text, sentAtMs }); grant.untilMs = Math.max(grant.untilMs, hwmMs);",
  },
  {
    name: "conflict-is-success",
    caughtBySeed: 2,
    rule: "a conflict is read again before anything is believed",
    file: renewal,
    find: 'if (answer.kind === "conflict") {',
    replace: 'if (answer.kind === "conflict") { grant.untilMs = hwmMs; return { kind: "renewed" };',
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
    find: "const fromMs = Math.max(at.hwmMs, at.wallMs, at.floorMs);",
    replace: "const fromMs = Math.max(at.wallMs, at.floorMs);",
  },
  {
    name: "lowered-mark",
    caughtBySeed: 180,
    rule: "a renewal never lowers the mark",
    file: window,
    find: "return Math.max(at.hwmMs, Math.min(wantedMs, allowedMs));",
    replace: "return Math.min(wantedMs, allowedMs);",
  },
  {
    name: "mark-at-issue",
    caughtBySeed: 48,
    rule: "the mark is above every timestamp in use when a worker ID is given back",
    file: release,
    find: "hwmMs: grant.usedToMs, expiresMs: 0",
    replace: "hwmMs: grant.usedToMs - 50, expiresMs: 0",
  },
  {
    name: "release-before-stop",
    caughtBySeed: 48,
    rule: "issuing under a grant has stopped, and is noted, before its release is sent",
    file: holder,
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
    find: "const own = record && grant.unanswered.get(record.writeId);",
    replace:
      "const own = record?.token === grant.token ? { text: entry.text, sentAtMs: grant.confirmedAtMs } : undefined;",
  },
  {
    name: "lapsed-goes-on",
    caughtBySeed: 968,
    rule: "a lapsed holder acquires anew, it never renews",
    file: renewal,
    find: "return judge.nowMs() >= grant.untilMs;",
    replace: "return false;",
  },
  {
    name: "lapse-not-at-answer",
    caughtBySeed: undefined,
    heldBy: {
      file: "src/worker/renewal.test.ts",
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
    name: "short-quarantine",
    caughtBySeed: 209,
    rule: "the quarantine is the longest window, the lead and the error of two clocks",
    file: window,
    find: "return rules.windowMaxMs + rules.leadMaxMs + 2 * clockErrorMs;",
    replace: "return rules.windowMaxMs / 2;",
  },
  {
    name: "emptied-is-new",
    caughtBySeed: 13,
    rule: "a store that was emptied is not taken for a new one",
    file: quarantine,
    find: 't0Ms: empty && emptyMeans === "new" ? 0 : nowMs };',
    replace: "t0Ms: 0 };",
  },
  {
    name: "emptied-is-forgotten",
    caughtBySeed: 2321,
    rule: "who has seen the layout record of a store knows when it was emptied",
    file: lossNotices,
    find: "if (known === undefined ||",
    replace: "if (known !== undefined || known === undefined ||",
  },
  {
    name: "lost-layout-is-new",
    caughtBySeed: undefined,
    heldBy: {
      file: "src/worker/layout-record.test.ts",
      test: "is not written by who never saw it: under his own layout he would issue what they issue",
    },
    rule: "where records of workers stand, a layout record is written only by who saw it before",
    file: layoutRecord,
    find: "hasWorkers(listed) ? lostRecord(context, listed, incarnation) : createLayoutRecord(context)",
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
    find: "if (known.identity !== identity) return { ...fresh, t0Ms: nowMs };",
    replace: "if (known.identity !== identity) return { ...known, ...fresh };",
  },
  {
    name: "incarnation-before-write",
    caughtBySeed: 4550,
    rule: "the incarnation is compared after the write, too",
    file: quarantine,
    find: "if (!sameIncarnation(floor.moment.incarnation, written.incarnation)) return false;",
    replace: "return true;",
  },
  {
    name: "taken-before-mark",
    caughtBySeed: 370,
    rule: "where data may be lost, a record is taken over only when every clock has passed its mark",
    file: candidates,
    find: 'return durability === "lossy" ? Math.max(expiresMs, hwmMs + 2 * clockErrorMs) : expiresMs;',
    replace: "return Math.min(expiresMs, hwmMs) - 3_000;",
  },
  {
    name: "far-window",
    caughtBySeed: 44,
    rule: "the store's clock bounds every mark",
    file: window,
    find: ": storeMs + rules.windowMs + rules.leadMaxMs + 2 * clockErrorMs;",
    replace: ": storeMs + 20 * rules.windowMs;",
  },
  {
    name: "issues-at-mark",
    caughtBySeed: 6,
    rule: "the mark is exclusive",
    file: generator,
    find: "tick < this.#untilTick && tick <= this.#lead.limitTick",
    replace: "tick <= this.#untilTick && tick <= this.#lead.limitTick",
  },
  {
    name: "no-mark",
    caughtBySeed: 3,
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
    file: "src/worker/clock-judge.ts",
    find: "if (gainMs > stepForwardMaxMs) return this.#onForward(wallMs, gainMs, expectedMs, monotonicMs);",
    replace: "",
  },
  {
    name: "mark-dies-with-lease",
    caughtBySeed: 65,
    rule: "a mark outlives its holder's lease",
    file: acquire,
    find: "const hwmMs = Math.max(record?.hwmMs ?? Number.NEGATIVE_INFINITY, usedMs);",
    replace: 'const hwmMs = Math.max(record?.token === "" ? record.hwmMs : Number.NEGATIVE_INFINITY, usedMs);',
  },
  {
    name: "issues-after-the-end",
    caughtBySeed: 27,
    rule: "after LOST not one more ID",
    file: holder,
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
      file: "src/worker/resume-keeper.test.ts",
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
    file: holder,
    find: "if ((await this.#removeRecords()) !== undefined) return;\n    const outcome",
    replace: "const outcome",
  },
  {
    name: "record-removed-after-release",
    caughtBySeed: 5109,
    rule: "a resume record is gone before the release is sent, not after its answer",
    file: holder,
    find:
      "if ((await this.#removeRecords()) !== undefined) return;\n" +
      "    const outcome = await release(this.#context, grant, this.#rules);",
    replace: "const outcome = await release(this.#context, grant, this.#rules); await this.#removeRecords();",
  },
  {
    name: "resumed-renews-anywhere",
    caughtBySeed: undefined,
    heldBy: {
      file: "src/worker/resume-keeper.test.ts",
      test: "under another life of the store is used up and not renewed; then a new grant waits for the quarantine",
    },
    rule: "a resumed grant is renewed only under the life of the store that granted it",
    file: renewal,
    find: "return grant.isResumed && !sameIncarnation(grant.incarnation, moment.incarnation);",
    replace: "return false;",
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
