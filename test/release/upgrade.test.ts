import { mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { createNodeClient } from "../../clients/typescript/src/node.ts";
import { findFreePort } from "../support/processes/free-port.ts";
import { runCommand } from "../support/processes/run-command.ts";
import { temporaryFolder } from "../support/processes/running-server.ts";
import { type SnowlaneProcess, startSnowlane } from "../support/processes/snowlane-process.ts";
import { remoteStoreKinds } from "../support/servers/remote-stores.ts";

/**
 * A rolling upgrade, and the way back: two servers share a store under load, and one after the other is stopped in
 * order and started again as the other build. The older build is the commit of previous.json, until there is a release.
 */
const { commit } = JSON.parse(readFileSync("test/release/previous.json", "utf8")) as { readonly commit: string };
const folder = mkdtempSync(join(tmpdir(), "snowlane-previous-"));
const older = join(folder, "dist/main.js");
const present = resolve("dist/main.js");

beforeAll(async () => {
  await runCommand("git", ["clone", "--quiet", "--no-hardlinks", ".", folder]);
  await runCommand("git", ["checkout", "--quiet", "--detach", commit], { cwd: folder });
  symlinkSync(resolve("node_modules"), join(folder, "node_modules"));
  await runCommand(process.execPath, ["tools/bundle.mjs"], { cwd: folder });
  await runCommand(process.execPath, ["tools/bootstrap.mjs"]);
}, 900_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Servers one and two, in the order in which they are replaced, each with its next build. */
const steps = [
  [0, present],
  [1, present],
  [0, older],
  [1, older],
] as const;
const callers = 8;
/** Rule 4 of docs/internals/client-contract.md, and the pause before an attempt. */
const clientBackoffMaxMs = 5_100;

/** Calls a deployment without a pause until it is told to stop. */
class Load {
  readonly ids: bigint[] = [];
  readonly failures: string[] = [];
  readonly #client;
  readonly #work: Promise<unknown>;
  #isOver = false;

  constructor(endpoints: readonly string[]) {
    // A call may try again for as long as a server takes to start on a busy machine.
    this.#client = createNodeClient({ endpoints: [...endpoints], timeoutMs: 60_000 });
    this.#work = Promise.all(Array.from({ length: callers }, () => this.#call()));
  }

  async #call(): Promise<void> {
    while (!this.#isOver) {
      try {
        this.ids.push(...(await this.#client.nextIds(3)));
      } catch (error) {
        this.failures.push(String(error));
      }
    }
  }

  /** Waits until so many more IDs have come. */
  async more(count: number): Promise<void> {
    const enough = this.ids.length + count;
    await expect.poll(() => this.ids.length >= enough || this.failures.length > 0, { timeout: 60_000 }).toBe(true);
  }

  async end(): Promise<void> {
    this.#isOver = true;
    await this.#work;
    this.#client.close();
  }
}

const stores = [
  {
    kind: "sqlite",
    start: async () => ({ url: `sqlite:${join(temporaryFolder(), "ids.db")}`, stop: async () => {} }),
  },
  ...remoteStoreKinds,
];

test.each(stores)(
  "two servers roll from the last build to this one and back under load on $kind: no ID twice, and no call fails",
  { timeout: 900_000 },
  async ({ start }) => {
    const store = await start();
    onTestFinished(() => store.stop());
    const addresses = [`127.0.0.1:${await findFreePort()}`, `127.0.0.1:${await findFreePort()}`];
    const serve = async (slot: number, main: string): Promise<SnowlaneProcess> => {
      const args = ["--store", store.url, "--instance", `server-${slot}`];
      const server = await startSnowlane({ args, listen: addresses[slot]!, program: [process.execPath, main] });
      onTestFinished(() => void server.child.kill("SIGKILL"));
      return server;
    };
    const servers = [await serve(0, older), await serve(1, older)];
    const load = new Load(addresses.map((address) => `http://${address}`));
    await load.more(500);
    for (const [slot, main] of steps) {
      expect(await servers[slot]!.stop("SIGTERM")).toBe(0);
      await load.more(200);
      servers[slot] = await serve(slot, main);
      // Nothing shows that a client would ask this server again: its back-off of up to 5 s has to be over.
      await sleep(clientBackoffMaxMs);
      await load.more(200);
    }
    await load.end();
    for (const server of servers) await server.stop("SIGTERM");
    expect(load.failures).toEqual([]);
    expect(load.ids.length).toBeGreaterThan(2_000);
    expect(load.ids.length - new Set(load.ids).size).toBe(0);
  },
);
