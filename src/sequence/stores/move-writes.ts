import type { MoveRequest } from "../movable-store.ts";
import type { CounterKey, Mark } from "../sequence-store.ts";
import type { NamedValues } from "./named-values.ts";
import { valuesOf } from "./sequence-row.ts";
import type { Statements } from "./statements.ts";

/** A statement of a move, and its values. */
interface MoveWrite {
  readonly text: string;
  readonly values: NamedValues;
}

/** The statements of a move: nothing is written unless the first one finds the database in the required state. */
export interface MoveWrites {
  /** `read`: it has to return a row. `write`: it has to change one. */
  readonly condition: MoveWrite & { readonly kind: "read" | "write" };
  readonly writes: readonly MoveWrite[];
}

/**
 * The statements of a step. They run in one transaction, which has locked the row of the database before. docs/adr/0201
 * explains why.
 */
export function moveWrites(statements: Statements, request: MoveRequest): MoveWrites {
  const { revision } = request;
  if (request.kind === "put")
    return { condition: receives(statements, revision), writes: putWrites(statements, request) };
  const { text, values } = changeOf(statements, request);
  // A take that began before the stop waits for its witness row, and then finds another write in it.
  const writes = request.kind === "away" ? [{ text: statements.fence, values: {} }] : [];
  return { condition: { kind: "write", text, values: { ...values, revision } }, writes };
}

function receives({ receives: text }: Statements, revision: number): MoveWrites["condition"] {
  return { kind: "read", text, values: { revision } };
}

type PutRequest = Extract<MoveRequest, { readonly kind: "put" }>;

function changeOf(statements: Statements, request: Exclude<MoveRequest, PutRequest>): MoveWrite {
  switch (request.kind) {
    case "away":
      return { text: statements.moveAway, values: { move: request.move, reason: request.reason } };
    case "receive": {
      const { move, reason, from } = request;
      const { raisedCount, raisedUntilMs, epoch } = from;
      const raised = { raisedCount, raisedUntilMs, epoch };
      return { text: statements.receive, values: { move, reason, ...raised, ...from.member } };
    }
    case "open":
      return { text: statements.openCopy, values: { aboveRevision: request.aboveRevision } };
    case "adopt": {
      const { storeId, index, reason } = request;
      return { text: statements.adopt, values: { storeId, index, reason } };
    }
  }
}

function putWrites(
  statements: Statements,
  { sequences, counters, servers, writeId }: PutRequest,
): readonly MoveWrite[] {
  return [
    ...sequences.flatMap((stored) => {
      const { epoch, closedBefore, begunCount } = stored;
      const values = { ...valuesOf(stored), epoch, closedBefore, begunCount };
      return [
        { text: statements.dropSequence, values },
        { text: statements.putSequence, values },
      ];
    }),
    ...counters.flatMap(({ name, periodKey, index }) => {
      const values = { name, periodKey, index, writeId };
      return [
        { text: statements.putCounter, values },
        { text: statements.raiseTo, values },
      ];
    }),
    ...servers.map(({ processId, server, seenMs, epoch }) => {
      return { text: statements.putServer, values: { processId, server, seenMs, epoch } };
    }),
  ];
}

/** Reads a counter of a list. */
export function markOf(row: Readonly<Record<string, unknown>>): Mark {
  const key: CounterKey = { name: String(row["name"]), periodKey: String(row["period_key"]) };
  return { ...key, index: BigInt(row["used_count"] as bigint | number | string) };
}
