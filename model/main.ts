/**
 * Runs the model checks and prints a table: `npm run model`, or `npm run model -- --size full` for the long ones too
 * (about an hour and up to 16 GiB). With `--write` the table goes into model/README.md. Exits with 1 if a finding is
 * not the expected one.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { choice, onOff } from "../src/config/setting-kinds.ts";
import { withFallback } from "../src/config/setting.ts";
import { findTool } from "../test/support/fetch/tools.ts";
import { runProgram } from "../test/support/processes/run-program.ts";
import { checks } from "./checks.ts";
import { runCheck } from "./run-check.ts";

const options = {
  size: withFallback(
    choice({
      name: "size",
      words: ["suite", "full"],
      doc: "The checks of the tests, or the long ones too: about an hour and up to 16 GiB.",
    }),
    "suite",
  ),
  write: onOff({ name: "write", doc: "Puts the table into model/README.md." }),
};

await runProgram({
  call: "npm run model --",
  summary: "Runs the model checks and prints a table",
  options,
  examples: ["npm run model", "npm run model -- --size full --write"],
  run: async ({ size, write }) => {
    const limits =
      size === "full" ? { timeoutMs: 1_800_000, memoryMib: 16_000 } : { timeoutMs: 300_000, memoryMib: 4_000 };
    const spin = await findTool("spin");
    const lines = ["| model | check | bounds | finding | states | depth | seconds |", "|---|---|---|---|---|---|---|"];
    let wrong = 0;
    for (const check of checks.filter((one) => one.size === "suite" || size === "full")) {
      const { outcome, states, depth, seconds } = await runCheck(check, spin.path, limits);
      const bounds = Object.entries(check.defines).map(([name, value]) =>
        name.startsWith("MUTANT_") ? name : `${name}=${value}`,
      );
      const verdict = outcome === check.expected ? outcome : `**${outcome}**, expected ${check.expected}`;
      if (outcome !== check.expected) wrong++;
      const figures = [states.toLocaleString("en"), depth, seconds.toFixed(1)];
      const cells = [check.model, check.title, bounds.join(" "), verdict, ...figures];
      lines.push(`| ${cells.join(" | ")} |`);
      console.log(lines.at(-1));
    }
    if (write) writeTable(lines);
    return wrong === 0 ? 0 : 1;
  },
});

function writeTable(lines: readonly string[]): void {
  const path = new URL("README.md", import.meta.url);
  const heading = `Spin 6.5.2, gcc, ${cpus()[0]?.model.trim() ?? "unknown processor"}, ${new Date().toISOString().slice(0, 10)}.`;
  const [before, rest = ""] = readFileSync(path, "utf8").split("<!-- findings -->");
  const after = rest.split("<!-- end of findings -->")[1] ?? "\n";
  const block = `<!-- findings -->\n\n${heading}\n\n${lines.join("\n")}\n\n<!-- end of findings -->`;
  writeFileSync(path, `${before}${block}${after}`);
}
