import { expect, test } from "vitest";
import { textOf, tracked } from "./imports.ts";

/** Names that once stood for two things, or hid what the field has a word for, with the name that each thing has. */
const goneNames: Readonly<Record<string, string>> = {
  Answering: "Application, and CallServer around it",
  cure: "hint",
  cureOf: "hintOf",
  DearQueue: "FairQueue",
  failuresInTurn: "failuresInRow",
  failures_in_turn: "failures_in_row",
  IdQueue: "WaitQueue",
  inSequence: "withCallerErrors",
  isOwed: "hasUnreported",
  onUnread: "onRefusedUnread",
  Outbox: "OutputBuffer",
  PlaceTake: "ValueTake",
  ReservationKind: "Priority",
  retryDelayMs: "backoffMs",
  SequencePlace: "SequenceDatabase",
  settleLayout: "resolveLayout",
  settleServer: "resolveServer",
  settleWorkerSettings: "resolveWorkerSettings",
  spellMessage: "encodeMessageField",
  Standing: "Ownership of a grant, AvailabilityRules of a record",
  StandingHolder: "LiveHolder",
  StripedPlace: "StripedDatabases",
  Surroundings: "CommandContext",
  ValuePlace: "ValueDatabase",
  WaitCause: "RefusalCause of a generator, GrantWaitCause of a holder",
  wentBack: "isRegression",
  "went-back": "regressed",
};

/**
 * A name of {@link goneNames} in code: of a type, function, field, method or variable, or a text. A word between two
 * others is one of a sentence.
 */
const gone = new RegExp(`(?<![\\w-])(?:${Object.keys(goneNames).join("|")})(?![\\w-])(?<![a-z] [a-z]+(?= [a-z]))`);

/** The lines of a file that are not a comment, by a look at how they begin. */
function codeLines(path: string): readonly string[] {
  return textOf(path)
    .split("\n")
    .map((line, index) => `${path}:${index + 1}: ${line}`)
    .filter((_, index, all) => !/^[^ ]+ \s*(\*|\/\/|\/\*|#|"""|- )/.test(all[index]!));
}

const written = tracked.filter(
  (path) =>
    /^(src|web|test|tools|clients)\/.*\.(ts|mjs|go|java|py)$/.test(path) &&
    !/\/(_?gen|generated)\//.test(path) &&
    path !== "test/house/gone-names.test.ts",
);

test("no name that is gone is in code: not as a type, a function, a field, a method or a text", () => {
  for (const code of [
    "class IdQueue<Request> {",
    "  wentBack(): void {",
    '{ kind: "went-back" }',
    "readonly cure: string;",
  ]) {
    expect(code).toMatch(gone);
  }
  for (const code of [
    "const outstanding = 1;",
    "cures(1)",
    "What waiting does not cure is tried once.",
    "storeWentBack",
  ])
    expect(code).not.toMatch(gone);
  expect(written.length).toBeGreaterThan(800);
  expect(written.flatMap(codeLines).filter((line) => gone.test(line.slice(line.indexOf(": ") + 2)))).toEqual([]);
});

test("no name is used beside the one that replaced it", () => {
  const names = Object.entries(goneNames).flatMap(([was, now]) => (goneNames[now] === undefined ? [] : [was]));
  expect(names).toEqual([]);
});
