import { once } from "node:events";
import type { Writable } from "node:stream";
import type { PastNumbers } from "../../snowflake/past-numbers.ts";
import { CommandError, exitCodes } from "../exit-code.ts";
import type { Progress } from "../ids/progress.ts";
import { type Row, type RowRules, rowsOf } from "./rows.ts";

/** How rows of the past are read, numbered and written. */
export interface NumberingParts {
  /** How a row is read, and which rows are good. */
  readonly rules: RowRules;
  /** Gives the next ID of a row's tick, from the slots of the claim. */
  readonly numbers: PastNumbers;
  /** Writes an ID in the form that was asked for. */
  readonly write: (id: bigint) => string;
  /** Takes the rows, each with its ID. */
  readonly out: Writable;
  /** Counts the rows that were numbered. */
  readonly progress: Progress;
  /** The most ticks by which an ID may be later than its row. */
  readonly lagMaxTicks: number;
  /** Called with each row that gets no ID, and why. */
  readonly onBad: (row: Extract<Row, { kind: "bad" }>) => void;
}

/** Writes all rows with their IDs. @returns How many. @throws CommandError for a row that the claim has no room for. */
export async function numberRows(chunks: AsyncIterable<string>, parts: NumberingParts): Promise<number> {
  const { rules, numbers, out, progress, write } = parts;
  let count = 0;
  for await (const batch of rowsOf(chunks, rules)) {
    let text = "";
    let drawn = 0;
    for (const row of batch) {
      if (row.kind === "bad") parts.onBad(row);
      else if (row.kind === "pass") text += row.text;
      else {
        const id = numbers.next(row.tick);
        if (id === undefined || numbers.slots.tick - row.tick > parts.lagMaxTicks) throw noRoom(row.line);
        text += rules.format.withId(row.text, write(id));
        drawn += 1;
      }
    }
    count += drawn;
    if (text !== "" && !out.write(text, "latin1")) await once(out, "drain");
    progress.add(drawn);
  }
  return count;
}

function noRoom(line: number): CommandError {
  const message = `The claim has no room for line ${line}: too many rows have nearly the same time. Give more --lanes, or a longer --lag-max.`;
  return new CommandError(message, exitCodes.refused);
}
