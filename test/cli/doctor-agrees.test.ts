/**
 * `doctor` says of a set-up what `serve` does with it: one table, on which both are run. Only `serve` has a process of
 * its own, because a start of Node costs more than all else here.
 */
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { type Certificates, makeCertificates } from "../support/processes/certificates.ts";
import { runCli } from "../support/processes/cli-outcome.ts";
import { runServer, temporaryFolder } from "../support/processes/running-server.ts";
import { startSnowlane } from "../support/processes/snowlane-process.ts";
import { runInProcess } from "./in-process.ts";

let certificates: Certificates;
beforeAll(async () => {
  certificates = await makeCertificates();
});
afterAll(() => certificates.remove());

const storeIn = (folder: string): string => `sqlite:${join(folder, "ids.db")}`;

/** A store on which a process has run under the defaults, and its folder. */
async function usedStore(): Promise<string> {
  const store = storeIn(temporaryFolder());
  expect((await runInProcess(["next", "--store", store])).code).toBe(0);
  return store;
}

async function takenPort(): Promise<string> {
  const other = createServer((socket) => socket.destroy()).listen(0, "127.0.0.1");
  await once(other, "listening");
  onTestFinished(() => void other.close());
  return `127.0.0.1:${(other.address() as { readonly port: number }).port}`;
}

/** Makes the set-up, and gives its flags. `--listen` is a free port of loopback where they do not say. */
type SetUp = () => Promise<readonly string[]> | readonly string[];

const onNewStore =
  (...flags: readonly string[]): SetUp =>
  () => ["--store", storeIn(temporaryFolder()), ...flags];
const onUsedStore =
  (...flags: readonly string[]): SetUp =>
  async () => ["--store", await usedStore(), ...flags];

const wrong: readonly (readonly [string, number, SetUp])[] = [
  ["a renewal that a new store's window is too short for", 2, onNewStore("--renewal-period", "8s")],
  ["a renewal that a used store's window is too short for", 2, onUsedStore("--renewal-period", "8s")],
  ["the same in a namespace that is new", 2, onUsedStore("--namespace", "other", "--renewal-period", "8s")],
  ["a longest window below a new store's", 2, onNewStore("--window-max", "5s")],
  ["a longest window that the store was not started with", 5, onUsedStore("--window-max", "20s")],
  ["another layout than the store's", 5, onUsedStore("--layout", "discord")],
  ["datacenters that the store is not bound to", 5, onUsedStore("--datacenter-ids", "0-3")],
  ["a layout whose time has run out", 7, onNewStore("--layout", "baidu")],
  ["a setting that does not exist", 2, onNewStore("--layuot", "twitter")],
  [
    "a store whose namespace was moved away",
    2,
    async () => {
      const store = await usedStore();
      const moved = await runInProcess(["store", "copy", "--from", store, "--to", storeIn(temporaryFolder())]);
      expect(moved.code).toBe(0);
      return ["--store", store];
    },
  ],
  [
    "a store that is a folder",
    4,
    () => {
      const folder = temporaryFolder();
      mkdirSync(join(folder, "ids.db"));
      return ["--store", storeIn(folder)];
    },
  ],
  [
    "a store that is not a database",
    4,
    () => {
      const folder = temporaryFolder();
      writeFileSync(join(folder, "ids.db"), "no database ".repeat(1_000));
      return ["--store", storeIn(folder)];
    },
  ],
  ["a store in a folder that is not there", 2, () => ["--store", storeIn(join(temporaryFolder(), "none"))]],
  ["a store where no file can be made", 4, () => ["--store", "sqlite:/proc/ids.db"]],
  ["an address that another program has", 3, async () => [...(await onNewStore()()), "--listen", await takenPort()]],
  [
    "an address that another Snowlane serves on",
    3,
    async () => [...(await onNewStore()()), "--listen", (await runServer()).address],
  ],
  ["an address of another machine", 3, onUsedStore("--listen", "192.0.2.1:7609", "--auth", "none")],
  ["an address without its --auth", 2, onUsedStore("--listen", "0.0.0.0:0")],
  ["a certificate that is not there", 2, onNewStore("--tls-cert", "/none.pem", "--tls-key", "/none.pem")],
  [
    "authorities that hold no certificate",
    2,
    () => {
      const { certFile, keyFile } = certificates.server;
      return onNewStore("--tls-cert", certFile, "--tls-key", keyFile, "--tls-client-ca", keyFile)();
    },
  ],
  ["a malformed file of principals", 2, onNewStore("--principals", "README.md")],
  ["an issue log in a folder that is not there", 2, onNewStore("--issue-log", "/none/issue.log")],
];

test.each(wrong)("%s: doctor and serve end with code %i", async (_case, code, setUp) => {
  const given = await setUp();
  const flags = given.includes("--listen") ? given : [...given, "--listen", "127.0.0.1:0"];
  const doctor = await runInProcess(["doctor", ...flags]);
  const serve = await runCli(["serve", "--log-level", "error", ...flags]);
  expect([doctor.code, serve.code], `${doctor.stdout}${doctor.stderr}${serve.stderr}`).toEqual([code, code]);
  expect(serve.stderr).toMatch(/^snowlane: [^\n]+\n$/);
});

test.each<readonly [string, SetUp]>([
  ["a new store", onNewStore()],
  ["a used store", onUsedStore()],
  ["a store in a folder that --create makes", () => ["--create", "--store", storeIn(join(temporaryFolder(), "none"))]],
  ["a new namespace of a used store", onUsedStore("--namespace", "other")],
  ["a renewal that fits its window", onNewStore("--window", "20s", "--renewal-period", "8s")],
])("%s: doctor finds nothing wrong, and serve serves", async (_case, setUp) => {
  const flags = await setUp();
  const doctor = await runInProcess(["doctor", "--listen", "127.0.0.1:0", ...flags]);
  expect(doctor.code, doctor.stdout).toBe(0);
  const server = await startSnowlane({ args: flags });
  onTestFinished(() => void server.child.kill("SIGKILL"));
  expect(await server.stop("SIGTERM")).toBe(0);
});

test("an address that servers share: doctor with --reuse-port finds it free", async () => {
  const { address } = await runServer({ reusePort: "true", instance: "one" });
  const flags = ["--store", storeIn(temporaryFolder()), "--listen", address];
  expect((await runInProcess(["doctor", ...flags, "--reuse-port", "--instance", "two"])).code).toBe(0);
  expect((await runInProcess(["doctor", ...flags])).code).toBe(3);
});
