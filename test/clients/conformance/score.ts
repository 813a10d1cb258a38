import { attemptCases } from "./attempt-cases.ts";
import { bufferCases } from "./buffer-cases.ts";
import type { Case } from "./case.ts";
import { darkCases } from "./dark-cases.ts";
import { deploymentCases } from "./deployment-cases.ts";
import { fleetCases } from "./fleet-cases.ts";
import { Lane } from "./lane.ts";
import { mistakeCases } from "./mistake-cases.ts";
import { WrongProgram } from "./program-under-test.ts";
import { streamCases } from "./stream-cases.ts";
import { textCases } from "./text-cases.ts";
import { BrokenRule, NotObserved, TooLate } from "./world.ts";

/** The lists of the contract, in its order. */
const ruleLists = ["attempts", "checks", "streams", "buffer", "texts"];

function placeOf({ rule }: Case): number {
  const [list = "", number] = rule.split(" ");
  return 100 * ruleLists.indexOf(list) + Number(number);
}

/** Every case, in the order of the rules. */
export const cases: readonly Case[] = [
  ...attemptCases,
  ...mistakeCases,
  ...darkCases,
  ...fleetCases,
  ...deploymentCases,
  ...streamCases,
  ...bufferCases,
  ...textCases,
].toSorted((a, b) => placeOf(a) - placeOf(b));

/** What a program says of itself. */
interface Hello {
  readonly language: string;
  /** Names of the cases that it leaves out. */
  readonly leavesOut: readonly string[];
}

/** What became of one case. */
interface Verdict {
  readonly case: Case;
  readonly result: "held" | "broken" | "left out";
  /** How the rule was broken; empty otherwise. */
  readonly how: string;
}

/** How a program did. */
export interface Score {
  readonly hello: Hello;
  readonly verdicts: readonly Verdict[];
}

/** This many cases run at a time: most of their time is waiting. */
const atOnce = 4;

/** A busy machine makes single rounds late, and hardly all of them; a client that breaks a rule is late in each. */
const roundMax = 4;

/**
 * Holds a program to the rules.
 *
 * @param call - How it is started.
 * @throws Error where it does not start, or does not speak as docs/internals/client-contract.md says.
 */
export async function scoreProgram(call: readonly string[], chosen: readonly Case[] = cases): Promise<Score> {
  const lanes = Array.from({ length: atOnce }, () => new Lane(call));
  try {
    const hello = await lanes[0]!.program.send<Hello>("hello");
    const verdicts: Verdict[] = [];
    const late: [number, Case][] = [];
    const play = async (lane: Lane, index: number, one: Case): Promise<boolean> => {
      const { verdict, isLate } = await judge(lane, one);
      verdicts[index] = verdict;
      return isLate;
    };
    const work = async (lane: Lane, left: [number, Case][]): Promise<void> => {
      for (let next = left.shift(); next !== undefined; next = left.shift()) {
        const [index, one] = next;
        if (hello.leavesOut.includes(one.name)) verdicts[index] = { case: one, result: "left out", how: "" };
        else if (await play(lane, index, one)) late.push(next);
      }
    };
    const { alone = [], others = [] } = Object.groupBy(chosen.entries(), ([, { isAlone }]) =>
      isAlone === true ? "alone" : "others",
    );
    await Promise.all(lanes.map((lane) => work(lane, others)));
    const [first, ...more] = lanes as [Lane, ...Lane[]];
    await Promise.all(more.map((lane) => lane.end()));
    await work(first, alone);
    // Now each by itself, because the cases beside it may be what made the client late.
    for (const [index, one] of late)
      for (let round = 2; round <= roundMax && (await play(first, index, one)); ) round += 1;
    return { hello, verdicts };
  } finally {
    await Promise.all(lanes.map((lane) => lane.end()));
  }
}

/** Judges a case once, in a world of its own. A case that finds the client late may find it in time later. */
async function judge(lane: Lane, one: Case): Promise<{ readonly verdict: Verdict; readonly isLate: boolean }> {
  try {
    await lane.inWorld((world) => one.run(world));
    return { verdict: { case: one, result: "held", how: "" }, isLate: false };
  } catch (error) {
    const isUnseen = error instanceof NotObserved;
    if (!(isUnseen || error instanceof BrokenRule || error instanceof WrongProgram)) throw error;
    const verdict: Verdict = { case: one, result: isUnseen ? "left out" : "broken", how: error.message };
    return { verdict, isLate: error instanceof TooLate };
  }
}

/** Whether a client with these verdicts conforms: it breaks nothing, and leaves out nothing that is needed. */
export function conforms({ verdicts }: Score): boolean {
  return verdicts.every(({ result, case: { isNeeded } }) => result === "held" || (result === "left out" && !isNeeded));
}

/** The table for people: a line a case, and the sum. */
export function scoreToText({ hello, verdicts }: Score): string {
  const lines = verdicts.map(({ case: { rule, name, law }, result, how }) => {
    const head = `${result.padEnd(8)}  ${rule.padEnd(11)}  ${name.padEnd(24)}`;
    return `${head}  ${how === "" ? law : how}`;
  });
  const countOf = (wanted: Verdict["result"]): number => verdicts.filter(({ result }) => result === wanted).length;
  const others = (["broken", "left out"] as const).flatMap((result) =>
    countOf(result) === 0 ? [] : [`${countOf(result)} ${result}`],
  );
  const sum = [`${hello.language}: ${countOf("held")} of ${verdicts.length} held`, ...others].join(", ");
  return `${[...lines, sum].join("\n")}\n`;
}
