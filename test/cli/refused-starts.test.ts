import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, onTestFinished, test } from "vitest";
import { boundByModes } from "../support/processes/bound-by-modes.ts";
import { runCli } from "../support/processes/cli-outcome.ts";
import { principalsFile } from "../support/processes/principals-file.ts";
import { temporaryFolder } from "../support/processes/running-server.ts";
import { bundledSnowlane } from "../support/processes/server-bundle.ts";
import { startSnowlane } from "../support/processes/snowlane-process.ts";

/** Without the warnings of a busy machine, such as that the process did not run for a while. */
const serve = ["serve", "--listen", "127.0.0.1:0", "--log-level", "error"];

/** A store URL for each way in which a file cannot be used, and what the line about it says. */
const unusableFiles: Readonly<Record<string, readonly [prepare: (path: string) => string | Promise<string>, RegExp]>> =
  {
    "in a folder that cannot be written": [readOnlyFolder, /cannot be written .* writable/],
    "that is a folder": [(path) => (mkdirSync(path), path), /cannot be opened .* Check the path/],
    "below a file": [(path) => (writeFileSync(path, ""), join(path, "ids.db")), /cannot be opened .* Check the path/],
    "of anything but SQLite": [
      (path) => (writeFileSync(path, Buffer.alloc(9_000, "no database ")), path),
      /not a SQLite database\. Choose another/,
    ],
    "of another program": [foreignDatabase, /of another program\. Choose another/],
    "where the system makes no folder, and says that there is none": [
      () => "/proc/ids.db",
      /cannot be opened .* Check/,
    ],
    "that is damaged": [damaged, /is damaged .* Restore it/],
  };

/** An administrator may write anywhere but where the kernel itself says no. */
function readOnlyFolder(path: string): string {
  if (process.getuid?.() === 0) return "/sys/ids.db";
  mkdirSync(path);
  chmodSync(path, 0o555);
  return join(path, "ids.db");
}

function foreignDatabase(path: string): string {
  const database = new DatabaseSync(path);
  database.exec("CREATE TABLE theirs (a)");
  database.close();
  return path;
}

async function damaged(path: string): Promise<string> {
  expect((await runCli(["next", "--store", `sqlite:${path}`])).code).toBe(0);
  const bytes = readFileSync(path);
  writeFileSync(path, bytes.fill(0xff, 4_096, 8_192).fill(0x5a, 100, 200));
  return path;
}

describe("a store file", () => {
  test.each(Object.entries(unusableFiles))("%s: one line with the hint, and code 4", async (_, [prepare, line]) => {
    const path = await prepare(join(temporaryFolder(), "ids.db"));
    for (const command of [["next"], serve]) {
      const { code, stdout, stderr } = await runCli([...command, "--store", `sqlite:${path}`]);
      expect([code, stdout.length, stderr.trimEnd().split("\n")]).toEqual([4, 0, [expect.stringMatching(line)]]);
      expect(stderr).toContain(path);
    }
  });

  test("whose folder has a slip is refused with code 2 unless --create says so, or it is the default (it was a new deployment)", async () => {
    const home = temporaryFolder();
    const store = ["--store", `sqlite:${join(home, "snowlnae", "ids.db")}`];
    for (const command of [["next"], serve]) {
      const { code, stderr } = await runCli([...command, ...store]);
      expect([code, stderr]).toEqual([2, expect.stringMatching(/^snowlane: There is no folder .*give --create\.\n$/)]);
    }
    expect(readdirSync(home)).toEqual([]);
    expect((await runCli(["next", "--create", ...store])).code).toBe(0);
    expect((await runCli(["next", ...store])).code).toBe(0);
    const environment = { XDG_STATE_HOME: join(home, "state") };
    expect((await runCli(["next"], { environment })).code).toBe(0);
  });

  test.each([[""], ["state"]])(
    "in the home folder %j is refused with code 2 (it was another one in each working folder)",
    async (home) => {
      const environment = { HOME: home, XDG_STATE_HOME: "" };
      for (const command of [["next"], serve]) {
        const { code, stderr } = await runCli(command, { environment });
        expect([code, stderr]).toEqual([2, expect.stringMatching(/^snowlane: .*no home folder.*XDG_STATE_HOME.*\n$/)]);
      }
    },
  );

  test("of another program is left as it was", async () => {
    const path = foreignDatabase(join(temporaryFolder(), "ids.db"));
    const before = readFileSync(path);
    await runCli(["next", "--store", `sqlite:${path}`]);
    expect(readFileSync(path).equals(before)).toBe(true);
  });

  test("on a disk that takes no more: given up after ten seconds, with code 4", async () => {
    const path = join(temporaryFolder(), "ids.db");
    // A limit of 4 kB for each file, as a quota would set it; ignored is the signal that would end the process.
    const limited = ["sh", "-c", 'trap "" XFSZ; ulimit -f 8; exec "$@"', "sh", ...(await bundledSnowlane())];
    const { code, stderr } = await runCli(["next", "--store", `sqlite:${path}`], { program: limited });
    expect([code, stderr]).toEqual([4, expect.stringMatching(/cannot be used at the moment: .*\n$/)]);
  });
});

test("a store whose layout record is lost starts nothing, under any layout, and every command says so with code 4", async () => {
  const path = join(temporaryFolder(), "ids.db");
  const store = ["--store", `sqlite:${path}`];
  expect((await runCli(["next", ...store])).code).toBe(0);
  const database = new DatabaseSync(path);
  database.exec("DELETE FROM record WHERE key = 'layout'");
  database.close();
  const commands = [["next"], serve, ["next", "--layout", "sonyflake"], ["workers"], ["layouts"]];
  for (const command of commands) {
    const { code, stderr } = await runCli([...command, ...store]);
    expect([code, stderr]).toEqual([
      4,
      expect.stringMatching(/^snowlane: .*layout record is lost.*docs\/store-losses\.md.*\n$/),
    ]);
  }
  const doctor = await runCli(["doctor", ...store]);
  expect([doctor.code, doctor.stdout.toString()]).toEqual([4, expect.stringMatching(/fail +layout +.*record is lost/)]);
});

test("a store that does not answer is given up by next after ten seconds, with code 4", async () => {
  const { code, stderr } = await runCli(["next", "--store", "etcd://127.0.0.1:1"]);
  expect([code, stderr]).toEqual([4, expect.stringMatching(/^snowlane: The etcd store cannot be used: .*\n$/)]);
});

test("a worker ID that another process holds is refused with code 6, and the holder's name", async () => {
  const store = `sqlite:${join(temporaryFolder(), "ids.db")}`;
  const pinned = ["--store", store, "--datacenter-id", "3", "--worker-id", "7"];
  const server = await startSnowlane({ args: [...pinned, "--instance", "the-first"] });
  onTestFinished(() => void server.child.kill("SIGKILL"));
  const { code, stderr } = await runCli(["next", ...pinned]);
  expect([code, stderr]).toEqual([6, expect.stringMatching(/^snowlane: There is no free worker ID: .*the-first.*\n$/)]);
  expect(await server.stop("SIGTERM")).toBe(0);
});

describe("a worker ID whose lock another process takes, although nobody holds it,", () => {
  const pinned = ["next", "--datacenter-id", "3", "--worker-id", "7"];

  /** Takes the lock of the worker ID as a process that checks it does; returns a function that releases it. */
  async function locked(): Promise<{ readonly store: string; readonly letGo: () => void }> {
    const path = join(temporaryFolder(), "ids.db");
    const store = `sqlite:${path}`;
    expect((await runCli([...pinned, "--store", store])).code).toBe(0);
    const database = new DatabaseSync(join(`${path}.locks`, `default.worker-${3 * 32 + 7}.lock`));
    database.exec("BEGIN EXCLUSIVE");
    return { store, letGo: () => database.close() };
  }

  test("is waited for", async () => {
    const { store, letGo } = await locked();
    const started = runCli([...pinned, "--store", store]);
    await sleep(3_000);
    letGo();
    expect(await started).toMatchObject({ code: 0, stderr: "" });
  });

  test("is given up after ten seconds: the store is busy, code 4", async () => {
    const { store, letGo } = await locked();
    const { code, stderr } = await runCli([...pinned, "--store", store]);
    letGo();
    expect([code, stderr]).toEqual([4, expect.stringMatching(/^snowlane: The sqlite store is busy: .*\n$/)]);
  });
});

describe("a layout", () => {
  test("whose time has run out is refused with code 7, by a dry run as well", async () => {
    for (const more of [[], ["--dry-run"]]) {
      const { code, stdout, stderr } = await runCli([...serve, "--layout", "baidu", ...more]);
      expect([code, stdout.length, stderr]).toEqual([7, 0, expect.stringMatching(/ended at 2024-\S+ .*epoch.*\n$/)]);
    }
  });

  test("that nobody knows, or that nothing can be issued under, is refused with all else that is wrong", async () => {
    const unknown = await runCli([
      "serve",
      "--dry-run",
      "--layout",
      "nothing",
      "--listen",
      "0.0.0.0:1",
      "--burst",
      "1",
    ]);
    expect(unknown.code).toBe(2);
    expect(unknown.stderr).toMatch(/--burst/);
    expect(unknown.stderr).toMatch(/--layout.*twitter/);
    expect(unknown.stderr).toMatch(/--listen.*--auth/);
    const upside = ["--layout-fields", "sequence:12,timestamp:41,worker:10", "--epoch", "2020-01-01"];
    const { code, stderr } = await runCli(["serve", "--dry-run", ...upside]);
    expect([code, stderr]).toEqual([
      2,
      expect.stringMatching(/^snowlane: --layout-fields: .*above the timestamp.*\n$/),
    ]);
  });

  test("that differs from the store's is refused with code 5, and every field that differs", async () => {
    const store = ["--store", `sqlite:${join(temporaryFolder(), "ids.db")}`];
    expect((await runCli(["next", ...store])).code).toBe(0);
    const { code, stderr } = await runCli(["next", ...store, "--layout", "sonyflake"]);
    expect([code, stderr]).toEqual([
      5,
      expect.stringMatching(/epochMs is .*; tickNs is .*; fields is .*Another namespace.*can equal.*\n$/),
    ]);
  });
});

describe("callers", () => {
  test("whose file has faults end the start with code 2: a line a fault, and no token", async () => {
    const file = join(temporaryFolder(), "principals.json");
    const faulty = { name: "B", tokens: ["snw_hunter2"], permissions: ["root"], idsPerSecond: 0 };
    writeFileSync(file, JSON.stringify({ principals: [faulty, { ...faulty, name: "b" }] }));
    const { code, stderr } = await runCli([...serve, "--principals", file]);
    const places = ["name", "tokens[0]", "permissions[0]", "idsPerSecond"].map((key) => `principals[0].${key}`);
    const again = places.slice(1).map((place) => place.replace("[0]", "[1]"));
    const found = [...stderr.matchAll(/principals\[\d\]\S+(?= in )/g)].map(([place]) => place);
    expect([code, new Set(found)]).toEqual([2, new Set([...places, ...again])]);
    expect(stderr).not.toContain("hunter2");
    const absent = await runCli([...serve, "--principals", `${file}.none`]);
    expect([absent.code, absent.stderr]).toEqual([2, expect.stringMatching(/--principals .*ENOENT/)]);
  });

  test("whose file this user may not read end the start with code 2, and doctor too: a line that says so", async () => {
    const { path } = principalsFile([{ name: "app", permissions: ["ids"] }]);
    chmodSync(path, 0o000);
    const program = [...boundByModes, ...(await bundledSnowlane())];
    const { code, stderr } = await runCli([...serve, "--principals", path], { program });
    expect([code, stderr]).toEqual([
      2,
      expect.stringMatching(/^snowlane: --principals is ".*"\. Name a file that can be read: EACCES: .*\n$/),
    ]);
    const doctor = await runCli(["doctor", "--principals", path], { program });
    expect([doctor.code, doctor.stdout.toString()]).toEqual([2, expect.stringMatching(/fail +principals +.*EACCES/)]);
  });

  test("that contradict each other are refused with the admin listener's port and a receiver that is not a URL", async () => {
    const flags = ["--auth", "none", "--principals", "p.json", "--admin-listen", "127.0.0.1:7609"];
    const environment = { OTEL_EXPORTER_OTLP_ENDPOINT: "user:hunter2@collector" };
    const { code, stderr } = await runCli(["serve", "--log-level", "error", ...flags], { environment });
    expect(code).toBe(2);
    for (const place of ["--auth", "--admin-listen", "OTEL_EXPORTER_OTLP_ENDPOINT"]) expect(stderr).toContain(place);
    expect(stderr).not.toContain("hunter2");
  });
});
