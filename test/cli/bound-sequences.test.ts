/** The tie of a deployment to the database of its sequences, by the commands and servers of an operator. */
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { temporaryFolder } from "../support/processes/running-server.ts";
import { startSnowlane } from "../support/processes/snowlane-process.ts";
import { runSnowlane } from "../text/run-snowlane.ts";

/** URLs of stores in one folder. */
function newStores() {
  const folder = temporaryFolder();
  return (name: string): string => `sqlite:${join(folder, name)}`;
}

async function serve(...args: readonly string[]) {
  const server = await startSnowlane({ args: [...args] });
  onTestFinished(() => void server.child.kill("SIGKILL"));
  return server;
}

/** Calls SequenceService. */
async function call(url: string, method: string, body: object): Promise<Readonly<Record<string, unknown>>> {
  const response = await fetch(`${url}/snowlane.v1.SequenceService/${method}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(20_000),
  });
  return (await response.json()) as Readonly<Record<string, unknown>>;
}

/** Makes the sequence `orders`: on a busy machine the first call may end before the file is there. */
const create = (url: string) =>
  expect.poll(() => call(url, "CreateSequence", { sequence: { name: "orders" } })).toHaveProperty("sequence");

test("a namespace that moves leaves its sequences where they are, and a server that would begin them again does not start", async () => {
  const url = newStores();
  const [a, b] = [url("a.db"), url("b.db")];
  const first = await serve("--store", a);
  await create(first.url);
  await expect.poll(() => call(first.url, "NextValue", { name: "orders" })).toMatchObject({ value: "1" });
  expect(await first.stop("SIGTERM")).toBe(0);
  const copied = await runSnowlane(["store", "copy", "--from", a, "--to", b]);
  expect(copied).toMatchObject({ exitCode: 0, stdout: expect.stringContaining(`The sequences stay in ${a}.`) });
  const again = await runSnowlane(["serve", "--listen", "127.0.0.1:0", "--store", b]);
  expect(again.exitCode).toBe(2);
  expect(again.stderr).toContain(`This deployment keeps its sequences in ${a} since `);
  expect(again.stderr).toContain(`Another database is named: ${b} `);
  const refused = await runSnowlane(["sequences", "create", "orders", "--store", b]);
  expect([refused.exitCode, refused.stderr]).toEqual([2, expect.stringContaining(`keeps its sequences in ${a} since`)]);
  const doctor = await runSnowlane(["doctor", "--store", b]);
  expect(doctor.stdout).toContain(`keeps its sequences in ${a} since`);
  const second = await serve("--store", b, "--sequence-stores", a);
  await expect.poll(() => call(second.url, "NextValue", { name: "orders" })).toMatchObject({ value: "2" });
});

test("two servers of one deployment with two databases of sequences never both give values", async () => {
  const url = newStores();
  const [store, other] = [url("a.db"), url("other.db")];
  const first = await serve("--store", store, "--datacenter-id", "0", "--worker-id", "1");
  // The deployment has not noted a database yet: the second server starts, and the first one that takes is noted.
  const second = await serve("--store", store, "--datacenter-id", "0", "--worker-id", "2");
  await create(second.url);
  await expect
    .poll(() => call(first.url, "NextValue", { name: "orders" }))
    .toMatchObject({ value: expect.any(String) });
  const third = await runSnowlane(["serve", "--listen", "127.0.0.1:0", "--store", store, "--sequence-stores", other]);
  expect([third.exitCode, third.stderr]).toEqual([2, expect.stringContaining(`Another database is named: ${other} `)]);
});

test("databases that do not fit together end the start of a server, with the sentence that names them", async () => {
  const url = newStores();
  const [store, a, b, c] = [url("ids.db"), url("a.db"), url("b.db"), url("c.db")];
  const first = await serve("--store", store, "--sequence-stores", `${a} ${b}`);
  await create(first.url);
  expect(await first.stop("SIGTERM")).toBe(0);
  for (const stores of [`${a} ${b} ${c}`, `${a} ${c}`]) {
    const refused = await runSnowlane([
      "serve",
      "--listen",
      "127.0.0.1:0",
      "--store",
      store,
      "--sequence-stores",
      stores,
    ]);
    expect([refused.exitCode, refused.stderr]).toEqual([2, expect.stringContaining("do not fit together")]);
  }
  const twice = await runSnowlane([
    "serve",
    "--listen",
    "127.0.0.1:0",
    "--store",
    store,
    "--sequence-stores",
    `${a} ${a}`,
  ]);
  expect([twice.exitCode, twice.stderr]).toEqual([2, expect.stringContaining("that all differ")]);
  const turned = await serve("--store", store, "--sequence-stores", `${b} ${a}`);
  await expect
    .poll(() => call(turned.url, "NextValue", { name: "orders" }))
    .toMatchObject({ value: expect.any(String) });
});
