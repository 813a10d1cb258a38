/** Servers that start while their worker store is away, with sequences in a database that answers. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { temporaryFolder } from "../support/processes/running-server.ts";
import { startSnowlane } from "../support/processes/snowlane-process.ts";
import { startPostgres } from "../support/servers/postgres-server.ts";

const callMs = 30_000;

async function call(url: string, method: string, body: object): Promise<Readonly<Record<string, unknown>>> {
  const response = await fetch(`${url}/snowlane.v1.${method}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(callMs),
  });
  return (await response.json()) as Readonly<Record<string, unknown>>;
}

test.each([
  ["its earlier life has compared the database", true],
  ["no earlier life has compared the database, once the store has answered", false],
] as const)("a server that starts without its worker store gives IDs, and values where %s", async (_, hasCompared) => {
  const postgres = await startPostgres();
  onTestFinished(() => postgres.stop());
  const folder = temporaryFolder();
  const resume = join(folder, "resume");
  const args = [
    "--store",
    postgres.url,
    "--window",
    "5m",
    "--resume-dir",
    resume,
    "--sequence-stores",
    `sqlite:${join(folder, "s.db")}`,
    "--instance",
    "a",
  ];
  const start = async (stores: readonly string[]) => {
    const server = await startSnowlane({ args: [...stores] });
    onTestFinished(() => void server.child.kill("SIGKILL"));
    return server;
  };
  const other = await start([...args.slice(0, 4), ...args.slice(6, 8)]);
  await expect
    .poll(() => call(other.url, "SequenceService/CreateSequence", { sequence: { name: "orders" } }), {
      timeout: 60_000,
    })
    .toHaveProperty("sequence");
  expect(await other.stop("SIGTERM")).toBe(0);
  const first = await start(hasCompared ? args : [...args.slice(0, 6), "--sequence-stores", "off", ...args.slice(8)]);
  if (hasCompared) {
    await expect
      .poll(() => call(first.url, "SequenceService/NextValue", { name: "orders" }))
      .toMatchObject({ value: "1" });
  }
  // A record that is not renamed yet (".next") is not in place: a server that is killed now has not written it.
  const records = () =>
    readdirSync(resume, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && !entry.name.endsWith(".next"))
      .map(({ parentPath, name }) => readFileSync(join(parentPath, name), "utf8"))
      .join("");
  await expect.poll(records).toContain(hasCompared ? '"databaseId":' : '"untilMs":');
  first.child.kill("SIGKILL");
  postgres.pause();
  const again = await start(args);
  await expect.poll(() => call(again.url, "IdService/NextId", {})).toHaveProperty("id");
  const value = () => call(again.url, "SequenceService/NextValue", { name: "orders" });
  if (!hasCompared) {
    expect(await value()).toMatchObject({ code: "unavailable" });
    postgres.resume();
  }
  await expect.poll(value, { timeout: 90_000 }).toMatchObject({ value: expect.any(String) });
  postgres.resume();
});
