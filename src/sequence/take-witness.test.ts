import { describe, expect, test } from "vitest";
import { TakeWitness, type WitnessRows } from "./take-witness.ts";

const dayMs = 86_400_000;

/** A witness of one line beside that of the looks, with its rows as a database has them. */
function made() {
  const witness = new TakeWitness(1);
  const rows = new Map(witness.firstRows.map(({ line, writeId }) => [line, writeId]));
  witness.made(0);
  const look = (read: WitnessRows = rows, clockMs = 1_000) => witness.judge(witness.watch(), read, clockMs);
  return { witness, rows, look };
}

describe("rows of a process", () => {
  test("are right while they hold what was written last", () => {
    const { witness, rows, look } = made();
    expect(look().kind).toBe("right");
    const note = witness.begin(1);
    rows.set(1, note.after);
    witness.confirm(note);
    expect(look().kind).toBe("right");
    expect(witness.begin(1).before).toBe(note.after);
  });

  test("show a loss where an older write is there", () => {
    const { witness, rows, look } = made();
    const older = new Map(rows);
    for (let count = 0; count < 2; count += 1) {
      const note = witness.begin(1);
      rows.set(1, note.after);
      witness.confirm(note);
    }
    expect(look(older)).toEqual({
      kind: "loss",
      reason: "the takes of a running server are gone: its write 0 is there after write 2",
    });
  });

  test("may hold any write that was not answered, and one that is found counts as confirmed", () => {
    const { witness, rows, look } = made();
    const [first, second] = [witness.begin(1), witness.begin(1)];
    expect(second.before).toBe(first.before);
    expect(look().kind).toBe("right");
    rows.set(1, second.after);
    expect(look().kind).toBe("right");
    expect(witness.begin(1).before).toBe(second.after);
    // The first one cannot be done any more.
    expect(look(new Map(rows).set(1, first.after)).kind).not.toBe("right");
  });

  test("may hold what was written since the look was sent", () => {
    const { witness, rows } = made();
    const before = new Map(rows);
    const watch = witness.watch();
    const note = witness.begin(1);
    witness.confirm(note);
    expect(witness.judge(watch, before, 1_000).kind).toBe("right");
    const next = witness.watch();
    const later = witness.begin(1);
    expect(witness.judge(next, new Map(rows).set(1, later.after), 1_000).kind).toBe("right");
  });

  test("are not missed by a look that was sent before they were made", () => {
    const witness = new TakeWitness(1);
    const watch = witness.watch();
    witness.made(0);
    expect(witness.judge(watch, new Map(), 1_000).kind).toBe("right");
  });

  test("that are missing are a loss, unless the process has not looked for six days", () => {
    const { witness, look } = made();
    expect(look(new Map(), 5 * dayMs).kind).toBe("loss");
    expect(look(new Map(), 7 * dayMs).kind).toBe("expired");
    witness.confirmLook(witness.begin(0), 3 * dayMs);
    expect(look(new Map(), 7 * dayMs).kind).toBe("loss");
  });

  test("show another copy of the process by a later write, or by another one of the same count", () => {
    const { witness, rows, look } = made();
    expect(look(new Map(rows).set(1, "5 another")).kind).toBe("copied");
    witness.begin(1);
    expect(look(new Map(rows).set(1, "1 another")).kind).toBe("copied");
    expect(look(new Map(rows).set(1, "no count")).kind).toBe("loss");
  });

  test("are not changed by an answer to a write that was given up", () => {
    const { witness, rows, look } = made();
    const lost = witness.begin(1);
    rows.set(1, lost.after);
    look();
    const next = witness.begin(1);
    witness.confirm(lost);
    witness.confirm(next);
    expect(witness.begin(1).before).toBe(next.after);
    // Nor by one that comes after the answer to a later write.
    witness.confirm(lost);
    expect(witness.begin(1).before).toBe(next.after);
  });

  test("have the write of a look as the next one's condition once it is confirmed", () => {
    const { witness } = made();
    const note = witness.begin(0);
    witness.confirmLook(note, 1);
    expect(witness.begin(0).before).toBe(note.after);
  });

  test("have the same first writes as often as they are made", () => {
    const witness = new TakeWitness(2);
    expect(witness.firstRows).toEqual(witness.firstRows);
    expect(witness.firstRows.map(({ line }) => line)).toEqual([0, 1, 2]);
  });
});
