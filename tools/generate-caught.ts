/**
 * Writes test/mutants/caught.md: each rule of the protocol that the tests take out on purpose, and what notices that it
 * is gone.
 */
import { writeFileSync } from "node:fs";
import { controls } from "../test/fault/controls.ts";
import { faults } from "../test/fault/run-fault.ts";
import { mutants } from "../test/simulation/mutants.ts";

export const caughtFile = "test/mutants/caught.md";

/** The page as it is to be. */
export function caughtPage(): string {
  const bySeed = mutants.flatMap(({ name, rule, caughtBySeed, world = "one store" }) =>
    caughtBySeed === undefined ? [] : [[rule, `\`${name}\``, `${caughtBySeed}`, world]],
  );
  const byTest = mutants.flatMap(({ name, rule, heldBy }) =>
    heldBy === undefined ? [] : [[rule, `\`${name}\``, `\`${heldBy.file}\`: ${heldBy.test}`]],
  );
  const byFault = faults
    .filter(({ catches }) => catches !== "availability")
    .map(({ name, catches, counts }) => [name, `\`${catches}\``, `${controls[name] ?? "-"}`, `${counts.pr}`]);
  return [
    "# Rules that the tests take out, and what notices it",
    "",
    "This page is written by `npm run generate`. `npm test -- proof` takes each rule of the first two tables out and fails",
    "where nothing notices it. `npm run all -- gutted` does so with all rows of the third, on real servers.",
    "",
    "## By a seed of the simulation",
    "",
    ...tableOf(["rule", "mutant", "seed", "world"], bySeed),
    "",
    "## By a test of the sources",
    "",
    ...tableOf(["rule", "mutant", "test"], byTest),
    "",
    "## By faults of real servers",
    "",
    ...tableOf(["fault", "mutant", "faults in `npm test`", "in `npm run all`"], byFault),
    "",
  ].join("\n");
}

function tableOf(columns: readonly string[], rows: readonly (readonly string[])[]): readonly string[] {
  return [columns, columns.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`);
}

if (import.meta.main) writeFileSync(caughtFile, caughtPage());
