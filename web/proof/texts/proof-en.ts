import type { DroppedWhat, ShownStore } from "../../../test/simulation/shown/dropped-fault.ts";
import type { SwitchedRule } from "../../../test/simulation/shown/rule-names.ts";
import { groupDigits as number } from "../../../src/text/group-digits.ts";
import type { Happening, WaitReason } from "../outcome.ts";

/** All that `#/proof` says, in one language. A language that lacks a text does not compile. */
export type ProofTexts = typeof proofEn;

const seconds = (ms: number): string => `${(ms / 1_000).toFixed(2)} s`;
const counted = (count: number, one: string): string => `${number(count)} ${count === 1 ? one : `${one}s`}`;

const whats: Readonly<Record<DroppedWhat, string>> = {
  back: "Clock back 1.2 s",
  ahead: "Clock ahead 1.2 s",
  pause: "Pause 3 s",
  kill: "Kill",
  cut: "Cut the network 3 s",
  wipe: "Wipe the store",
  older: "Put the store back",
  failover: "Fail the store over",
};

const waitCauses: Readonly<Record<WaitReason, string>> = {
  mark: "until its clock has passed the mark of its worker ID",
  quarantine: "for the end of the quarantine",
  silence: "until it is sure that another process is gone",
  "free-worker-id": "for a free worker ID",
};

const granted = (slot: number, worker: number): string => `Process ${slot} gets worker ID ${worker}.`;

/** Without its rule, a grant begins too early. */
const below: Readonly<Record<SwitchedRule, string>> = {
  "own-clock": "It begins at its own clock and not at the mark",
  "no-floor": "The mark went with the lost data, and it does not wait for the end of the quarantine: it begins",
  "no-quarantine":
    "The mark went with the lost data, and no time was computed that lies above all lost marks: it begins",
  "identity-is-trusted": "The store is another one with older data, and it takes it for the same: it begins",
};

const happened = (happening: Happening, rule: SwitchedRule | undefined): string => {
  switch (happening.kind) {
    case "fault":
      return {
        back: "",
        ahead: "",
        pause: `Process ${happening.slot} stands still for 3 s, and does not know it.`,
        kill: `Process ${happening.slot} is killed.`,
        cut: `The network between process ${happening.slot} and the store is cut for 3 s.`,
        wipe: "The store is wiped: every record in it is gone.",
        older: "The store is put back to an older copy of its data.",
        failover: "A replica takes over from the store. It may lack the last writes.",
      }[happening.what];
    case "clock":
      return `The clock of process ${happening.slot} is set ${happening.byMs < 0 ? "back" : "ahead"} by ${seconds(Math.abs(happening.byMs))}.`;
    case "started":
      return `Process ${happening.slot} starts again.`;
    case "marks-lost":
      return `The store no longer has the marks of worker IDs ${happening.workers.join(", ")}.`;
    case "granted":
      return granted(happening.slot, happening.worker);
    case "granted-below": {
      const { slot, worker, fromMs, markMs } = happening;
      const begins = `${below[rule ?? "own-clock"]} at ${seconds(fromMs)}`;
      return `${granted(slot, worker)} The store had confirmed the mark ${seconds(markMs)} for it: any time below that may be in an ID already. ${begins}. With the rule it would begin at ${seconds(markMs)} or later.`;
    }
    case "grant-ended":
      return {
        lost: `Process ${happening.slot} finds that its worker ID was taken over, and issues no more.`,
        lapsed: `Process ${happening.slot} has used up the time that it had reserved, and issues no more.`,
        regressed: `Process ${happening.slot} finds that the store has lost data, and issues no more.`,
      }[happening.end];
    case "waits":
      return `Process ${happening.slot} waits ${waitCauses[happening.cause]}.`;
    case "quarantine":
      return `Process ${happening.slot} writes a quarantine until ${seconds(happening.untilMs)}: above every mark that may be lost.`;
    case "equal":
      return `Process ${happening.slot} issues IDs that were issued at ${seconds(happening.firstAtMs)} already: ${counted(happening.count, "ID")} in this run came twice.`;
    case "healed":
      return "All faults are over.";
  }
};

/** English. */
export const proofEn = {
  heading: "Try to make it repeat an ID",
  lead: "Below, the server's own code hands out IDs over simulated clocks, a simulated network and a simulated store. Drop faults in, or take a rule away. This is a simulation: it tests, and it does not prove.",
  copyLink: "Copy link to this run",
  copied: { done: "Copied", refused: "Not copied: the address has it" },
  computing: "The run is being computed.",
  problems: {
    slow: "The run took more than two seconds, and was ended.",
    missing: "The simulation cannot be loaded. Load the page again.",
    failed: (detail: string) => `The code failed in this run: ${detail}`,
  },
  figures: {
    label: "Outcome of the run",
    whole: "Snowlane, all rules",
    without: "Snowlane, one rule away",
    simple: "A simple generator, the same faults",
    silence: "Longest time without an ID",
    ids: (count: number) => counted(count, "ID"),
    none: "no two are equal",
    equal: (count: number, firstMs: number) => `${number(count)} came twice, the first at ${seconds(firstMs)}`,
    silenceWhole: "The price of never repeating",
    silenceWithout: "A rule is away",
    seconds,
  },
  player: {
    label: "The run",
    play: "Play",
    pause: "Pause",
    previous: "Event before",
    next: "Next event",
    time: "Time in the run",
    at: (atMs: number, endMs: number) => `${seconds(atMs)} of ${seconds(endMs)}`,
    speed: "Speed",
    seed: "Seed",
    another: "Another seed",
    store: "Store",
    stores: { server: "Server that may lose data", file: "File that keeps all" } satisfies Record<ShownStore, string>,
  },
  lanes: {
    picture: "The run as a picture. The table under it says the same.",
    process: (slot: number) => `process ${slot}`,
    store: "store",
    marks: "marks",
    worker: (worker: number) => `worker ${worker}`,
    waits: "waits",
    equal: "The same ID, twice",
    equalIds: (first: string, more: number) => (more === 0 ? first : `${first} and ${number(more)} more`),
    faults: {
      back: "clock back",
      ahead: "clock ahead",
      pause: "paused",
      kill: "killed",
      cut: "cut off",
      wipe: "store wiped",
      older: "store put back",
      failover: "failover",
    } satisfies Record<DroppedWhat, string>,
  },
  drop: {
    title: (atMs: number) => `Drop in at ${seconds(atMs)}`,
    target: "On process",
    whats,
    late: (ms: number) => `Faults can be dropped in up to ${seconds(ms)}: go back in the run.`,
    full: (count: number) => `A run has at most ${count} faults.`,
    keeps: "A file keeps all that it confirmed: only a server can be wiped, put back or failed over.",
    dropped: "Faults in this run",
    none: "None yet.",
    one: (what: DroppedWhat, slot: number, atMs: number) => `${whats[what]}, process ${slot}, ${seconds(atMs)}`,
    remove: (what: DroppedWhat, slot: number, atMs: number) =>
      `Remove: ${whats[what]}, process ${slot}, ${seconds(atMs)}`,
    clear: "Remove all",
  },
  rules: {
    title: "Take a rule away",
    all: "All rules hold",
    names: {
      "own-clock": "A successor begins at the mark, whatever its clock says",
      "no-floor": "Nothing is granted before a quarantine is over",
      "no-quarantine": "Grants after a loss begin above all that was lost",
      "identity-is-trusted": "A store with another identity is another store",
    } satisfies Record<SwitchedRule, string>,
    safety: {
      "own-clock":
        "A process may use a timestamp only if it lies below a mark that the store has durably confirmed to that process, and a successor begins at the mark, whatever its own clock says.",
      "no-floor":
        "The grant begins at the highest of its mark, the clock, the quarantine's end and the last timestamp that this process itself issued with that worker ID.",
      "no-quarantine":
        "new grants begin above the longest window, the lead and the error of two clocks after the loss was first seen",
      "identity-is-trusted":
        "A store that started again, is another one, or was emptied binds new grants, not renewals",
    } satisfies Record<SwitchedRule, string>,
    harmless: "In this run, nothing came twice without the rule. Most runs do not need it. These do:",
    shows: "Runs that need the rule:",
    seed: (seed: number) => `Seed ${seed}`,
  },
  story: {
    title: "What happened",
    mark: "A mark is a time that the store keeps for each worker ID. It lies above every time that an ID of that worker may carry. A process uses only times below a mark that the store confirmed to it, and the next one begins there.",
    happened,
    seconds,
  },
  table: {
    title: "The run as a table",
    columns: ["Who", "From", "To", "What"],
    grant: (worker: number, count: number) => `holds worker ID ${worker}, issues ${counted(count, "ID")}`,
    waits: "waits for a worker ID",
    stops: { kill: "is killed", pause: "stands still", cut: "cannot reach the store" },
  },
  words: {
    title: "Real and simulated",
    texts: [
      [
        "Real:",
        "the code of src/lease, src/worker and src/snowflake, as the server runs it. The four rules can be switched off in this copy alone.",
      ],
      [
        "Simulated:",
        "time, clocks, the network, the store and the kills. A seed decides all of it, so a link shows everybody the same run.",
      ],
      [
        "The simple generator:",
        "the program of Learn, with a fixed worker ID and 5 IDs a millisecond: a higher load than the processes above have. It meets the same clock steps, pauses and kills, and has no store to lose.",
      ],
      [
        "Not shown:",
        "bugs of a real store, a kernel that loses what it confirmed, copies of a running machine, and all that nobody thought of. A simulation finds faults. It cannot show that there are none.",
      ],
      [
        "The rest:",
        "docs/safety.md has the argument, model/ the protocol as a model whose every state is visited, and test/simulation the millions of runs that the tests make.",
      ],
    ],
  },
};
