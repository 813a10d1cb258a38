import { mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished } from "vitest";
import { createNodeClient } from "../../../clients/typescript/src/node.ts";
import { findFreePort } from "../processes/free-port.ts";
import { runCommand } from "../processes/run-command.ts";
import { type SnowlaneProcess, startSnowlane } from "../processes/snowlane-process.ts";

/** The programs of two builds. */
export interface Builds {
  readonly older: string;
  readonly present: string;
  /** Deletes the older one. */
  readonly remove: () => void;
}

/** Bundles this checkout, and the commit of test/release/previous.json: the older build, until there is a release. */
export async function makeBuilds(): Promise<Builds> {
  const { commit } = JSON.parse(readFileSync("test/release/previous.json", "utf8")) as { readonly commit: string };
  const folder = mkdtempSync(join(tmpdir(), "snowlane-previous-"));
  await runCommand("git", ["clone", "--quiet", "--no-hardlinks", ".", folder]);
  await runCommand("git", ["checkout", "--quiet", "--detach", commit], { cwd: folder });
  symlinkSync(resolve("node_modules"), join(folder, "node_modules"));
  await runCommand(process.execPath, ["tools/bundle.mjs"], { cwd: folder });
  await runCommand(process.execPath, ["tools/bootstrap.mjs"]);
  return {
    older: join(folder, "dist/main.js"),
    present: resolve("dist/main.js"),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

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

  /** Waits until that many more IDs have come. */
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

/**
 * Rolls two servers of the older build to the present one and back, under load: one after the other is stopped in order
 * and started again as the other build. Expects that no ID comes twice and that no call fails.
 */
export async function rollThereAndBack(storeUrl: string, { older, present }: Builds): Promise<void> {
  const addresses = [`127.0.0.1:${await findFreePort()}`, `127.0.0.1:${await findFreePort()}`];
  const serve = async (slot: number, main: string): Promise<SnowlaneProcess> => {
    const args = ["--store", storeUrl, "--instance", `server-${slot}`];
    const server = await startSnowlane({ args, listen: addresses[slot]!, program: [process.execPath, main] });
    onTestFinished(() => void server.child.kill("SIGKILL"));
    return server;
  };
  const servers = [await serve(0, older), await serve(1, older)];
  const load = new Load(addresses.map((address) => `http://${address}`));
  await load.more(500);
  for (const [slot, main] of [
    [0, present],
    [1, present],
    [0, older],
    [1, older],
  ] as const) {
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
}
