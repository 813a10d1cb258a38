/** What operators and servers change outside of takes, with the cells that each changes. */
import type { MovableStore } from "../../src/sequence/movable-store.ts";
import { earliestStartMs } from "../../src/sequence/period.ts";
import type { Mark, PruneRequest, RaiseRequest, StopRequest } from "../../src/sequence/sequence-store.ts";
import type { SequenceDefinition } from "../../src/sequence/sequence.ts";
import { closings, definition, drop, far, set, setOurs, setTheirs, type WriteCase } from "./sequence-rows.ts";

const indexMax = 2n ** 63n - 1n;
const orders = { name: "orders", periodKey: "" };
const newBills = { name: "bills", periodKey: "2026" };
const newBillsMs = earliestStartMs("2026");

const create = (name: string) => (store: MovableStore) => {
  const stored = { definition: { ...definition, name }, sequenceId: "t", createdMs: 8, updatedMs: 9 };
  return store.create({ stored, writeId: "w2" }, 5);
};

const creations: readonly WriteCase[] = [
  {
    law: "a sequence is made with its fields, and its counter above what was raised",
    given: () => [
      setTheirs("sequence", "orders", "name = 'new'"),
      setTheirs("counter", "orders", "name = 'new'"),
      setTheirs("place", "", "raised_count = 9"),
    ],
    call: create("new"),
    answer: true,
    writes: [
      "+ sequence new allocation=strict begun_count=0 closed_before= created_ms=8 description=e disabled=1 epoch=0 " +
        "increment=3 late_max_ms=6 period=quarter sequence_id=t start_value=2 step_max=5 step_min=4 " +
        "text_template={yyyy}-{q}-{value} time_zone=Asia/Tokyo updated_ms=9 value_max=999 year_start=04-01",
      "+ counter new taken_count=0 used_count=7 write_id=w2",
    ],
  },
  {
    law: "a sequence is not made beside one of its name",
    given: () => [drop("counter", "orders")],
    call: create("orders"),
    answer: false,
  },
  {
    law: "a sequence is not made beside a counter of its name",
    given: () => [drop("sequence", "orders")],
    call: create("orders"),
    answer: false,
  },
  ...closings.map(([law, given]) => ({
    law: `a sequence is not made ${law}`,
    given: (nowMs: number) => [given(nowMs)],
    call: create("new"),
    answer: false,
  })),
];

const before: SequenceDefinition = {
  ...definition,
  name: "orders",
  description: "d",
  startValue: 1n,
  increment: 1n,
  valueMax: 1_000n,
  stepMin: 1,
  stepMax: 100,
  disabled: false,
  lateMaxMs: 0,
};
const replace =
  (to: Partial<SequenceDefinition>, from: Partial<SequenceDefinition> = {}) =>
  (store: MovableStore) =>
    store.replace(
      { sequenceId: "s", before: { ...before, ...from }, after: { ...before, ...to }, updatedMs: 2 },
      "orders",
    );

const replacements: readonly WriteCase[] = [
  {
    law: "the fields of a sequence that may change are replaced, and a disabled one has a new epoch",
    call: replace({ description: "e", valueMax: 999n, stepMin: 2, stepMax: 99, disabled: true, lateMaxMs: 5 }),
    answer: true,
    writes: [
      "sequence orders description d > e",
      "sequence orders value_max 1000 > 999",
      "sequence orders step_min 1 > 2",
      "sequence orders step_max 100 > 99",
      "sequence orders disabled 0 > 1",
      "sequence orders late_max_ms 0 > 5",
      "sequence orders updated_ms 1 > 2",
      "sequence orders epoch 3 > now",
      "place epoch 4 > now",
    ],
  },
  {
    law: "a sequence that is not disabled keeps its epoch",
    call: replace({ description: "e" }),
    answer: true,
    writes: ["sequence orders description d > e", "sequence orders updated_ms 1 > 2"],
  },
  ...(
    [
      { description: "x" },
      { valueMax: 998n },
      { stepMin: 3 },
      { stepMax: 98 },
      { disabled: true },
      { lateMaxMs: 7 },
    ] as const
  ).map((from) => ({
    law: `nothing is replaced where ${Object.keys(from)[0]} is another one by now`,
    call: replace({ description: "e", ...from }, from),
    answer: false,
  })),
  {
    law: "nothing is replaced in another sequence of the name",
    given: () => [setOurs("sequence", "orders", "sequence_id = 'z'")],
    call: replace({ description: "e" }),
    answer: false,
  },
];

const prune =
  (pruneBefore: string, mode: PruneRequest["mode"] = "write") =>
  (store: MovableStore) =>
    store.prune({ name: "bills", before: pruneBefore, mode });

const prunings: readonly WriteCase[] = [
  {
    law: "the counters of old periods are deleted, and the periods are closed",
    call: prune("2024"),
    answer: { kind: "pruned", count: 2 },
    writes: [
      "- counter bills/2022",
      "- counter bills/2023",
      "sequence bills closed_before 2022 > 2024",
      "sequence bills begun_count 4 > 2",
    ],
  },
  { law: "a plan writes nothing", call: prune("2024", "plan"), answer: { kind: "pruned", count: 2 } },
  { law: "the two newest periods stay", call: prune("2025"), answer: { kind: "newest", key: "2024" } },
  {
    law: "a closed period stays closed",
    given: () => [setOurs("sequence", "bills", "closed_before = '2024'")],
    call: prune("2023"),
    answer: { kind: "pruned", count: 1 },
    writes: ["- counter bills/2022", "sequence bills begun_count 4 > 3"],
  },
];

const cover =
  (...marks: readonly Mark[]) =>
  (store: MovableStore) =>
    store.cover(marks, "w2");
/** A counter that was made again for a period. */
const madeBills = (used: number): readonly string[] => [
  `+ counter bills/2026 taken_count=0 used_count=${used} write_id=w2`,
  "sequence bills begun_count 4 > 5",
];
const reached = (untilMs = newBillsMs + 1): string => set("place", "", `raised_until_ms = ${untilMs}`);

const covers: readonly WriteCase[] = [
  {
    law: "counters below their marks are raised to them",
    call: cover(
      { ...orders, index: 40n },
      { name: "bills", periodKey: "2024", index: 21n },
      { name: "bills", periodKey: "", index: 19n },
    ),
    answer: undefined,
    writes: [
      "counter orders used_count 20 > 40",
      "counter orders write_id w > w2",
      "counter bills/2024 used_count 20 > 21",
      "counter bills/2024 write_id w > w2",
    ],
  },
  { law: "a counter at its mark is not written", call: cover({ ...orders, index: 20n }), answer: undefined },
  {
    law: "a lost counter of a period that a raise reaches is made above that raise",
    given: () => [reached()],
    call: cover({ ...newBills, index: 5n }),
    answer: undefined,
    writes: madeBills(7),
  },
  {
    law: "a lost counter is made at its mark where that is above the raise",
    given: () => [reached()],
    call: cover({ ...newBills, index: 9n }),
    answer: undefined,
    writes: madeBills(9),
  },
  {
    law: "no counter is made for a period behind a raise",
    given: () => [reached(newBillsMs)],
    call: cover({ ...newBills, index: 9n }),
    answer: undefined,
  },
  {
    law: "the first counter of a sequence is never made for a mark",
    given: () => [reached(), drop("counter", "orders")],
    call: cover({ ...orders, index: 9n }),
    answer: undefined,
  },
  {
    law: "no counter is made for a period that was pruned",
    given: () => [reached()],
    call: cover({ name: "bills", periodKey: "2021", index: 9n }),
    answer: undefined,
  },
  {
    law: "the first period that was not pruned is made again",
    given: () => [reached(), drop("counter", "bills/2022"), setOurs("sequence", "bills", "begun_count = 3")],
    call: cover({ name: "bills", periodKey: "2022", index: 9n }),
    answer: undefined,
    writes: ["+ counter bills/2022 taken_count=0 used_count=9 write_id=w2", "sequence bills begun_count 3 > 4"],
  },
  {
    law: "a lost counter is made although others have theirs, or have pruned the period",
    given: () => [
      reached(),
      drop("counter", "bills/2025"),
      setOurs("sequence", "bills", "begun_count = 3"),
      set("sequence", "a.bills", "closed_before = '2099'"),
      setTheirs("sequence", "bills", "closed_before = '2099'"),
    ],
    call: cover({ name: "bills", periodKey: "2025", index: 9n }),
    answer: undefined,
    writes: ["+ counter bills/2025 taken_count=0 used_count=9 write_id=w2", "sequence bills begun_count 3 > 4"],
  },
  {
    law: "a counter that is made counts for its sequence alone, and hides no loss of another",
    given: () => [
      reached(),
      set("sequence", "a.bills", "begun_count = 5"),
      setTheirs("sequence", "bills", "begun_count = 3"),
      "INSERT INTO snowlane_sequence_counter (namespace, name, period_key, used_count, write_id) " +
        "VALUES ('ours', 'orders', '2024', 1, 'w')",
    ],
    call: cover({ ...newBills, index: 9n }),
    answer: undefined,
    writes: madeBills(9),
  },
];

const raise = (request: RaiseRequest) => (store: MovableStore) => store.raise(request, "w2");
const to = (index: bigint, key = orders) => raise({ kind: "to", key, index });
const by = (count: bigint) => raise({ kind: "by", key: orders, count });
const all = (count: bigint) => raise({ kind: "all", count });
const newEpoch = (name: string): readonly string[] => [`sequence ${name} epoch 3 > now`, "place epoch 4 > now"];

const raises: readonly WriteCase[] = [
  {
    law: "a counter is raised to a number, under a new epoch of its sequence",
    given: () => [setTheirs("place", "", "epoch = 9")],
    call: to(40n),
    answer: 1,
    writes: ["counter orders used_count 20 > 40", "counter orders write_id w > w2", ...newEpoch("orders")],
  },
  {
    law: "a new epoch is above the former one, also where that is ahead of the clock",
    given: () => [setOurs("place", "", `epoch = ${far}`)],
    call: by(0n),
    answer: 1,
    writes: [
      "counter orders write_id w > w2",
      `sequence orders epoch 3 > ${far + 1}`,
      `place epoch ${far} > ${far + 1}`,
    ],
  },
  { law: "a counter at the number is not written", call: to(20n), answer: 0 },
  { law: "a counter is never lowered to a number", call: to(15n), answer: 0 },
  {
    law: "a missing counter is made at the number, above the raise that reaches its period",
    given: () => [reached()],
    call: to(5n, newBills),
    answer: 1,
    writes: [...madeBills(7), ...newEpoch("bills")],
  },
  {
    law: "a missing counter is made once at a number above the raise",
    given: () => [reached()],
    call: to(9n, newBills),
    answer: 1,
    writes: [...madeBills(9), ...newEpoch("bills")],
  },
  {
    law: "a missing counter is made at the number where no raise reaches its period",
    given: () => [reached(newBillsMs)],
    call: to(5n, newBills),
    answer: 1,
    writes: [...madeBills(5), ...newEpoch("bills")],
  },
  {
    law: "no counter is raised of a period that was pruned",
    call: to(9n, { name: "bills", periodKey: "2021" }),
    answer: 0,
  },
  {
    law: "the first counter is made again although periods were pruned, and others have theirs",
    given: () => [drop("counter", "bills"), setTheirs("sequence", "bills", "begun_count = 3")],
    call: to(9n, { name: "bills", periodKey: "" }),
    answer: 1,
    writes: ["+ counter bills taken_count=0 used_count=9 write_id=w2", ...newEpoch("bills")],
  },
  {
    law: "a counter is raised by a number",
    call: by(5n),
    answer: 1,
    writes: ["counter orders used_count 20 > 25", "counter orders write_id w > w2", ...newEpoch("orders")],
  },
  {
    law: "a counter ends at 2^63 - 1",
    given: () => [setOurs("counter", "orders", `used_count = ${indexMax - 4n}`)],
    call: by(5n),
    answer: 1,
    writes: [
      `counter orders used_count ${indexMax - 4n} > ${indexMax}`,
      "counter orders write_id w > w2",
      ...newEpoch("orders"),
    ],
  },
  {
    law: "no missing counter is raised by a number",
    given: () => [drop("counter", "orders")],
    call: by(5n),
    answer: 0,
  },
  { law: "all are raised in a stopped database alone", call: all(5n), answer: undefined },
  {
    law: "all counters of a namespace are raised, and those that will be made, and what was lost counts no more",
    given: () => [
      set("place", "", "stopped = 'x'"),
      set("sequence", "a.bills", "begun_count = 9"),
      setTheirs("sequence", "bills", "begun_count = 9"),
    ],
    call: all(5n),
    answer: 12,
    writes: [
      ...["a.orders", "orders", "a.bills", "bills"].map((name) => `counter ${name} used_count 20 > 25`),
      ...["a.orders", "orders", "a.bills", "bills"].map((name) => `counter ${name} write_id w > w2`),
      ...["a.bills", "bills"].flatMap((name) =>
        ["2022", "2023", "2024", "2025"].flatMap((key) => [
          `counter ${name}/${key} used_count 20 > 25`,
          `counter ${name}/${key} write_id w > w2`,
        ]),
      ),
      "sequence a.bills begun_count 9 > 4",
      "place raised_count 7 > 12",
      "place raised_until_ms 0 > now+172800000",
      "place raised_revision -1 > 5",
      "place raised_identity  > here",
    ],
  },
  {
    law: "the number by which all were raised ends at 2^63 - 1, and a sequence without periods counts none",
    given: () => [
      setOurs("place", "", `stopped = 'x', raised_count = ${indexMax - 4n}`),
      "DELETE FROM snowlane_sequence_counter WHERE namespace = 'ours'",
      "INSERT INTO snowlane_sequence_counter (namespace, name, period_key, used_count, write_id) " +
        "VALUES ('ours', 'orders', '2024', 1, 'w')",
      "UPDATE snowlane_sequence SET begun_count = 0 WHERE namespace = 'ours'",
    ],
    call: all(5n),
    answer: 1,
    writes: [
      "counter orders/2024 used_count 1 > 6",
      "counter orders/2024 write_id w > w2",
      `place raised_count ${indexMax - 4n} > ${indexMax}`,
      "place raised_until_ms 0 > now+172800000",
      "place raised_revision -1 > 5",
      "place raised_identity  > here",
    ],
  },
];

const stop =
  (given: Partial<StopRequest> = {}) =>
  (store: MovableStore) =>
    store.stop({ reason: "r", revision: 5, emptiesStock: false, by: "server", ...given });

const stops: readonly WriteCase[] = [
  {
    law: "a stop has a reason and a revision",
    call: stop(),
    answer: true,
    writes: ["place stopped  > r", "place revision 5 > 6"],
  },
  {
    law: "a stop that empties the stock of servers is noted",
    call: stop({ emptiesStock: true }),
    answer: true,
    writes: ["place stopped  > r", "place revision 5 > 6", "place emptied_revision -1 > 6"],
  },
  { law: "nothing stops another revision", call: stop({ revision: 4 }), answer: false },
  {
    law: "nothing stops a database that moves",
    given: () => [setOurs("place", "", "move_state = 'to x 1'")],
    call: stop({ by: "operator" }),
    answer: false,
  },
  {
    law: "a server stops no database that is stopped",
    given: () => [setOurs("place", "", "stopped = 'x'")],
    call: stop(),
    answer: false,
  },
  {
    law: "an operator stops a stopped database again",
    given: () => [set("place", "", "stopped = 'x'")],
    call: stop({ by: "operator" }),
    answer: true,
    writes: ["place stopped x > r", "place revision 5 > 6"],
  },
];

const open = (store: MovableStore) =>
  store.open().then((outcome) => ("revision" in outcome && outcome.revision < far ? outcome.kind : outcome));
const mayOpen = "stopped = 'x', raised_revision = revision, raised_identity = identity";

const openings: readonly WriteCase[] = [
  {
    law: "an opening takes half a minute, and has a new revision",
    given: () => [set("place", "", mayOpen), setTheirs("sequence", "orders", "name = 'z'")],
    call: open,
    answer: "opened",
    writes: ["place stopped x > ", "place open_ms 0 > now+30000", "place revision 5 > now"],
  },
  {
    law: "an opening takes over the identity, and its revision is above one that is ahead of the clock",
    given: () => [
      set("place", "", mayOpen),
      setOurs("place", "", `identity = 'old', revision = ${far}, raised_revision = ${far}`),
    ],
    call: open,
    answer: { kind: "opened", revision: far + 1 },
    writes: [
      "place stopped x > ",
      "place identity old > here",
      "place open_ms 0 > now+30000",
      `place revision ${far} > ${far + 1}`,
    ],
  },
  { law: "an open database is left as it is", call: open, answer: { kind: "was-open" } },
  ...(
    [
      ["raised_revision = 4", { kind: "not-raised" }],
      ["raised_identity = 'other'", { kind: "not-raised" }],
      ["move_state = 'to x 1'", { kind: "moved", move: "to x 1" }],
    ] as const
  ).map(([change, answer]) => ({
    law: `no database is opened after ${change}`,
    given: () => [set("place", "", mayOpen), setOurs("place", "", change)],
    call: open,
    answer,
  })),
  ...["orders", "bills"].map((name) => ({
    law: `no database is opened without the first counter of ${name}, although others have theirs`,
    given: () => [set("place", "", mayOpen), drop("counter", name)],
    call: open,
    answer: { kind: "missing", names: [name] },
  })),
];

const join =
  (given: Partial<Record<"storeId" | "before", string>> = {}) =>
  (store: MovableStore) =>
    store.join({ storeId: "m", before: "", after: "2 m", index: 1, ...given });

const joins: readonly WriteCase[] = [
  {
    law: "a database gets its stripe",
    call: join(),
    answer: true,
    writes: ["place members  > 2 m", "place stripe_index 0 > 1"],
  },
  { law: "another database gets none", call: join({ storeId: "z" }), answer: false },
  { law: "a database of other members gets none", call: join({ before: "2 z" }), answer: false },
];

export const changeCases: readonly WriteCase[] = [
  ...creations,
  ...replacements,
  ...prunings,
  ...covers,
  ...raises,
  ...stops,
  ...openings,
  ...joins,
];
