/**
 * `npm run measure -- fault-lines`: injects faults into each kind of store under a server, and prints what an operator
 * reads of them in the log and by `snowlane doctor`. `npm run measure -- fault-lines redis etcd` for some of them;
 * `--write` puts it into docs/reports/fault-lines.md, where the sections of other faults stay.
 */
import { hostname } from "node:os";
import { systemClock } from "../../src/clock/clock.ts";
import { onOff, text } from "../../src/config/setting-kinds.ts";
import { readMarkedSection, writeMarkedSection } from "../bench/marked-section.ts";
import { machine } from "../bench/report.ts";
import { runProgram } from "../support/processes/run-program.ts";
import type { LogLine } from "../support/processes/snowlane-process.ts";
import { type FaultLines, readFaultLines } from "../stores/fault-lines.ts";
import { type StagedFault, stagedFaults } from "../stores/fault-stages.ts";

const page = "docs/reports/fault-lines.md";
const known = [...new Set(stagedFaults.map(({ store }) => store))];
/** Store by store. */
const inPageOrder = known.flatMap((name) => stagedFaults.filter(({ store }) => store === name));

await runProgram({
  call: "npm run measure -- fault-lines",
  summary: "Prints what an operator reads of each fault of each store",
  options: {
    only: text({ name: "only", placeholder: "WORDS", doc: "Faults whose name has these words." }),
    write: onOff({ name: "write", doc: "Puts it into docs/reports/fault-lines.md, without what failed." }),
  },
  words: { placeholder: "[STORE...]", doc: "Some of the stores; all without one.", known },
  examples: [
    "npm run measure -- fault-lines redis",
    "npm run measure -- fault-lines --only killed",
    "npm run measure -- fault-lines --write",
  ],
  run: async ({ write, only: words = "" }, stores) => {
    const wanted = inPageOrder.filter(
      ({ store, fault }) => (stores.length === 0 || stores.includes(store)) && fault.includes(words),
    );
    const sections = sectionsOfPage(wanted);
    let failed = 0;
    for (const staged of wanted) {
      try {
        const section = await sectionOf(staged);
        sections.set(titleOf(staged), section);
        process.stdout.write(`${section}\n\n`);
      } catch (error) {
        failed += 1;
        process.stderr.write(`${titleOf(staged)}: ${String(error)}\n`);
      }
    }
    const inOrder = inPageOrder.flatMap((staged) => sections.get(titleOf(staged)) ?? []);
    if (write) writeMarkedSection(page, "faults", inOrder.join("\n\n"));
    return failed === 0 ? 0 : 1;
  },
});

function titleOf({ store, fault }: StagedFault): string {
  return `${store}, ${fault}`;
}

/** The sections that the page has of faults other than `wanted`, by title. */
function sectionsOfPage(wanted: readonly StagedFault[]): Map<string, string> {
  const sections = readMarkedSection(page, "faults")
    .split(/^(?=### )/m)
    .map((section) => section.trim());
  const titled = sections.map((section): [string, string] => [/^### (.*)/.exec(section)?.[1] ?? "", section]);
  const again = new Set(wanted.map(titleOf));
  return new Map(titled.filter(([title]) => !again.has(title)));
}

/** The section of one fault. */
async function sectionOf(staged: StagedFault): Promise<string> {
  const stage = await staged.set();
  try {
    const lines = textOf(await readFaultLines(stage));
    const day = new Date(systemClock.nowMs()).toISOString().slice(0, 10);
    const about = `${day}, on ${machine()}, Node ${process.versions.node}.`;
    return [`### ${titleOf(staged)}`, "", about, "", "```text not run: read under a real fault", ...lines, "```"].join(
      "\n",
    );
  } finally {
    await stage.stop();
  }
}

function textOf({ during, doctor, after }: FaultLines): string[] {
  const says = doctor.flatMap(({ check, level, detail, hint }) => [
    ...wrapped(`${level}  ${check}: ${detail}`),
    ...wrapped(`  ${hint}`),
  ]);
  return [
    "while it lasts",
    ...during.flatMap(logged),
    "snowlane doctor",
    ...(says.length > 0 ? says : ["  finds nothing new"]),
    "when it is over",
    ...after.flatMap(logged),
  ];
}

function logged(line: LogLine): string[] {
  return wrapped(`${String(line["level"]).toUpperCase()}  ${String(line["message"])}`);
}

/** In lines of the page's width, without what differs between runs. */
function wrapped(text: string): string[] {
  const same = text
    .replaceAll(/127\.0\.0\.1:\d+/g, "HOST")
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "TIME")
    .replaceAll(/\/tmp\/[^\s/]+\//g, "/DIR/")
    .replaceAll(/process \d+/g, "process PID")
    .replaceAll(hostname(), "MACHINE");
  const lines: string[] = [];
  let line = " ";
  for (const word of same.split(/(?<= )(?=\S)/)) {
    if (line.length + word.trimEnd().length > 112) {
      lines.push(line.trimEnd());
      line = "        ";
    }
    line += word;
  }
  return [...lines, line.trimEnd()].map((each) => `  ${each.slice(1)}`);
}
