import type { Mutant } from "./mutant.ts";

const grantLife = "src/worker/grant-life.ts";
const renewal = "src/lease/renewal.ts";
const acquire = "src/lease/acquire.ts";
const window = "src/lease/window.ts";
const quarantine = "src/lease/quarantine.ts";
const layoutAgreement = "src/lease/layout-agreement.ts";
const release = "src/lease/release.ts";
/** The random bytes of the kernel are simulated, too. */
const kernel = "test/simulation/simulated-process.ts";
const generator = "src/snowflake/generator.ts";
const leadRule = "src/snowflake/lead-rule.ts";
const resumeRecord = "src/lease/resume/resume-record.ts";

/** Those that the checker catches in the history of a seed. `npm run simulate -- --mutants --write` writes here. */
export const seedMutants: readonly Mutant[] = [
  {
    name: "window-at-sending",
    caughtBySeed: 3,
    rule: "the window grows with a durable answer, not when the renewal is sent",
    file: renewal,
    find: "grant.unanswered.set(record.writeId, { text, markMs, sentAtMs });",
    replace:
      "grant.unanswered.set(record.writeId, { text, markMs, sentAtMs }); grant.untilMs = Math.max(grant.untilMs, markMs);",
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
    find: "answer = await store.compareAndSet(key, entry, text);",
    replace: "answer = await store.compareAndSet(key, (await store.read(key)).entry, text);",
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
    name: "no-quarantine",
    caughtBySeed: 7,
    rule: "grants after a loss begin above everything that was lost",
    file: quarantine,
    find: "const lostMs = t0Ms === 0 ? Number.NEGATIVE_INFINITY : t0Ms + quarantineMs(rules);",
    replace: "const lostMs = Number.NEGATIVE_INFINITY;",
  },
  {
    name: "no-floor",
    caughtBySeed: 7,
    rule: "nothing is granted before a quarantine is over",
    file: quarantine,
    find: "floorMs: Math.max(mark?.untilMs ?? Number.NEGATIVE_INFINITY, lostMs),",
    replace: "floorMs: Number.NEGATIVE_INFINITY,",
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
    find: "return { ...fresh, earlier: addEarlierLife(",
    replace: "return { ...fresh, t0Ms: known.t0Ms, earlier: addEarlierLife(",
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
    name: "unresolved-renewal",
    caughtBySeed: 298,
    rule: "a resumed grant is resolved before its first renewal",
    file: renewal,
    find: "if (grant.unanswered.size > 0 || !grant.isResolved) {",
    replace: "if (grant.unanswered.size > 0) {",
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
