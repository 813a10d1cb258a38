import { once } from "node:events";
import { createServer } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { type CliOutcome, runCli } from "../support/processes/cli-outcome.ts";
import { startSnowlane } from "../support/processes/snowlane-process.ts";
import { temporaryFolder } from "../support/processes/running-server.ts";

const run = (
  args: readonly string[],
  input = "",
  environment: Readonly<Record<string, string>> = {},
): Promise<CliOutcome> => runCli(args, { input, environment });

test("next prints IDs in each format, all rising", async () => {
  const lines = await run(["next", "-n", "5000"]);
  const ids = lines.stdout.toString().trimEnd().split("\n").map(BigInt);
  expect([lines.code, lines.stderr, ids.length]).toEqual([0, "", 5000]);
  expect(ids.every((id, index) => index === 0 || id > ids[index - 1]!)).toBe(true);
  const binary = await run(["next", "-n", "3", "--format", "binary"]);
  const read = [0, 8, 16].map((offset) => binary.stdout.readBigUInt64BE(offset));
  expect([binary.stdout.length, read[0]! < read[1]! && read[1]! < read[2]!]).toEqual([24, true]);
  const csv = (await run(["next", "--format", "csv"])).stdout.toString();
  expect(csv).toMatch(/^id,create_time,datacenter_id,worker_id,sequence\n\d+,20\S+Z,\d+,\d+,\d+\n$/);
});

test("parse reads a published tweet's ID, and what it cannot read it says", async () => {
  const table = await run(["parse", "1541815603606036480"]);
  expect(table.stdout.toString()).toMatch(/time\s+2022-06-28T16:07:40\.105Z/);
  const { code, stdout, stderr } = await run(
    ["parse", "--json"],
    "1541815603606036480\n!\n\n-1\n18446744073709551616\n",
  );
  expect(code).toBe(1);
  expect(JSON.parse(stdout.toString())).toMatchObject({ id: "1541815603606036480", workerId: 26, datacenterId: 11 });
  expect(stderr.trimEnd().split("\n")).toHaveLength(3);
  const both = await run(["parse", "!", "1541815603606036480", "1541815603606036480"]);
  expect(both.stdout.toString()).toBe(`${table.stdout.toString()}\n${table.stdout.toString()}`);
});

test("range and layouts answer, for programs too", async () => {
  const interval = ["--from", "2026-01-01", "--to", "2026-02-01"];
  expect((await run(["range", ...interval])).stdout.toString()).toBe(
    "first  2006515713438646272\nlast   2017749737272246271\n",
  );
  const reversed = await run(["range", "--from", "2026-02-01", "--to", "2026-01-01"]);
  expect([reversed.code, reversed.stderr]).toEqual([1, expect.stringContaining("empty or reversed")]);
  const layouts = (await run(["layouts", "--json"])).stdout.toString().trimEnd().split("\n");
  expect(layouts.map((line) => JSON.parse(line).name)).toContain("sonyflake");
});

test("every command has its help, and unknown words end with code 2", async () => {
  for (const name of ["serve", "next", "parse", "range", "layouts", "health"]) {
    const { code, stdout } = await run([name, "--help"]);
    expect([code, stdout.toString()]).toEqual([0, expect.stringContaining(`Usage: snowlane ${name}`)]);
  }
  for (const args of [[], ["nothing"], ["next", "--nothing"], ["next", "-n", "0"], ["range"], ["layouts", "x"]]) {
    expect((await run(args)).code, args.join(" ")).toBe(2);
  }
});

test("serve ends with a code and a hint where it cannot start", async () => {
  const taken = createServer().listen(0, "127.0.0.1");
  await once(taken, "listening");
  onTestFinished(() => void taken.close());
  const { port } = taken.address() as { readonly port: number };
  const inUse = await run(["serve", "--listen", `127.0.0.1:${port}`]);
  expect([inUse.code, inUse.stderr]).toEqual([3, expect.stringContaining("is in use")]);
  const store = ["--store", `sqlite:${join(temporaryFolder(), "ids.db")}`];
  const admin = await run(["serve", "--listen", "127.0.0.1:0", "--admin-listen", `127.0.0.1:${port}`, ...store]);
  expect([admin.code, admin.stderr]).toEqual([
    3,
    `snowlane: The address 127.0.0.1:${port} is in use. Stop the program that listens there, or choose another address with --admin-listen.\n`,
  ]);
  const everyone = ["--auth", "none", "--store", `sqlite:${join(temporaryFolder(), "ids.db")}`];
  // A link's own address without the name of the link; a machine without IPv6 has other words for it.
  const ofLink = await run(["serve", "--listen", "[fe80::1]:7609", ...everyone]);
  expect([ofLink.code, ofLink.stderr]).toEqual([
    3,
    expect.stringMatching(/^snowlane: The address \[fe80::1\]:7609 .*\n$/),
  ]);
  const open = await run(["serve", "--listen", "0.0.0.0:0", "--auth", "none"]);
  expect([open.code, open.stderr]).toEqual([2, expect.stringContaining("--store")]);
  const pod = await run(["serve", "--listen", "127.0.0.1:0"], "", { KUBERNETES_SERVICE_HOST: "10.0.0.1" });
  expect([pod.code, pod.stderr]).toEqual([2, expect.stringContaining("pod")]);
  const over = await run(["serve", "--listen", "127.0.0.1:0", "--layout", "baidu"]);
  expect(over.code).not.toBe(0);
  expect(over.stderr).toMatch(/2024-11-20|epoch/);
});

test("another layout than the store's is refused, and a second process takes another worker ID", async () => {
  const store = `sqlite:${join(temporaryFolder(), "ids.db")}`;
  const first = await startSnowlane({ args: ["--store", store] });
  onTestFinished(() => void first.child.kill("SIGKILL"));
  const second = await startSnowlane({ args: ["--store", store] });
  onTestFinished(() => void second.child.kill("SIGKILL"));
  const holder = ({ log }: typeof first) => {
    const { datacenterId, workerId } = log.find(({ message }) => message === "Serves IDs") ?? {};
    return [datacenterId, workerId];
  };
  expect(holder(first)).not.toEqual(holder(second));
  expect((await run(["next", "--store", store, "--layout", "discord"])).code).toBe(5);
  expect(await Promise.all([first.stop("SIGTERM"), second.stop("SIGINT")])).toEqual([0, 0]);
});

test("kill -9 and a restart repeat no ID", async () => {
  const store = `sqlite:${join(temporaryFolder(), "ids.db")}`;
  const seen = new Set<string>();
  for (let round = 0; round < 3; round++) {
    const server = await startSnowlane({ args: ["--store", store] });
    onTestFinished(() => void server.child.kill("SIGKILL"));
    const { stdout } = await run(["next", "-n", "20000", "--server", server.url]);
    for (const id of stdout.toString().trimEnd().split("\n")) seen.add(id);
    expect(await server.stop("SIGKILL")).toBe("SIGKILL");
  }
  expect(seen.size).toBe(60_000);
});

test("layouts shows what a store was started with, and how many of its worker IDs are free", async () => {
  const store = ["--store", `sqlite:${join(temporaryFolder(), "ids.db")}`];
  const unknown = await run(["layouts", ...store]);
  expect([unknown.code, unknown.stderr]).toEqual([4, expect.stringMatching(/^snowlane: No server was ever started/)]);
  const server = await startSnowlane({ args: [...store, "--layout", "javascript"] });
  onTestFinished(() => void server.child.kill("SIGKILL"));
  const { stdout } = await run(["layouts", ...store, "--json"]);
  expect(JSON.parse(stdout.toString())).toMatchObject({ name: "javascript", workerIds: 64, workerIdsFree: 63 });
  expect((await run(["layouts", ...store])).stdout.toString()).toMatch(/worker IDs {2}free .*\njavascript .* 64 +63 /);
  expect(await server.stop("SIGTERM")).toBe(0);
  const own = [
    ...store,
    "--namespace",
    "own",
    "--layout-fields",
    "timestamp:42,worker:3,sequence:8",
    "--epoch",
    "2026-01-01",
  ];
  expect((await run(["next", ...own])).code).toBe(0);
  const custom = await run(["layouts", ...store, "--namespace", "own", "--json"]);
  expect(JSON.parse(custom.stdout.toString())).toMatchObject({ name: "custom", workerIds: 8, workerIdsFree: 8 });
});
