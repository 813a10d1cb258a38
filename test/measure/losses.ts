/**
 * `npm run measure -- losses`: lets each store lose data under a server, as the tests do, and prints what showed, and
 * when the next window began. `npm run measure -- losses redis etcd` for some of them; `--write` puts the table into
 * docs/reports/losses.md.
 */
import { systemClock } from "../../src/clock/clock.ts";
import { onOff } from "../../src/config/setting-kinds.ts";
import { writeMarkedSection } from "../bench/marked-section.ts";
import { machine, markdownTable } from "../bench/report.ts";
import { runProgram } from "../support/processes/run-program.ts";
import { nameWithVersion } from "../support/servers/server-version.ts";
import {
  type LossRun,
  runShownLoss,
  runUnseenLoss,
  shownQuarantineMs,
  tellsOfLoss,
  unseenQuarantineMs,
} from "../stores/loss-run.ts";
import { type ShownLoss, shownLosses } from "../stores/shown-losses.ts";
import { type UnseenLoss, unseenLosses } from "../stores/unseen-losses.ts";

const columns = ["store", "loss", "shows", "quarantine", "the next window", "duplicates"];
const all = [...shownLosses, ...unseenLosses];
const kubernetes = "kubernetes";
const known = [...new Set(all.map(({ server }) => server ?? kubernetes))];

await runProgram({
  call: "npm run measure -- losses",
  summary: "Lets the stores lose data, and prints what showed and when the next window began",
  options: { write: onOff({ name: "write", doc: "Puts the table into docs/reports/losses.md." }) },
  words: { placeholder: "[STORE...]", doc: "Some of the stores; all without one.", known },
  examples: ["npm run measure -- losses redis", "npm run measure -- losses --write"],
  run: async ({ write }, wanted) => {
    const rows: (readonly string[])[] = [];
    for (const loss of all) {
      const { server, name } = loss;
      if (wanted.length > 0 && !wanted.includes(server ?? kubernetes)) continue;
      const store = server === undefined ? `${kubernetes} (fake)` : await nameWithVersion(server);
      const row = [store, name.replace(/^\w+: /, ""), ...(await figuresOf(loss))];
      rows.push(row);
      process.stdout.write(`| ${row.join(" | ")} |\n`);
    }
    const day = new Date(systemClock.nowMs()).toISOString().slice(0, 10);
    const about = `${day}, on ${machine()}, Node ${process.versions.node}.`;
    const table = markdownTable({ title: "", columns, rows });
    if (write) writeMarkedSection("docs/reports/losses.md", "losses", `${about}\n\n${table}`);
    return rows.every((row) => row.at(-1) === "0") ? 0 : 1;
  },
});

/** The figures of one loss: see {@link columns}. */
async function figuresOf(loss: ShownLoss | UnseenLoss): Promise<readonly string[]> {
  const stage = await loss.set();
  try {
    if (!("keep" in stage)) {
      const run = await runShownLoss(stage);
      return [shownBy(run), secondsOf(shownQuarantineMs), ...nextWindowOf(run)];
    }
    const run = await runUnseenLoss(stage);
    const shows = run.unaware.some(tellsOfLoss) ? "yes" : "no: runbook";
    return [shows, secondsOf(unseenQuarantineMs(stage.windowMs)), ...nextWindowOf(run)];
  } finally {
    await stage.stop();
  }
}

/** What the processes said of the loss. */
function shownBy({ events }: LossRun): string {
  const kinds = new Set(events.map(({ kind }) => kind));
  const signs = [
    ...(kinds.has("incarnation-changed") ? ["another life"] : []),
    ...(kinds.has("quarantine-written") ? ["an older record"] : []),
    ...(events.some((event) => event.kind === "new-deployment" && event.untilMs !== undefined) ? ["no records"] : []),
  ];
  return signs.join(", ") || "no";
}

function nextWindowOf({ lostAtMs, grants, duplicateCount }: LossRun): readonly string[] {
  const firstMs = Math.min(...grants.map(({ fromMs }) => fromMs));
  return [secondsOf(firstMs - lostAtMs), String(duplicateCount)];
}

function secondsOf(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`;
}
