/**
 * Runs the model checks and prints a table: `npm run model`, or `npm run model -- --size full` for the long ones too
 * (about an hour and up to 16 GiB). With `--write` the table goes into model/README.md. Exits with 1 if a finding is
 * not the expected one.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { parseArgs } from "node:util";
import { findTool } from "../test/support/fetch/tools.ts";
import { checks } from "./checks.ts";
import { runCheck } from "./run-check.ts";

const { values } = parseArgs({ options: { size: { type: "string", default: "suite" }, write: { type: "boolean" } } });
const limits =
  values.size === "full" ? { timeoutMs: 1_800_000, memoryMib: 16_000 } : { timeoutMs: 300_000, memoryMib: 4_000 };
const spin = await findTool("spin");
const lines = ["| model | check | bounds | finding | states | depth | seconds |", "|---|---|---|---|---|---|---|"];
let wrong = 0;
for (const check of checks.filter(({ size }) => size === "suite" || values.size === "full")) {
  const { outcome, states, depth, seconds } = await runCheck(check, spin.path, limits);
  const bounds = Object.entries(check.defines).map(([name, value]) =>
    name.startsWith("MUTANT_") ? name : `${name}=${value}`,
  );
  const verdict = outcome === check.expected ? outcome : `**${outcome}**, expected ${check.expected}`;
  if (outcome !== check.expected) wrong++;
  const cells = [
    check.model,
    check.title,
    bounds.join(" "),
    verdict,
    states.toLocaleString("en"),
    depth,
    seconds.toFixed(1),
  ];
  lines.push(`| ${cells.join(" | ")} |`);
  console.log(lines.at(-1));
}
if (values.write === true) {
  const path = new URL("README.md", import.meta.url);
  const heading = `Spin 6.5.2, gcc, ${cpus()[0]?.model.trim() ?? "unknown processor"}, ${new Date().toISOString().slice(0, 10)}.`;
  const [before, rest = ""] = readFileSync(path, "utf8").split("<!-- findings -->");
  const after = rest.split("<!-- end of findings -->")[1] ?? "\n";
  const block = `<!-- findings -->\n\n${heading}\n\n${lines.join("\n")}\n\n<!-- end of findings -->`;
  writeFileSync(path, `${before}${block}${after}`);
}
process.exit(wrong === 0 ? 0 : 1);
