/** One run of the model checker. */
export interface Check {
  /** Says what is checked, or which rule is removed. */
  readonly title: string;
  readonly model: "durable" | "lossy";
  /** Bounds and switches, as the head of the model lists them. */
  readonly defines: Readonly<Record<string, number>>;
  /** `exhausted`: every reachable state within the bounds is visited, no error. `caught`: an assertion fails. */
  readonly expected: "exhausted" | "caught";
  /** `suite`: part of the tests. `full`: by `npm run model -- --size full`. */
  readonly size: "suite" | "full";
}

const holds = (
  size: Check["size"],
  model: Check["model"],
  title: string,
  defines: Readonly<Record<string, number>>,
): Check => ({ title, model, defines, expected: "exhausted", size });

const mutant = (
  model: Check["model"],
  name: string,
  title: string,
  defines: Readonly<Record<string, number>>,
): Check => ({
  title: `without the rule: ${title}`,
  model,
  defines: { ...defines, [`MUTANT_${name}`]: 1 },
  expected: "caught",
  size: "suite",
});

const small = { WRITES: 4, TICKS: 3 };
const resuming = { ...small, RESUMERS: 2 };
const resumingLong = { ...small, WINDOW: 2, RESUMERS: 1 };
const cloning = { WRITES: 3, RESUMERS: 1, CLONES: 1, TICKS: 3, WINDOW: 2 };
const brief = { TIME_MAX: 4 };
const claiming = { TIME_MAX: 3, WINDOW: 1, PAST: 1 };

/** Every run, the tests' first. */
export const checks: readonly Check[] = [
  holds("suite", "durable", "acquire, renew, release", { WRITES: 5, TICKS: 4, WINDOW: 2, CLOCK_MAX: 1 }),
  holds("suite", "durable", "the same with resume", { WRITES: 4, TICKS: 4, WINDOW: 2, CLOCK_MAX: 1, RESUMERS: 2 }),
  holds("suite", "durable", "rebase over two worker IDs, with resume", { ...small, WORKERS: 2, RESUMERS: 1 }),
  holds("suite", "durable", "a process is cloned, without resume records", { WRITES: 4, TICKS: 4, CLONES: 1 }),
  holds("suite", "durable", "a process is cloned, with resume records", {
    WRITES: 3,
    TICKS: 3,
    CLONES: 1,
    RESUMERS: 2,
  }),
  holds("suite", "durable", "claims of the past between any two steps", { ...small, CLOCK_MAX: 1, PAST: 1 }),
  holds("suite", "durable", "the same with resume", { ...resuming, PAST: 1 }),
  mutant("durable", "PAST_BELOW_MARK", "a claim of the past begins at the mark or above", { ...small, PAST: 1 }),
  mutant("durable", "PAST_RAISES_NO_MARK", "a claim of the past raises the mark to its end", { ...small, PAST: 1 }),
  mutant("durable", "PAST_WITHOUT_COMPARE", "a claim of the past compares the whole record", { ...small, PAST: 1 }),
  mutant("durable", "NO_COMPARE", "the store compares before it writes", small),
  mutant("durable", "OWN_CLOCK", "a successor begins at the mark, whatever its clock says", small),
  mutant("durable", "SILENCE_IS_SUCCESS", "no answer is not success: read again", small),
  mutant("durable", "WINDOW_AT_SENDING", "the window grows with the answer, not with the request", small),
  mutant("durable", "ISSUES_AT_HI", "the mark is exclusive", small),
  mutant("durable", "RELEASE_BEFORE_STOP", "issuing stops before the release is sent", small),
  mutant("durable", "UNRELEASE", "a release that was begun is never taken back", small),
  mutant("durable", "NO_LOCK", "one process at a time works in a data folder", resuming),
  mutant("durable", "RESUME_AT_CLOCK", "a resumed grant begins at its durable mark", resuming),
  mutant("durable", "MARK_AFTER_USE", "the mark of the resume record is durable before use", resuming),
  mutant("durable", "RECORD_RESTORED", "an older resume record is never put back", resuming),
  mutant("durable", "RECORD_OUTLIVES_RELEASE", "the resume record is gone before a release", resumingLong),
  mutant(
    "durable",
    "RECORD_DELETED_AFTER",
    "it is gone before the release is sent, not after the answer",
    resumingLong,
  ),
  mutant("durable", "REBASE_STAYS", "the grant that is left issues nothing more", {
    ...small,
    WORKERS: 2,
    RESUMERS: 1,
  }),
  mutant("durable", "TOKEN_ONLY", "only a process's own writeId shows that its own write landed", cloning),
  mutant("durable", "SAME_RANDOM", "writeIds are drawn outside the process", {
    WRITES: 4,
    TICKS: 3,
    CLONES: 1,
    RESUMERS: 2,
  }),
  mutant("durable", "LOST_KEEPS_RECORD", "LOST deletes the resume record", cloning),
  mutant("durable", "RELEASE_BY_TOKEN", "a release compares the whole record", { WRITES: 4, TICKS: 4, CLONES: 1 }),
  holds("suite", "lossy", "acquire, renew, release around one loss", brief),
  holds("suite", "lossy", "the same with timestamps ahead of the clock", { TIME_MAX: 4, LEAD: 1 }),
  holds("suite", "lossy", "the same with late writes and resume", {
    TIME_MAX: 4,
    WINDOW: 1,
    LATE_WRITES: 1,
    RESUMERS: 1,
  }),
  holds("suite", "lossy", "two losses, also within one window", { TIME_MAX: 4, WINDOW: 1, GRANTS: 3, LOSSES: 2 }),
  mutant("lossy", "STANDING_T0", "a second loss moves t0, also while a quarantine runs", {
    TIME_MAX: 4,
    WINDOW: 1,
    GRANTS: 3,
    LOSSES: 2,
  }),
  holds("suite", "lossy", "three grants", { TIME_MAX: 4, WINDOW: 1, GRANTS: 3 }),
  holds("suite", "lossy", "claims of the past around one loss", claiming),
  mutant("lossy", "PAST_BELOW_FLOOR", "a claim of the past begins above the floor that a loss sets", claiming),
  mutant("lossy", "PAST_OF_THE_FUTURE", "a claim of the past ends by the present", claiming),
  mutant(
    "lossy",
    "PAST_INCARNATION_BEFORE_WRITE",
    "a claim of the past is dropped under another incarnation",
    claiming,
  ),
  mutant("lossy", "NO_QUARANTINE", "grants after a loss wait out the quarantine", brief),
  mutant("lossy", "SHORT_QUARANTINE", "the quarantine is the window, the lead and the spread of the clocks", brief),
  mutant("lossy", "TAKEN_AT_MARK", "a record is taken over only when every clock has passed its mark", brief),
  mutant("lossy", "TAKEN_ANY_TIME", "a record is not taken over before its mark", brief),
  mutant("lossy", "LAPSED_SENDS", "a lapsed holder does not renew", brief),
  mutant("lossy", "LAPSED_RECEIVES", "lapse is tested again when the answer comes", brief),
  mutant("lossy", "INCARNATION_BEFORE_WRITE", "the incarnation is compared after the write", brief),
  mutant("lossy", "FAR_WINDOW", "no window begins far ahead of the clock", brief),
  mutant("lossy", "COUNTERS", "token and writeId are random", { TIME_MAX: 4, WINDOW: 1, GRANTS: 3 }),
  holds("full", "durable", "six writes", { WRITES: 6, TICKS: 4, WINDOW: 2, CLOCK_MAX: 1 }),
  holds("full", "durable", "three processes", { PROCESSES: 3, WRITES: 4, TICKS: 3 }),
  holds("full", "durable", "three processes, one with a resume record", {
    PROCESSES: 3,
    WRITES: 4,
    TICKS: 3,
    RESUMERS: 1,
  }),
  holds("full", "durable", "rebase, five writes", { WRITES: 5, TICKS: 3, WORKERS: 2, RESUMERS: 1 }),
  holds("full", "durable", "a process is cloned with its resume record, window 2", { ...cloning, RESUMERS: 2 }),
  {
    ...mutant(
      "lossy",
      "RESUMED_RENEWS",
      "a resumed grant renews under its own incarnation only, and its record goes before a new grant issues",
      { TIME_MAX: 3, RESUMERS: 1 },
    ),
    size: "full",
  },
  holds("full", "lossy", "three grants, window 2", { TIME_MAX: 4, GRANTS: 3 }),
  holds("full", "lossy", "two claims of the past around one loss", { TIME_MAX: 4, WINDOW: 1, PAST: 2 }),
  holds("full", "lossy", "resume, window 2", { TIME_MAX: 3, RESUMERS: 1 }),
  holds("full", "lossy", "late writes, window 2", { TIME_MAX: 3, LATE_WRITES: 1 }),
  holds("full", "lossy", "three processes", { PROCESSES: 3, TIME_MAX: 4, WINDOW: 1, GRANTS: 3 }),
];
