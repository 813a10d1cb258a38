/** The steps of a move to another database, and of an adoption, with the cells that each changes. */
import type { MovableStore, MoveRequest } from "../../src/sequence/movable-store.ts";
import type { DatabaseRow, Member } from "../../src/sequence/sequence-store.ts";
import { definition, drop, far, set, setOurs, setTheirs, type WriteCase } from "./sequence-rows.ts";

const move = (request: MoveRequest) => (store: MovableStore) => store.move(request);

/** Makes a database empty in one of two ways, or in both. */
const [noSequences, noCounters] = [drop("sequence"), drop("counter")];

const away = move({ kind: "away", revision: 5, move: "to x 1", reason: "r" });
const aways: readonly WriteCase[] = [
  {
    law: "a database that moves away stops, and every take of its processes fails from then on",
    call: away,
    answer: true,
    writes: [
      "place stopped  > r",
      "place move_state  > to x 1",
      "place revision 5 > 6",
      ...["p/0", "p/1", "q/0", "q/1"].map((row) => `witness ${row} write_id n > moved`),
    ],
  },
  ...["stopped = 'x'", "identity = 'other'", "revision = 6"].map((change) => ({
    law: `no database moves away after ${change}`,
    given: () => [setOurs("place", "", change)],
    call: away,
    answer: false,
  })),
];

const member: Member = { storeId: "m", index: 2, count: 3, members: "3 m" };
const receive = (raised: Pick<DatabaseRow, "raisedCount" | "raisedUntilMs" | "epoch">, storeId = "m") => {
  const row = { identity: "i", stopped: "", revision: 8, openMs: 0, emptiedRevision: -1, move: "" };
  const from = { ...row, ...raised, member: { ...member, storeId } };
  return move({ kind: "receive", revision: 5, move: "from x 1", reason: "r", from });
};
const higher = { raisedCount: 9n, raisedUntilMs: 50, epoch: 8 };
const received = [
  "place move_state  > from x 1",
  "place revision 5 > 6",
  "place stripe_index 0 > 2",
  "place stripe_count 1 > 3",
  "place members  > 3 m",
];
const raisedToo = ["place raised_count 7 > 9", "place raised_until_ms 0 > 50", "place epoch 4 > 8"];

const receipts: readonly WriteCase[] = [
  {
    law: "a stopped database of the same ID receives a copy",
    given: () => [set("place", "", "stopped = 'x'")],
    call: receive(higher),
    answer: true,
    writes: ["place stopped x > r", ...received, ...raisedToo],
  },
  {
    law: "what a database has raised, and its epoch, are never lowered",
    given: () => [set("place", "", "stopped = 'x', raised_until_ms = 60")],
    call: receive({ raisedCount: 5n, raisedUntilMs: 50, epoch: 3 }),
    answer: true,
    writes: ["place stopped x > r", ...received],
  },
  {
    law: "an empty database takes over the ID",
    given: () => [noSequences, noCounters],
    call: receive(higher, "z"),
    answer: true,
    writes: ["place stopped  > r", "place store_id m > z", ...received, ...raisedToo],
  },
  ...(
    [
      ["that is open and not empty", "m", []],
      ["of another ID that is not empty", "z", [setOurs("place", "", "stopped = 'x'")]],
      ["that has counters alone", "z", [noSequences]],
      ["that has sequences alone", "z", [noCounters]],
      ["of another revision", "m", [setOurs("place", "", "stopped = 'x', revision = 6")]],
    ] as const
  ).map(([law, storeId, given]) => ({
    law: `no copy comes to a database ${law}`,
    given: () => given,
    call: receive(higher, storeId),
    answer: false,
  })),
];

const put = move({
  kind: "put",
  revision: 5,
  sequences: [
    {
      definition: { ...definition, name: "orders", textTemplate: "{value}" },
      sequenceId: "t",
      createdMs: 8,
      updatedMs: 9,
      epoch: 10,
      closedBefore: "2020",
      begunCount: 11,
      revision: 1,
    },
  ],
  counters: [
    { name: "orders", periodKey: "", index: 40n },
    { name: "bills", periodKey: "2025", index: 15n },
    { name: "bills", periodKey: "2026", index: 3n },
    { name: "bills", periodKey: "2027", index: 4n },
  ],
  servers: [
    { processId: "z", server: "b", seenMs: 9, epoch: 1 },
    { processId: "p", server: "b", seenMs: 9, epoch: 1 },
  ],
  writeId: "w2",
});
const isCopied = setOurs("place", "", "stopped = 'x', move_state = 'from x 1'");

const puts: readonly WriteCase[] = [
  {
    law: "rows of the source replace definitions, raise counters, and list its processes",
    given: () => [
      isCopied,
      set("counter", "a.bills/2025", "period_key = '2026'"),
      setTheirs("counter", "bills/2025", "period_key = '2026'"),
    ],
    call: put,
    answer: true,
    writes: [
      ...[
        ["description", "d", "e"],
        ["start_value", "1", "2"],
        ["increment", "1", "3"],
        ["value_max", "1000", "999"],
        ["allocation", "segments", "strict"],
        ["step_min", "1", "4"],
        ["step_max", "100", "5"],
        ["period", "none", "quarter"],
        ["time_zone", "UTC", "Asia/Tokyo"],
        ["text_template", "", "{value}"],
        ["disabled", "0", "1"],
        ["year_start", "", "04-01"],
        ["late_max_ms", "0", "6"],
        ["sequence_id", "s", "t"],
        ["created_ms", "1", "8"],
        ["updated_ms", "1", "9"],
        ["epoch", "3", "10"],
        ["closed_before", "", "2020"],
        ["begun_count", "0", "11"],
      ].map(([column, from, to]) => `sequence orders ${column} ${from} > ${to}`),
      "counter orders used_count 20 > 40",
      "counter orders write_id w > w2",
      "+ counter bills/2026 taken_count=0 used_count=3 write_id=w2",
      "+ counter bills/2027 taken_count=0 used_count=4 write_id=w2",
      "+ witness z/0 epoch=1 seen_ms=9 server=b write_id=",
    ],
  },
  {
    law: "no rows come to a database that is not a target",
    given: () => [setTheirs("place", "", "move_state = 'from x 1'")],
    call: put,
    answer: false,
  },
  {
    law: "no rows come to a database of another revision",
    given: () => [isCopied, setOurs("place", "", "revision = 6")],
    call: put,
    answer: false,
  },
];

const openAbove = (aboveRevision: number) => move({ kind: "open", revision: 5, aboveRevision });
const isTarget = "stopped = 'x', move_state = 'from x 1', identity = 'old'";
const openedWrites = [
  "place stopped x > ",
  "place move_state from x 1 > ",
  "place identity old > here",
  "place open_ms 0 > now+30000",
];

const openings: readonly WriteCase[] = [
  {
    law: "a target opens half a minute ahead, under a revision of the clock",
    given: () => [setOurs("place", "", isTarget), setTheirs("place", "", "stopped = 'x', move_state = 'from x 1'")],
    call: openAbove(3),
    answer: true,
    writes: [...openedWrites, "place revision 5 > now"],
  },
  {
    law: "the revision of a target is above that of its source",
    given: () => [setOurs("place", "", isTarget)],
    call: openAbove(far),
    answer: true,
    writes: [...openedWrites, `place revision 5 > ${far + 1}`],
  },
  ...[
    [far, 5, far + 1],
    [far, far, far + 1],
    [far, far + 5, far + 6],
  ].map(([revision, above, after]) => ({
    law: `the revision ${revision} of a target becomes ${after} above ${above}`,
    given: () => [setOurs("place", "", `${isTarget}, revision = ${revision}`)],
    call: move({ kind: "open", revision: revision!, aboveRevision: above! }),
    answer: true,
    writes: [...openedWrites, `place revision ${revision} > ${after}`],
  })),
  ...["move_state = ''", "revision = 6"].map((change) => ({
    law: `no target opens after ${change}`,
    given: () => [setOurs("place", "", isTarget), setOurs("place", "", change)],
    call: openAbove(3),
    answer: false,
  })),
];

const adopt = move({ kind: "adopt", revision: 5, storeId: "z", index: 4, reason: "r" });
const adopted = ["place store_id m > z", "place stripe_index 0 > 4", "place revision 5 > 6"];

const adoptions: readonly WriteCase[] = [
  {
    law: "a stopped database takes over an ID, and its reason stays",
    given: () => [set("place", "", "stopped = 'x', move_state = 'to x 1'")],
    call: adopt,
    answer: true,
    writes: ["place move_state to x 1 > ", ...adopted],
  },
  {
    law: "an empty database takes over an ID, and stops",
    given: () => [noSequences, noCounters],
    call: adopt,
    answer: true,
    writes: ["place stopped  > r", ...adopted],
  },
  ...(
    [
      ["that is open and not empty", []],
      ["that has counters alone", [noSequences]],
      ["that has sequences alone", [noCounters]],
      ["of another revision", [setOurs("place", "", "stopped = 'x', revision = 6")]],
    ] as const
  ).map(([law, given]) => ({
    law: `no ID is adopted by a database ${law}`,
    given: () => given,
    call: adopt,
    answer: false,
  })),
];

const list = (name: string, periodKey: string, count: number) => (store: MovableStore) =>
  store.counters({ name, periodKey }, count);

const lists: readonly WriteCase[] = [
  {
    law: "the counters of a namespace are listed after a key, in order",
    given: () => [setTheirs("counter", "bills/2025", "used_count = 99")],
    call: list("bills", "2023", 9),
    answer: [
      { name: "bills", periodKey: "2024", index: 20n },
      { name: "bills", periodKey: "2025", index: 20n },
      { name: "orders", periodKey: "", index: 20n },
    ],
  },
  {
    law: "a page of counters ends at its size",
    call: list("a.orders", "", 2),
    answer: [
      { name: "bills", periodKey: "", index: 20n },
      { name: "bills", periodKey: "2022", index: 20n },
    ],
  },
];

export const moveCases: readonly WriteCase[] = [...aways, ...receipts, ...puts, ...openings, ...adoptions, ...lists];
