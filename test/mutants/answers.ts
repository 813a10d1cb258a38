const notAwaited = "An async function that returns a promise ends as that one does: only an error's trace is shorter.";
const headStart = "A head start only: callers who meet the window's end ask for it, and each period renews it.";
const atNextLook = "The next look for a spare worker ID, about a second later, finds the same.";
const clockTold = "It decides only whether a clock that is some seconds off is reported.";
const wordsTold =
  "It decides only in which words the end of a window is reported, where the clock is some seconds off.";

/** Mutants that no test notices, by name, and why that is right. */
export const answers: Readonly<Record<string, string>> = {
  "src/lease/acquire.ts | explainNone | Math.min without the others | Math.min(heldUntilMs, availability.untilMs)":
    "The time is only reported; no grant and no wait depends on it.",
  "src/lease/acquire.ts | tryAcquire | not awaited | await takeOne(context, choice, { ...surveyed, candidates })":
    notAwaited,
  "src/lease/acquire.ts | takeOne | not awaited | await take(context, choosing, candidate)": notAwaited,
  "src/lease/acquire.ts | write | dropped | context.marks.see(next.markMs);":
    "A renewal sees the mark again before it can find a loss, and a grant that lapsed has its mark behind the clock.",
  "src/lease/acquire.ts | explainNone | Math.min without the others | Math.min(silentMs, availability.untilMs) | 2":
    "All silent records were seen first at one look: one that changed later lives, or has not expired yet.",
  "src/lease/acquire.ts | explainNone | not awaited | await unlock(context, workerKey(workerIndex))":
    "It never throws, and the next look comes after its lock is given back.",
  "src/lease/acquire.ts | lock | not awaited | await store.liveness.tryLock(workerKey(workerIndex))": notAwaited,
  'src/lease/acquire.ts | unlock | dropped | if (store.liveness.kind !== "lock") return;':
    "The compiler refuses it: a store without locks has no unlock.",
  'src/lease/observed-store.ts | ObservedStore.moment | not awaited | await this.#noted( "read", "moment", () => this.#store.moment(), (mome':
    notAwaited,
  'src/lease/observed-store.ts | ObservedStore.list | not awaited | await this.#noted( "read", "list", () => this.#store.list(), ({ moment':
    notAwaited,
  'src/lease/observed-store.ts | ObservedStore.read | not awaited | await this.#noted( "read", "read", () => this.#store.read(key), ({ mom':
    notAwaited,
  'src/lease/observed-store.ts | ObservedStore.compareAndSet | not awaited | await this.#noted("write", "compareAndSet", write, momentOfWrite)':
    notAwaited,
  "src/lease/protocol-context.ts | HighestMark.see | > as >= | markMs > this.#ms":
    "A mark that is as high as the highest leaves it as it is.",
  "src/server/call/hot-calls.ts | HotCall.#pump | && as || | !stream.isClosed && !this.#isEnding":
    "A write to a closed stream says no, which ends the loop, and a call that ends leaves it by return.",
  "src/service/hot/packed-stream.ts | PackedStream.#room | < as <= | this.#bytes.length < size":
    "A buffer of exactly the right size is made a second time: slower, and as right.",
  "src/service/hot/issue-ids.ts | settled.settle | < as <= | drawn.count < taken":
    "Where all was handed out, nothing is given back: 0.",
  "src/service/hot/reserve-values.ts | createReserveValues | the other truth | true":
    "JSON goes the general way then: slower, and as right.",
  "src/worker/worker-holder.ts | WorkerHolder.close | not awaited | await this.#loop": notAwaited,
  "src/worker/worker-holder.ts | WorkerHolder.#run | > as >= | waitMs > 0":
    "A sleep of no time goes on in a later turn: slower, and as right.",
  "src/worker/worker-holder.ts | WorkerHolder.#adopt | dropped | this.#rebase.end();":
    "The next look for a spare worker ID finds that none is needed, and ends the rebase.",
  'src/worker/worker-holder.ts | WorkerHolder.#renew | && as || | outcome.kind === "renewed" && grant.untilMs === untilMs':
    "A clock that is that far from the store's is then reported in an outage, too: once a minute, and it is true.",
  "src/worker/worker-holder.ts | WorkerHolder.#onRenewal | dropped | this.#life.extend(); | 3":
    "What a read has confirmed is then used from the next renewal on: later, and as right.",
  "src/worker/worker-holder.ts | WorkerHolder.#onNothingGained | > as >= | aheadMs > this.#life.rules.leadMaxMs + 2 * clockErrorMs":
    clockTold,
  "src/worker/worker-holder.ts | WorkerHolder.#onNothingGained | + as - | this.#life.rules.leadMaxMs + 2 * clockErrorMs":
    clockTold,
  "src/worker/worker-holder.ts | WorkerHolder.#move | not awaited | await this.#life.giveBack(old)":
    "No step that follows touches the record of the worker ID that was left.",
  "src/worker/worker-holder.ts | WorkerHolder.#whyLapsed | <= as < | aheadMs <= this.#life.rules.leadMaxMs + 2 * clockErrorMs":
    wordsTold,
  "src/worker/worker-holder.ts | WorkerHolder.#whyLapsed | + as - | this.#life.rules.leadMaxMs + 2 * clockErrorMs":
    wordsTold,
  "src/worker/worker-holder.ts | WorkerHolder.#onBeat | Math.max without the others | Math.max(wallMs, this.#parts.generator.lastMs)":
    headStart,
  "src/worker/worker-holder.ts | WorkerHolder.#onBeat | Math.max without the others | Math.max(wallMs, this.#parts.generator.lastMs) | 2":
    headStart,
  'src/worker/worker-holder.ts | WorkerHolder.#onBeat | condition turned round | this.#phase.kind === "rebasing"':
    atNextLook,
  'src/worker/worker-holder.ts | WorkerHolder.#onBeat | === as !== | this.#phase.kind === "rebasing"': atNextLook,
  "src/worker/worker-holder.ts | WorkerHolder.#onBeat | dropped | this.#endRebase();": atNextLook,
  "src/worker/worker-holder.ts | WorkerHolder.#onBeat | < as <= | grant.untilMs - usedMs < this.#life.rules.windowMs / 2":
    headStart,
  "src/worker/worker-holder.ts | WorkerHolder.#onBeat | - as + | grant.untilMs - usedMs": headStart,
  "src/worker/worker-holder.ts | WorkerHolder.#onBeat | dropped | this.wantWindow();": headStart,
  "src/worker/worker-holder.ts | WorkerHolder.#renewNow | Math.max without the others | Math.max(this.judge.monotonicMs(), this.#renewedAtMs + renewalGapMs) | 2":
    "A time that is past is due at once, like the present.",
  "src/worker/worker-holder.ts | WorkerHolder.#renewNow | Math.min without the others | Math.min(this.#renewAtMs, soonestMs) | 2":
    "A renewal that was due is then sent a tenth of a second later at most.",
  "src/worker/worker-holder.ts | WorkerHolder.#reportClockOff | < as <= | nowMs < this.#nextClockOffMs":
    "It is reported again a millisecond later.",
  'src/worker/worker-holder.ts | WorkerHolder.#move | not awaited | await this.#adopt(step.granted, "acquired")':
    "Resume records are written and removed in one line, and without one the grant is taken up before a release is sent.",
};

const equalAtBound = "At the bound both branches write the same.";
const clockOfTests = "A millisecond of the database's clock decides, and no test can hold that clock.";
const checkedBeside = "Another check in the same transaction does the same.";

const notAsked = "Rows of keys that nobody asked for are skipped.";

const ofStatements = (slips: readonly string[], answer: string): Readonly<Record<string, string>> =>
  Object.fromEntries(slips.map((slip) => [`src/sequence/stores/statements.ts | ${slip}`, answer]));

/** The same for slips in statements of SQL; `npm run all -- sql-takes sql-changes` tries all others. */
export const sqlAnswers: Readonly<Record<string, string>> = {
  ...ofStatements(
    [
      "top | SQL > as >= | >",
      "databaseStatements | SQL > as >= | >",
      "databaseStatements | SQL > as >= | > | 2",
      "periodStatements | SQL < as <= | < | 3",
      "periodStatements | SQL < as <= | < | 4",
      "periodStatements | SQL condition holds always | c.period_key <> '' | 3",
      "raiseStatements | SQL > as >= | >",
      "raiseStatements | SQL > as >= | > | 2",
      "raiseStatements | SQL > as >= | > | 3",
      "moveStatements | SQL > as >= | > | 4",
    ],
    equalAtBound,
  ),
  ...ofStatements(
    [
      "writeStatements | SQL <= as < | <=",
      "writeStatements | SQL > as >= | >",
      "databaseStatements | SQL + as - | + | 3",
      "databaseStatements | SQL + as - | + | 6",
      "counterStatements | SQL <= as < | <= | 3",
      "moveStatements | SQL + as - | + | 4",
      "moveStatements | SQL > as >= | > | 3",
      "moveStatements | SQL > as >= | > | 5",
    ],
    clockOfTests,
  ),
  ...ofStatements(
    [
      "databaseStatements | SQL condition holds always | stopped <> ''",
      "databaseStatements | SQL condition holds always | move_state = '' | 2",
      // Their key refuses a second row.
      "raiseStatements | SQL condition holds always | NOT EXISTS (SELECT 1 FROM ${counter} c WHERE c.namespace = :namespace ",
      "raiseStatements | SQL condition holds always | NOT EXISTS (SELECT 1 FROM ${counter} c WHERE c.namespace = :namespace  | 2",
      "moveStatements | SQL condition holds always | NOT EXISTS (SELECT 1 FROM ${counter} c WHERE c.namespace = :namespace ",
      "raiseStatements | SQL condition holds always | p.raised_count > m.mark_index",
    ],
    checkedBeside,
  ),
  ...ofStatements(
    [
      "counterStatements | SQL condition holds always | c.name = k.key_name",
      "counterStatements | SQL condition holds always | c.period_key = k.key_period",
    ],
    notAsked,
  ),
};
