/**
 * Records the README's terminal: runs the commands below for real and writes what they printed as an SVG that shows
 * them one after the other. IDs and times differ with each recording, so it is made by hand:
 * `npm run measure -- record`.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { runCommand } from "../test/support/processes/run-command.ts";

/** The recording's place in the repository. */
export const recordingPath = "docs/pictures/terminal.svg";

/** The commands, in their order. `ID` is the ID that the second one got. */
export const recordedCommands = [
  "snowlane serve --store sqlite:ids.db",
  "curl -d '{}' -H 'content-type: application/json' http://127.0.0.1:7609/snowlane.v1.IdService/NextId",
  "snowlane parse ID",
  "snowlane workers --store sqlite:ids.db",
] as const;

/** A command as it was typed, and the lines that it printed. */
interface Step {
  readonly command: string;
  readonly output: readonly string[];
}

const lineHeight = 19;
const characterWidth = 7.83;
const padding = 22;
const typedPerSecond = 45;
const pauseSeconds = 1.1;

function escape(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
}

/** Draws the steps: each line appears at its time, and stays. With reduced motion all of them are there at once. */
export function drawTerminal(steps: readonly Step[]): string {
  const columns = Math.max(
    ...steps.flatMap(({ command, output }) => [command.length + 2, ...output.map((l) => l.length)]),
  );
  const rows = steps.reduce((sum, { output }) => sum + output.length + 2, -1);
  const width = Math.ceil(columns * characterWidth + 2 * padding);
  const height = rows * lineHeight + 2 * padding + 16;
  const lines: string[] = [];
  let row = 0;
  let seconds = 0.4;
  const line = (content: string, atSeconds: number): void => {
    const y = padding + 30 + row++ * lineHeight;
    lines.push(`<text x="${padding}" y="${y}" style="animation-delay:${atSeconds.toFixed(2)}s">${content}</text>`);
  };
  for (const { command, output } of steps) {
    line(`<tspan class="prompt">$</tspan> <tspan class="command">${escape(command)}</tspan>`, seconds);
    seconds += Math.min(command.length / typedPerSecond, 1.2);
    for (const text of output) line(escape(text), seconds);
    seconds += pauseSeconds;
    row++;
  }
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" aria-labelledby="title">
<title id="title">A terminal: ${escape(steps.map(({ command }) => command).join("; "))}</title>
<style>
text { font: 13px ui-monospace, Menlo, Consolas, "Liberation Mono", monospace; fill: #d1d7e0; white-space: pre;
  opacity: 0; animation: appear 0.15s forwards; }
.prompt { fill: #3fb950; } .command { fill: #ffffff; font-weight: 600; }
@keyframes appear { to { opacity: 1; } }
@media (prefers-reduced-motion: reduce) { text { animation: none; opacity: 1; } }
</style>
<rect width="${width}" height="${height}" rx="9" fill="#151b23"/>
<circle cx="22" cy="20" r="5.5" fill="#f85149"/><circle cx="40" cy="20" r="5.5" fill="#d29922"/>
<circle cx="58" cy="20" r="5.5" fill="#3fb950"/>
${lines.join("\n")}
</svg>
`;
}

const linesOf = (text: string): readonly string[] => text.trimEnd().split("\n");

/** Runs the commands in an empty folder. */
async function record(): Promise<readonly Step[]> {
  const folder = mkdtempSync(join(tmpdir(), "snowlane-recording-"));
  const program = [process.execPath, resolve("dist/main.js")] as const;
  let server: ChildProcess | undefined;
  try {
    const [serve, curl, parse, workers] = recordedCommands;
    const run = (line: string): Promise<string> => {
      const [, ...args] = line.split(" ");
      return runCommand(program[0], [program[1], ...args], { cwd: folder });
    };
    const [, ...serveArgs] = serve.split(" ");
    // Under npm start a server prints its lines for people, also where standard output is a pipe.
    const env = { ...process.env, npm_lifecycle_event: "start", SNOWLANE_RESUME_DIR: "off" };
    server = spawn(program[0], [program[1], ...serveArgs], { cwd: folder, env, stdio: ["ignore", "pipe", "inherit"] });
    const [started] = (await once(server.stdout!, "data")) as [Buffer];
    const answer = await runCommand("sh", ["-c", `${curl} --silent`]);
    const { id } = JSON.parse(answer) as { readonly id: string };
    const parsed = parse.replace("ID", id);
    return [
      { command: `${serve} &`, output: linesOf(started.toString()) },
      { command: curl, output: linesOf(answer) },
      { command: parsed, output: linesOf(await run(parsed)).filter((line) => !line.startsWith("if ")) },
      { command: workers, output: linesOf(await run(workers)) },
    ];
  } finally {
    server?.kill("SIGTERM");
    if (server !== undefined && server.exitCode === null) await once(server, "exit");
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Runs the commands and writes what they print into {@link recordingPath}. */
export async function recordTerminal(): Promise<void> {
  writeFileSync(recordingPath, drawTerminal(await record()));
}
