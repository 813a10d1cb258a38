/** Takes, give-backs, beginnings of periods, looks and the rows of processes, with the cells that each changes. */
import type { MovableStore } from "../../src/sequence/movable-store.ts";
import type { GiveBackRequest, TakeRequest } from "../../src/sequence/sequence-store.ts";
import type { TakeWitness } from "../../src/sequence/take-witness.ts";
import { closings, drop, set, setOurs, setTheirs, type WriteCase } from "./sequence-rows.ts";

const indexMax = 2n ** 63n - 1n;
const request = { name: "orders", periodKey: "", sequenceId: "s", revision: 5 } as const;
/** The process `p`, whose line 1 wrote `n` last. */
const witness = {
  lineCount: 1,
  begin: () => ({ processId: "p", line: 1, before: "n", after: "n2" }),
  confirm: () => {},
} as unknown as TakeWitness;
const noted = "witness p/1 write_id n > n2";

function take(given: Partial<TakeRequest> = {}) {
  return (store: MovableStore) =>
    store.take({ ...request, count: 10, endCount: 1_000n, writeId: "w2", ...given }, witness);
}

function giveBack(given: Partial<GiveBackRequest> = {}) {
  const range = { firstIndex: 14n, endIndex: 20n, writeId: "w", newWriteId: "w2" };
  return (store: MovableStore) => store.giveBack({ ...request, ...range, ...given });
}

function begin(startMs: (nowMs: number) => number, given: Partial<TakeRequest> = {}) {
  const period = { ...request, name: "bills", periodKey: "2026", count: 10, endCount: 1_000n, writeId: "w2" };
  return (store: MovableStore, nowMs: number) => store.beginPeriod({ ...period, ...given }, startMs(nowMs));
}

/** The same for one sequence. */
const refusals = (name: string): typeof closings => [
  ...closings,
  ["of a disabled sequence", () => setOurs("sequence", name, "disabled = (1 = 1)")],
  ["of another sequence of its name", () => setOurs("sequence", name, "sequence_id = 'z'")],
  ["of a sequence that is gone", () => drop("sequence", name)],
];

const takes: readonly WriteCase[] = [
  {
    law: "values come from the counter, and the process notes its take",
    call: take(),
    answer: 20n,
    writes: [
      "counter orders used_count 20 > 30",
      "counter orders taken_count 10 > 20",
      "counter orders write_id w > w2",
      noted,
    ],
  },
  {
    law: "values of a period come from its counter",
    call: take({ name: "bills", periodKey: "2024" }),
    answer: 20n,
    writes: [
      "counter bills/2024 used_count 20 > 30",
      "counter bills/2024 taken_count 10 > 20",
      "counter bills/2024 write_id w > w2",
      noted,
    ],
  },
  {
    law: "an opening that is more than a minute ahead counts as past",
    given: (nowMs) => [setOurs("place", "", `open_ms = ${nowMs + 600_000}`)],
    call: take(),
    answer: 20n,
    writes: [
      "counter orders used_count 20 > 30",
      "counter orders taken_count 10 > 20",
      "counter orders write_id w > w2",
      noted,
    ],
  },
  {
    law: "the last values of all may be taken",
    given: () => [setOurs("counter", "orders", `used_count = ${indexMax - 10n}`)],
    call: take({ endCount: indexMax }),
    answer: indexMax - 10n,
    writes: [
      `counter orders used_count ${indexMax - 10n} > ${indexMax}`,
      "counter orders taken_count 10 > 20",
      "counter orders write_id w > w2",
      noted,
    ],
  },
  {
    law: "values are taken from a counter that is just at what was taken",
    given: () => [setOurs("counter", "orders", "taken_count = 20")],
    call: take(),
    answer: 20n,
    writes: [
      "counter orders used_count 20 > 30",
      "counter orders taken_count 20 > 30",
      "counter orders write_id w > w2",
      noted,
    ],
  },
  ...[
    ...refusals("orders"),
    ["of a counter that is gone", () => drop("counter", "orders")] as const,
    ["at the end of the sequence", () => setOurs("counter", "orders", "used_count = 1000")] as const,
    ["of a counter below what was taken", () => setOurs("counter", "orders", "taken_count = 21")] as const,
    ["under another write in the row of its line", () => setOurs("witness", "p/1", "write_id = 'x'")] as const,
    ["without the row of its line", () => drop("witness", "p/1")] as const,
  ].map(([law, given]) => ({
    law: `nothing is taken ${law}`,
    given: (nowMs: number) => [given(nowMs)],
    call: take(),
    answer: undefined,
    mayNote: true,
  })),
  {
    law: "nothing is taken beyond 2^63 - 1",
    given: () => [setOurs("counter", "orders", `used_count = ${indexMax - 9n}`)],
    call: take({ endCount: indexMax }),
    answer: undefined,
    mayNote: true,
  },
];

const gives: readonly WriteCase[] = [
  {
    law: "a range goes back from its counter",
    call: giveBack(),
    answer: true,
    writes: [
      "counter orders used_count 20 > 14",
      "counter orders taken_count 10 > 4",
      "counter orders write_id w > w2",
    ],
  },
  ...[
    ...refusals("orders"),
    ["that is not the end of the counter", () => setOurs("counter", "orders", "used_count = 21")] as const,
    ["after another write", () => setOurs("counter", "orders", "write_id = 'x'")] as const,
  ].map(([law, given]) => ({
    law: `no range goes back ${law}`,
    given: (nowMs: number) => [given(nowMs)],
    call: giveBack(),
    answer: false,
  })),
  {
    law: "of two ranges each goes back by its own conditions",
    given: () => [
      setOurs("counter", "bills/2024", "used_count = 14"),
      setTheirs("counter", "bills/2024", "used_count = 14, write_id = 'w2'"),
    ],
    call: (store) => Promise.all([giveBack()(store), giveBack({ name: "bills", periodKey: "2024" })(store)]),
    answer: [true, false],
    writes: [
      "counter orders used_count 20 > 14",
      "counter orders taken_count 10 > 4",
      "counter orders write_id w > w2",
    ],
  },
];

const begun = (used: number): readonly string[] => [
  `+ counter bills/2026 taken_count=0 used_count=${used} write_id=w2`,
  "sequence bills begun_count 4 > 5",
];

const periods: readonly WriteCase[] = [
  {
    law: "a period that a raise reaches begins above it",
    given: () => [setOurs("place", "", "raised_until_ms = 1000")],
    call: begin(() => 999),
    answer: 0,
    writes: begun(7),
  },
  {
    law: "a period that begins after a raise begins at nothing",
    given: () => [setOurs("place", "", "raised_until_ms = 1000")],
    call: begin(() => 1_000),
    answer: 0,
    writes: begun(0),
  },
  {
    law: "a period begins less than a day ahead of the database's clock",
    call: begin((nowMs) => nowMs + 80_000_000),
    answer: 0,
    writes: begun(0),
  },
  { law: "no period begins more than a day ahead", call: begin((nowMs) => nowMs + 90_000_000), answer: 0 },
  { law: "a period that was begun is left as it is", call: begin(() => 0, { periodKey: "2025" }), answer: 0 },
  { law: "a period that was pruned never begins", call: begin(() => 0, { periodKey: "2021" }), answer: 0 },
  {
    law: "a period begins although others pruned and lost theirs",
    given: () => [
      set("sequence", "a.bills", "begun_count = 9, closed_before = '2099'"),
      setTheirs("sequence", "bills", "begun_count = 9, closed_before = '2099'"),
    ],
    call: begin(() => 0),
    answer: 0,
    writes: begun(0),
  },
  {
    law: "no period begins while a counter of another one is missing",
    given: () => [setOurs("sequence", "bills", "begun_count = 5")],
    call: begin(() => 0),
    answer: 1,
  },
  ...[...refusals("bills"), ["without the first counter", () => drop("counter", "bills")] as const].map(
    ([law, given]) => ({
      law: `no period begins ${law}`,
      given: (nowMs: number) => [given(nowMs)],
      call: begin(() => 0),
      answer: 0,
    }),
  ),
];

const isDefinition = {
  description: "d",
  startValue: 1n,
  increment: 1n,
  valueMax: 1_000n,
  allocation: "segments",
  stepMin: 1,
  stepMax: 100,
  timeZone: "UTC",
  textTemplate: "",
  disabled: false,
  yearStart: "",
  lateMaxMs: 0,
};
const isStored = { sequenceId: "s", createdMs: 1, updatedMs: 1, epoch: 3 };
const bills = {
  ...isStored,
  definition: { ...isDefinition, name: "bills", period: "year" },
  closedBefore: "2022",
  begunCount: 4,
};
const orders = {
  ...isStored,
  definition: { ...isDefinition, name: "orders", period: "none" },
  closedBefore: "",
  begunCount: 0,
};
const isDatabase = {
  stopped: "",
  revision: 5,
  openMs: 0,
  epoch: 4,
  emptiedRevision: -1,
  move: "",
  raisedCount: 7n,
  raisedUntilMs: 0,
  member: { storeId: "m", index: 0, count: 1, members: "" },
};
/** Other rows than ours in everything that a look reads. */
const othersDiffer = [
  setTheirs("place", "", "revision = 77"),
  ...["orders", "bills", "a.orders", "a.bills"].map((name) => setTheirs("sequence", name, "description = 'x'")),
  "UPDATE snowlane_sequence_counter SET used_count = 99 WHERE namespace = 'neighbour' OR name LIKE 'a.%'",
  "UPDATE snowlane_sequence_witness SET write_id = 'x' WHERE namespace = 'neighbour' OR process_id = 'q'",
];

const looks: readonly WriteCase[] = [
  {
    law: "a look reads the rows that it names",
    given: () => [
      ...othersDiffer,
      setOurs("counter", "bills/2025", "used_count = 50"),
      setOurs("counter", "bills", "used_count = 51"),
    ],
    call: async (store) => {
      const keys = [
        { name: "orders", periodKey: "" },
        { name: "bills", periodKey: "2024" },
      ];
      const { database, sequences, counters, lowered, witness: rows } = await store.look(keys, "p");
      return { database: { ...database, identity: "i" }, sequences, counters, lowered, rows };
    },
    answer: {
      database: { ...isDatabase, identity: "i" },
      sequences: new Map([
        ["orders", { ...orders, revision: 5 }],
        ["bills", { ...bills, revision: 5 }],
      ]),
      counters: new Map([
        ["orders", 20n],
        ["bills\n2024", 20n],
      ]),
      lowered: new Map(),
      rows: new Map([
        [0, "n"],
        [1, "n"],
      ]),
    },
  },
  {
    law: "a look shows a counter below what was taken from it",
    given: () => [setOurs("counter", "orders", "taken_count = 25")],
    call: async (store) => (await store.look([{ name: "orders", periodKey: "" }])).lowered,
    answer: new Map([["orders", 25n]]),
  },
  {
    law: "a list has the sequences of its namespace",
    given: () => othersDiffer,
    call: (store) => store.list({ afterName: "a.orders", prefix: "", count: 9 }),
    answer: [
      { ...bills, revision: -1 },
      { ...orders, revision: -1 },
    ],
  },
  {
    law: "a database that has lost its row is not made again beside sequences",
    given: () => [drop("place"), drop("counter")],
    call: async (store) => (await store.look([])).database,
    answer: undefined,
  },
  {
    law: "a database that has lost its row is not made again beside counters",
    given: () => [drop("place"), drop("sequence")],
    call: async (store) => (await store.look([])).database,
    answer: undefined,
  },
  {
    law: "a namespace without rows gets a row of its own",
    given: () => [drop("place"), drop("sequence"), drop("counter")],
    call: async (store) => (await store.look([])).database?.revision,
    answer: 1,
    writes: [
      "+ place emptied_revision=-1 epoch=0 identity=here members= move_state= open_ms=0 raised_count=0 " +
        "raised_identity= raised_revision=-1 raised_until_ms=0 revision=1 stopped= store_id=random stripe_count=1 " +
        "stripe_index=0",
    ],
  },
];

const processes: readonly WriteCase[] = [
  {
    law: "a look notes in its row what the process has seen",
    call: (store) => store.noteLook({ processId: "p", line: 0, before: "n", after: "n2", seenMs: 8, epoch: 9 }),
    answer: true,
    writes: ["witness p/0 write_id n > n2", "witness p/0 seen_ms 6 > 8", "witness p/0 epoch 2 > 9"],
  },
  {
    law: "a look notes nothing under another write",
    call: (store) => store.noteLook({ processId: "p", line: 0, before: "x", after: "n2", seenMs: 8, epoch: 9 }),
    answer: false,
  },
  {
    law: "a process makes its rows, and deletes those of its former ID",
    call: (store) => store.makeWitness(newProcess("z", "p")),
    answer: undefined,
    writes: [
      "- witness p/0",
      "- witness p/1",
      "+ witness z/0 epoch=3 seen_ms=7 server=b write_id=z0",
      "+ witness z/1 epoch=3 seen_ms=7 server=b write_id=z1",
    ],
  },
  {
    law: "rows that a process has already stay as they are",
    call: (store) => store.makeWitness(newProcess("q", "")),
    answer: undefined,
  },
  {
    law: "the processes of a namespace are listed, each once",
    given: () => [setTheirs("witness", "p/0", "server = 'x'"), setOurs("witness", "p/1", "server = 'x'")],
    call: (store) => store.servers(),
    answer: ["p", "q"].map((processId) => ({ processId, server: "a", seenMs: 6, epoch: 2 })),
  },
  ...[undefined, 6].map((seenMs) => ({
    law: `the rows of a process are deleted, ${seenMs === undefined ? "in any case" : "if it has not looked since"}`,
    call: (store: MovableStore) => store.dropWitness("p", seenMs),
    answer: undefined,
    writes: ["- witness p/0", "- witness p/1"],
  })),
  {
    law: "the rows of a process that has looked stay",
    given: () => [
      set("witness", "p/1", "seen_ms = 5"),
      set("witness", "q/0", "seen_ms = 5"),
      setTheirs("witness", "p/0", "seen_ms = 5"),
    ],
    call: (store) => store.dropWitness("p", 5),
    answer: undefined,
  },
];

function newProcess(processId: string, formerId: string) {
  const rows = [0, 1].map((line) => ({ line, writeId: `${processId}${line}` }));
  return { processId, rows, server: "b", seenMs: 7, epoch: 3, formerId };
}

export const takeCases: readonly WriteCase[] = [...takes, ...gives, ...periods, ...looks, ...processes];
