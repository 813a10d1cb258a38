/** The systemd unit, read by systemd's own tools. Nothing here starts it: that needs systemd as the first process. */
import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { serverSettings } from "../../src/config/server-settings.ts";
import { runReadmeBlock } from "../support/processes/bare-clone.ts";
import { runCli } from "../support/processes/cli-outcome.ts";
import { principalsFile } from "../support/processes/principals-file.ts";
import { blocksOf } from "../support/processes/page-blocks.ts";
import { runCommand } from "../support/processes/run-command.ts";

const unit = readFileSync("deploy/systemd/snowlane.service", "utf8");
const folder = mkdtempSync(join(tmpdir(), "snowlane-unit-"));
const program = join(folder, "snowlane");

beforeAll(() => {
  writeFileSync(program, "#!/bin/sh\n");
  chmodSync(program, 0o755);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Keys that systemd has since version 254. */
const newKeys = /^Restart(?:Steps|MaxDelaySec)=.*\n/gm;

/** Writes a unit whose program exists, because systemd-analyze refuses one that does not. */
function unitFile(name: string, text: string): string {
  const path = join(folder, name);
  const [, version] = /systemd (\d+)/.exec(execFileSync("systemd-analyze", ["--version"], { encoding: "utf8" })) ?? [];
  const known = Number(version) >= 254 ? text : text.replaceAll(newKeys, "");
  writeFileSync(path, known.replaceAll("/usr/local/bin/snowlane", program));
  return path;
}

async function verify(name: string, text: string): Promise<string> {
  try {
    // systemd-analyze ends with 0 for an unknown key: each line that it prints is a fault.
    return await runCommand("sh", ["-c", 'systemd-analyze verify --man=no "$0" 2>&1', unitFile(name, text)]);
  } catch (error) {
    return String(error);
  }
}

// Systemd gave up after five starts in ten seconds.
test("OPERATIONS 11: the unit never gives up, and comes back after any end that nobody asked for, but for wrong settings", () => {
  expect(unit).toMatch(/^\[Unit\]\n(?:.+\n)*StartLimitIntervalSec=0$/m);
  expect(unit).toMatch(/^Restart=always$/m);
  expect(unit.match(newKeys)).toEqual(["RestartSteps=6\n", "RestartMaxDelaySec=30\n"]);
  expect(unit).toMatch(/^RestartPreventExitStatus=2 5$/m);
});

test("systemd-analyze finds nothing wrong", async () => {
  expect(await verify("snowlane.service", unit)).toBe("");
});

test("systemd-analyze finds a key that does not exist, and a value that cannot be", async () => {
  expect(await verify("key.service", unit.replace("UMask=", "Umask="))).toMatch(/Unknown key.*'Umask'/);
  expect(await verify("value.service", unit.replace("Type=exec", "Type=excellent"))).toMatch(/service type.*excellent/);
});

test("as a template with reuse-port.conf, each server has its own name, and all have one user", async () => {
  const dropIn = readFileSync("deploy/systemd/reuse-port.conf", "utf8");
  const template = unit.replace("[Install]", `${dropIn}\n[Install]`);
  expect(await verify("snowlane@1.service", template)).toBe("");
  expect(await verify("snowlane@2.service", template.replace("\nUser=", "\nUsr="))).toMatch(/Unknown key.*'Usr'/);
  const [, settings = ""] = /^Environment=(SNOWLANE.*)$/m.exec(dropIn) ?? [];
  const environment = Object.fromEntries(settings.split(" ").map((setting) => setting.split("=")));
  expect(Object.keys(environment)).toEqual(["SNOWLANE_REUSE_PORT", "SNOWLANE_INSTANCE"]);
  const shown = await runCli(["serve", "--dry-run"], { environment });
  expect(String(shown.stdout)).toMatch(/reusePort +true/);
});

test("with the lines of docs/deploying.md that hand over secrets, each setting is a file that systemd copies", async () => {
  const dropIn = blocksOf("docs/deploying.md", "ini").find((block) => block.includes("LoadCredential=")) ?? "";
  const handed = unit.replace("[Install]", `${dropIn}\n[Install]`);
  expect(await verify("handed.service", handed)).toBe("");
  expect(await verify("handing.service", handed.replace("LoadCredential=", "LoadCredentials="))).toMatch(/Unknown key/);
  const copied = [...dropIn.matchAll(/^LoadCredential=(\S+):\/etc\/snowlane\/(\S+)$/gm)];
  const [, settings = ""] = /^Environment=(.*)$/m.exec(dropIn) ?? [];
  const environment = Object.fromEntries(settings.split(" ").map((setting) => setting.split("=")));
  expect(Object.values(environment)).toEqual(copied.map(([, name]) => `%d/${name}`));
  expect(copied.every(([, name, file]) => name === file)).toBe(true);
  const names = Object.values(serverSettings).map(
    ({ name }) => `SNOWLANE_${name.replaceAll(/[A-Z]/g, "_$&").toUpperCase()}`,
  );
  expect(names).toEqual(expect.arrayContaining(Object.keys(environment)));
});

test.each([
  ["the unit", "snowlane.service /etc/systemd/system/\n", ["snowlane.service"]],
  ["two of a template", "snowlane@.service\n", ["snowlane@1.service", "snowlane@2.service"]],
])(
  "the lines of docs/deploying.md enable %s, in a folder that stands for the machine's",
  async (_name, line, enabled) => {
    const root = mkdtempSync(join(folder, "root-"));
    const units = join(root, "etc/systemd/system/");
    mkdirSync(units, { recursive: true });
    const programs = join(root, "programs");
    mkdirSync(programs);
    const systemctl = (await runCommand("sh", ["-c", "command -v systemctl"])).trim();
    // systemd that runs would be told of the unit, and start it.
    const program = [
      "#!/bin/sh",
      '[ "$1" = daemon-reload ] && exit',
      '[ "$1 $2" = "enable --now" ] && shift 2 || exit 1',
      `exec ${systemctl} --root="${root}" enable "$@"`,
    ];
    writeFileSync(join(programs, "systemctl"), `${program.join("\n")}\n`, { mode: 0o755 });
    const block = blocksOf("docs/deploying.md", "sh").findIndex((text) => text.includes(line));
    const env = { PATH: [programs, process.env["PATH"]].join(delimiter) };
    await runReadmeBlock("docs/deploying.md", block, { env, places: { "/etc/systemd/system/": units } });
    expect(readdirSync(join(units, "multi-user.target.wants")).toSorted()).toEqual(enabled);
  },
);

test("with the settings of docs/deploying.md a server starts once it is said who may call, and not before", async () => {
  const [settings = "", dropIn = ""] = blocksOf("docs/deploying.md", "ini");
  const entries = settings
    .trim()
    .split("\n")
    .concat(/^Environment=(.*)$/m.exec(dropIn)![1]!.split(" "));
  const written = Object.fromEntries(entries.map((entry) => entry.split("=") as [string, string]));
  const { SNOWLANE_TLS_CERT: _cert, SNOWLANE_TLS_KEY: _key, SNOWLANE_PRINCIPALS: handed, ...environment } = written;
  const refused = await runCli(["serve", "--dry-run"], { environment });
  expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining("--auth none")]);
  const principals = principalsFile([{ name: "shop", permissions: ["ids"] }]).path;
  expect(handed).toBe("%d/principals.json");
  for (const more of [{ SNOWLANE_PRINCIPALS: principals }, { SNOWLANE_AUTH: "none" }]) {
    const { code, stderr } = await runCli(["serve", "--dry-run"], { environment: { ...environment, ...more } });
    expect([code, stderr]).toEqual([0, ""]);
  }
});

test("its exposure is at most 3.0", async () => {
  const path = unitFile("exposure.service", unit);
  const output = await runCommand("systemd-analyze", ["security", "--offline=true", "--no-pager", path]);
  const [, exposure = ""] = /Overall exposure level for \S+: (\d+\.\d+)/.exec(output) ?? [];
  expect(Number(exposure)).toBeGreaterThan(0);
  expect(Number(exposure)).toBeLessThanOrEqual(3);
});

test("its stop outlasts the drain, and its codes for no restart are those of the command line", () => {
  const [, stopSeconds = ""] = /^TimeoutStopSec=(\d+)$/m.exec(unit) ?? [];
  expect(Number(stopSeconds) * 1_000).toBeGreaterThan(serverSettings.drainTimeoutMs.fallback);
  const [, codes = ""] = /^RestartPreventExitStatus=(.*)$/m.exec(unit) ?? [];
  const table = readFileSync("docs/cli.md", "utf8");
  for (const code of codes.split(" ")) expect(table).toMatch(new RegExp(`^\\| ${code} `, "m"));
});

test("the program starts with the unit's command, and keeps its state in the unit's folder", async () => {
  const [, command = ""] = /^ExecStart=\/usr\/local\/bin\/snowlane (.*)$/m.exec(unit) ?? [];
  const [, state = ""] = /^Environment=XDG_STATE_HOME=(.*)$/m.exec(unit) ?? [];
  expect([command, state]).toEqual(["serve", "%S"]);
  const environment = { XDG_STATE_HOME: "/var/lib" };
  const { code, stdout } = await runCli([command, "--dry-run"], { environment });
  expect([code, stdout.toString()]).toEqual([0, expect.stringContaining("sqlite:/var/lib/snowlane/snowlane.db")]);
});

test("with an address that everybody reaches and nobody let in, the unit's command ends in one line, and stays ended", async () => {
  const [, command = ""] = /^ExecStart=\/usr\/local\/bin\/snowlane (.*)$/m.exec(unit) ?? [];
  // As /etc/snowlane/snowlane.env would have it.
  const environment = { SNOWLANE_LISTEN: "0.0.0.0:0", SNOWLANE_STORE: `sqlite:${join(folder, "refused.db")}` };
  const { code, stderr } = await runCli([command], { environment });
  expect([code, stderr]).toEqual([2, expect.stringMatching(/^snowlane: .*--auth[^\n]*\n?$/)]);
  expect(unit).toMatch(new RegExp(`^RestartPreventExitStatus=.*\\b${code}\\b`, "m"));
});
