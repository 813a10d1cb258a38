import { readFileSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { parse } from "yaml";
import { confinedProgram, makeVolume } from "../support/containers/confined-program.ts";
import { ImageBuilder, type ServerImage } from "../support/containers/image-builder.ts";
import { findTool } from "../support/fetch/tools.ts";
import { findFreePort } from "../support/processes/free-port.ts";
import { runCommand } from "../support/processes/run-command.ts";
import { type SnowlaneProcess, startSnowlane } from "../support/processes/snowlane-process.ts";
import { startPostgres } from "../support/servers/postgres-server.ts";
import { runSql } from "../support/servers/run-sql.ts";

/**
 * The services of compose.yaml, started from the file without an engine. In place of an engine's network, the host
 * `postgres` and the addresses are those of this machine; everything else is as the file says.
 */
interface Service {
  readonly environment: Readonly<Record<string, string>>;
  readonly command: readonly string[];
  readonly healthcheck?: { readonly test: readonly string[] };
}
const { services } = parse(readFileSync("deploy/container/compose.yaml", "utf8"), { merge: true }) as {
  readonly services: Readonly<Record<"postgres" | "a" | "b", Service>>;
};

let builder: ImageBuilder;
let image: ServerImage;

beforeAll(async () => {
  builder = await ImageBuilder.start();
  image = await builder.buildServer();
}, 1_200_000);
afterAll(() => builder?.remove());

test("both servers of compose.yaml issue from its PostgreSQL, each with a worker ID of its own", async () => {
  const postgres = await startPostgres();
  onTestFinished(() => postgres.stop());
  const { POSTGRES_USER: user, POSTGRES_DB: database } = services.postgres.environment;
  await runSql(
    postgres.url,
    `CREATE ROLE ${user} LOGIN PASSWORD 'hunter2'`,
    `CREATE DATABASE ${database} OWNER ${user}`,
  );
  const [kind, probe, ...args] = services.postgres.healthcheck!.test;
  expect(kind).toBe("CMD");
  const { path, env } = await findTool("postgres");
  // A postgres on PATH may be a link into the folder that has the rest.
  const programs = dirname(realpathSync(path));
  const network = { PGHOST: "127.0.0.1", PGPORT: String(postgres.port) };
  await runCommand(join(programs, probe!), args, { env: { ...env, ...network } });

  const serve = async (name: "a" | "b"): Promise<SnowlaneProcess> => {
    const { environment: written, command } = services[name];
    expect(command).toEqual(["serve"]);
    const place = (value: string): string =>
      value
        // biome-ignore lint/suspicious/noTemplateCurlyInString: a variable of the file.
        .replace("${POSTGRES_PASSWORD}", "hunter2")
        .replace("@postgres/", `@127.0.0.1:${postgres.port}/`);
    const { SNOWLANE_LISTEN: _listen, ...others } = written;
    const environment = Object.fromEntries(Object.entries(others).map(([key, value]) => [key, place(value)]));
    const volume = makeVolume(join(builder.folder, `volume-${name}`), image.config);
    const program = confinedProgram({ ...image, volume, environment });
    const server = await startSnowlane({ program, args: [], listen: `127.0.0.1:${await findFreePort()}` });
    onTestFinished(() => void server.child.kill("SIGKILL"));
    return server;
  };
  const servers = await Promise.all([serve("a"), serve("b")]);
  const workerIds = servers.map(({ log }) => log.find(({ message }) => message === "Serves IDs"));
  expect(workerIds.map((line) => line?.["store"])).toEqual(Array(2).fill(expect.stringMatching(/^postgres:/)));
  const post = { method: "POST", headers: { "content-type": "application/json" }, body: "{}" };
  const ids: unknown[] = [];
  const ask = async ({ url }: SnowlaneProcess): Promise<void> => {
    for (let calls = 0; calls < 200; calls += 1) {
      const answer = await fetch(`${url}/snowlane.v1.IdService/NextId`, post);
      ids.push(((await answer.json()) as { readonly id?: string }).id);
    }
  };
  await Promise.all(servers.map(ask));
  expect(ids).toEqual(Array(400).fill(expect.stringMatching(/^\d{18,19}$/)));
  expect(new Set(ids).size).toBe(400);
  expect(new Set(workerIds.map((line) => JSON.stringify([line?.["datacenterId"], line?.["workerId"]]))).size).toBe(2);
  for (const server of servers) expect(await server.stop("SIGTERM")).toBe(0);
});
