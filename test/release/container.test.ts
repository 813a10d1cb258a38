import { spawn } from "node:child_process";
import { once } from "node:events";
import { globSync, lstatSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join, relative } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ownVersion } from "../../tools/versions.ts";
import { confinedProgram, makeVolume } from "../support/containers/confined-program.ts";
import { ImageBuilder, type ServerImage } from "../support/containers/image-builder.ts";
import { findFreePort } from "../support/processes/free-port.ts";
import { blocksOf } from "../support/processes/page-blocks.ts";
import { runCommand } from "../support/processes/run-command.ts";
import { startSnowlane } from "../support/processes/snowlane-process.ts";

/** The image, built from deploy/container/Dockerfile on a base of Debian's packages and the pinned Node, and run. */
let builder: ImageBuilder;
let image: ServerImage;

beforeAll(async () => {
  builder = await ImageBuilder.start();
  image = await builder.buildServer();
}, 1_200_000);
afterAll(() => builder?.remove());

/** Files of a container, with the time of their last change. */
function filesOf(root: string): ReadonlyMap<string, number> {
  const entries = readdirSync(root, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return new Map(
    entries.map((entry) => {
      const path = join(entry.parentPath, entry.name);
      return [relative(root, path), statSync(path).mtimeMs];
    }),
  );
}

/** What the kernel lets a process do: as whom, and with which capabilities, each a mask in hex. */
function rightsOf(processId: number): Readonly<Record<string, string>> {
  const status = readFileSync(`/proc/${processId}/status`, "utf8");
  return Object.fromEntries(
    [...status.matchAll(/^(Uid|Gid|NoNewPrivs|Cap\w+):\t(.*)$/gm)].map(([, key, value]) => [key, value]),
  );
}
const user = "10001\t10001\t10001\t10001";
const noCapability = "0".repeat(16);

/** The program of a container that `buildah run` has started: the process among its children that runs Node. */
function nodeBelow(parent: number): number | undefined {
  const children = globSync(`/proc/${parent}/task/*/children`).flatMap((path) => {
    try {
      return readFileSync(path, "utf8").trim().split(" ").filter(Boolean).map(Number);
    } catch {
      return [];
    }
  });
  for (const child of children) {
    if (readFileSync(`/proc/${child}/cmdline`, "utf8").split("\0")[0]!.endsWith("node")) return child;
    const found = nodeBelow(child);
    if (found !== undefined) return found;
  }
  return undefined;
}

test("it says what to run, as whom, and how to ask whether it serves", () => {
  const { config } = image;
  expect(config).toMatchObject({
    User: "10001:10001",
    Entrypoint: ["node", "--disable-sigusr1", "--max-semi-space-size=2", "/opt/package/dist/main.js"],
    Cmd: ["serve"],
    Healthcheck: { Test: ["CMD", "node", "/opt/package/dist/main.js", "health"] },
    StopSignal: "SIGTERM",
  });
  expect(Object.keys(config.ExposedPorts)).toEqual(["7609/tcp"]);
  expect(config.Labels).toMatchObject({
    "org.opencontainers.image.version": ownVersion(),
    "org.opencontainers.image.licenses": "Apache-2.0",
  });
});

test("it has at most 160 MB with Node, and the notices of what it contains", () => {
  const { root } = image;
  const sizes = [...filesOf(root).keys()].map((path) => statSync(join(root, path)).size);
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(160_000_000);
  for (const file of ["LICENSE", "THIRD_PARTY_NOTICES"])
    expect(statSync(join(root, "opt/package", file)).size).toBeGreaterThan(1_000);
  expect(readFileSync(join(root, "opt/package/THIRD_PARTY_NOTICES"), "utf8")).toContain("pg 8.");
});

test("its user may change only its state, and no program in it has the rights of another user", () => {
  const { root, config } = image;
  const [userId, groupId] = config.User.split(":").map(Number);
  const entries = readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isSymbolicLink())
    .map((entry) => join(entry.parentPath, entry.name));
  const changeable = entries.filter((path) => {
    const { mode, uid, gid } = lstatSync(path);
    return (
      (mode & 0o002) !== 0 || (uid === userId && (mode & 0o200) !== 0) || (gid === groupId && (mode & 0o020) !== 0)
    );
  });
  const own = changeable.map((path) => relative(root, path));
  expect(own.toSorted()).toEqual(["tmp", "var/lib/snowlane", "var/lib/snowlane/README"]);
  expect(entries.filter((path) => (lstatSync(path).mode & 0o6000) !== 0)).toEqual([]);
});

test("it serves as user 10001 without a capability, is healthy, writes only its state, and ends in order", async () => {
  const { config, name } = image;
  const container = await builder.buildah("from", name);
  const root = await builder.buildah("mount", container);
  const before = filesOf(root);
  const address = `127.0.0.1:${await findFreePort()}`;
  const environment = ["--env", `SNOWLANE_LISTEN=${address}`, "--env", "SNOWLANE_LOG_FORMAT=json"];
  const command = [...config.Entrypoint, ...config.Cmd];
  const run = (...args: readonly string[]): readonly string[] =>
    builder.args("run", "--isolation", "chroot", "--cap-drop", "ALL", ...environment, container, "--", ...args);
  const engine = spawn("buildah", run(...command), { stdio: ["ignore", "ignore", "pipe"] });
  const log: string[] = [];
  const ended = once(engine, "exit");
  const serves = new Promise<void>((resolve, reject) => {
    createInterface({ input: engine.stderr }).on("line", (line) => {
      log.push(line);
      if (line.includes('"Serves IDs"')) resolve();
    });
    void ended.then(() => reject(new Error(log.join("\n"))));
  });
  await serves;
  const call = ["-sf", "-d", "{}", "-H", "content-type: application/json"];
  const answer = await runCommand("curl", [...call, `http://${address}/snowlane.v1.IdService/NextId`]);
  expect(JSON.parse(answer)).toEqual({ id: expect.stringMatching(/^\d{18,19}$/), deployment: expect.any(Number) });
  const [, ...probe] = config.Healthcheck.Test;
  const health = await runCommand("buildah", run(...probe, "--server", `http://${address}`));
  expect(health).toBe("SERVING\n");
  const node = nodeBelow(engine.pid!)!;
  const none = { CapPrm: noCapability, CapEff: noCapability, CapAmb: noCapability };
  expect(rightsOf(node)).toMatchObject({ Uid: user, Gid: user, ...none });
  process.kill(node, "SIGTERM");
  expect(await ended).toEqual([0, null]);
  expect(log.join("\n")).toMatch(/"message":"(Stopped|Stops)/);
  const after = filesOf(root);
  const written = [...after].filter(([path, timeMs]) => before.get(path) !== timeMs).map(([path]) => path);
  expect(written.length).toBeGreaterThan(0);
  // The engine itself writes these.
  const own = written.filter((path) => !["etc/hostname", "etc/hosts", "etc/resolv.conf"].includes(path));
  expect(own.filter((path) => !path.startsWith("var/lib/snowlane/"))).toEqual([]);
});

test("it serves with a read-only root, and writes only into the volume of its state", async () => {
  const { root, config } = image;
  const volume = makeVolume(join(builder.folder, "volume"), config);
  const before = filesOf(root);
  const server = await startSnowlane({ program: confinedProgram({ ...image, volume }), args: [] });
  const post = { method: "POST", headers: { "content-type": "application/json" }, body: "{}" };
  const answer = await fetch(`${server.url}/snowlane.v1.IdService/NextId`, post);
  expect(await answer.json()).toEqual({ id: expect.stringMatching(/^\d{18,19}$/), deployment: expect.any(Number) });
  const none = { CapPrm: noCapability, CapEff: noCapability, NoNewPrivs: "1" };
  expect(rightsOf(server.child.pid!)).toMatchObject({ Uid: user, Gid: user, ...none });
  const [command, ...args] = [...confinedProgram(image), "health", "--server", server.url];
  expect(await runCommand(command, args)).toBe("SERVING\n");
  expect(await server.stop("SIGTERM")).toBe(0);
  expect([...filesOf(volume).keys()]).toContain("snowlane.db");
  expect(filesOf(root)).toEqual(before);
});

test("the line of docs/deploying.md runs it, and gives an ID to everybody on this machine", async () => {
  const line = blocksOf("docs/deploying.md", "sh").find((block) => block.startsWith("docker run ")) ?? "";
  const words = line.replaceAll("\\\n", " ").trim().split(/\s+/);
  const valuesOf = (flag: string): readonly string[] =>
    words.flatMap((word, at) => (word === flag ? words[at + 1]! : []));
  expect(image.name).toBe(`localhost/${words.at(-1)}`);
  const environment = Object.fromEntries(valuesOf("-e").map((text) => text.split("=")));
  const { SNOWLANE_LISTEN: listen = "", ...settings } = environment as Readonly<Record<string, string>>;
  const [mount = ""] = valuesOf("-v");
  expect(mount.split(":")[1]).toBe("/var/lib/snowlane");
  const [published = ""] = valuesOf("-p");
  // The published port leads to the one that the server listens on.
  expect(listen).toBe(`0.0.0.0:${published.split(":").at(-1)}`);
  // Every flag is one that confinedProgram stands for, or is read above.
  const flags = words.filter((word) => word.startsWith("-"));
  expect([...new Set(flags)]).toEqual(["--rm", "--read-only", "--cap-drop", "--security-opt", "-v", "-e", "-p"]);
  expect([...valuesOf("--cap-drop"), ...valuesOf("--security-opt")]).toEqual(["ALL", "no-new-privileges"]);
  const volume = makeVolume(join(builder.folder, "run-volume"), image.config);
  const program = confinedProgram({ ...image, volume, environment: settings });
  const server = await startSnowlane({ program, args: [], listen: `0.0.0.0:${await findFreePort()}` });
  const post = { method: "POST", headers: { "content-type": "application/json" }, body: "{}" };
  const port = server.address.split(":").at(-1);
  const answer = await fetch(`http://127.0.0.1:${port}/snowlane.v1.IdService/NextId`, post);
  expect(await answer.json()).toEqual({ id: expect.stringMatching(/^\d{18,19}$/), deployment: expect.any(Number) });
  expect(await server.stop("SIGINT")).toBe(0);
});

test.each([
  ["with a read-only root and no volume", 4, {}, /^snowlane: .*\/var\/lib\/snowlane/],
  [
    "for a user without a home, where nothing names a folder",
    2,
    { Env: ["PATH=/usr/local/bin:/usr/sbin"] },
    /^snowlane: .*Set XDG_STATE_HOME/,
  ],
])("it refuses to start %s, in one line", async (_name, exitCode, change, message) => {
  const config = { ...image.config, ...change };
  const [command, ...args] = confinedProgram({ ...image, config });
  const engine = spawn(command!, [...args, ...config.Cmd], { stdio: ["ignore", "ignore", "pipe"] });
  const errors: string[] = [];
  createInterface({ input: engine.stderr }).on("line", (line) => errors.push(line));
  const [code] = (await once(engine, "close")) as [number];
  // A busy machine has the server warn that it did not run for a while.
  const said = errors.filter((line) => line.startsWith("snowlane: "));
  expect([code, said]).toEqual([exitCode, [expect.stringMatching(message)]]);
});

test.each([
  ["without a folder that it may write", ["--user", "10002"], [], /\/var\/lib\/snowlane/],
  [
    "for everybody who reaches it, said by nobody",
    [],
    ["--listen", "0.0.0.0:0", "--store", "sqlite:/var/lib/snowlane/a.db"],
    /--auth/,
  ],
])("it refuses to start %s, in one line", async (_name, flags, args, message) => {
  const { config, name } = image;
  const container = await builder.buildah("from", name);
  const command = [...config.Entrypoint, ...config.Cmd, ...args];
  const call = builder.args("run", "--isolation", "chroot", ...flags, container, "--", ...command);
  const engine = spawn("buildah", call, { stdio: ["ignore", "ignore", "pipe"] });
  const errors: string[] = [];
  createInterface({ input: engine.stderr }).on("line", (line) => errors.push(line));
  const [code] = (await once(engine, "close")) as [number];
  expect(code).not.toBe(0);
  // The engine adds lines of its own.
  const said = errors.filter((line) => line.startsWith("snowlane: "));
  expect(said).toHaveLength(1);
  expect(said[0]).toMatch(message);
});
