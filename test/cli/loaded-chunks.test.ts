/** The bundle's files that a server loads: none of a setting that it was not given. */
import { cpSync, mkdirSync, readdirSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { askHttp1 } from "../support/http2/http-call.ts";
import { scrape } from "../support/metrics/scrape.ts";
import { runCli } from "../support/processes/cli-outcome.ts";
import { principalsFile } from "../support/processes/principals-file.ts";
import { temporaryFolder } from "../support/processes/running-server.ts";
import { startSnowlane } from "../support/processes/snowlane-process.ts";

/** The parts of a server that few have, or that the first scrape loads. */
const parts = ["principal-file", "watched-principals", "open-traces", "traces", "metrics-page"];

test("a server without principals and traces loads nothing of them, and of the metrics with the first scrape", async () => {
  const folder = temporaryFolder();
  const [program, away] = [join(folder, "dist"), join(folder, "away")];
  cpSync("dist", program, { recursive: true });
  mkdirSync(away);
  const chunks = readdirSync(join(program, "chunks"));
  const kept = parts.map((part) => chunks.filter((name) => name.slice(0, -"-12345678.js".length) === part));
  expect(kept.map(({ length }) => length)).toEqual(parts.map(() => 1));
  for (const [name] of kept) renameSync(join(program, "chunks", name!), join(away, name!));
  const start = async (flags: readonly string[], environment: Readonly<Record<string, string>> = {}) => {
    const args = ["--store", `sqlite:${join(temporaryFolder(), "ids.db")}`, ...flags];
    const server = await startSnowlane({ args, environment, program: [process.execPath, join(program, "main.js")] });
    onTestFinished(async () => void (await server.stop("SIGTERM")));
    return server;
  };
  const { url } = await start([]);
  const path = "/snowlane.v1.IdService/NextId";
  expect((await askHttp1(url, { path, body: "{}", headers: { "content-type": "application/json" } })).status).toBe(200);
  // The control: a server that needs one of them does not start.
  const { path: principals } = principalsFile([{ name: "app", permissions: ["ids"] }]);
  await expect(start(["--principals", principals])).rejects.toThrow(/ERR_MODULE_NOT_FOUND/);
  await expect(start([], { OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:1" })).rejects.toThrow(
    /ERR_MODULE_NOT_FOUND/,
  );
  for (const [name] of kept) renameSync(join(away, name!), join(program, "chunks", name!));
  expect((await scrape(url)).get("snowlane_serving")).toBe(1);
});

test("a command that makes IDs does not load the fetch of Node, which takes a fifth of its time", async () => {
  const folder = temporaryFolder();
  const tells = join(folder, "tells.cjs");
  const tell = 'console.error(process.moduleLoadList.some((name) => name.includes("undici/undici")))';
  // The thread of the store loads the file, too.
  writeFileSync(tells, `if (require("worker_threads").isMainThread) process.on("exit", () => ${tell});`);
  const next = (name: string, more: readonly string[] = []) =>
    runCli(["next", "--store", `sqlite:${join(folder, name)}`], {
      program: [process.execPath, "--require", tells, ...more, "dist/main.js"],
    });
  expect(await next("ids.db")).toMatchObject({ code: 0, stderr: "false\n" });
  // The control.
  const loads = join(folder, "loads.cjs");
  writeFileSync(loads, "new Headers();");
  expect(await next("other.db", ["--require", loads])).toMatchObject({ code: 0, stderr: "true\n" });
});
