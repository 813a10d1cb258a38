/** A file of principals that changes under load, without a signal: the server finds it by itself. */
import { renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Code, createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { describe, expect, onTestFinished, test } from "vitest";
import { IdService } from "../../src/gen/snowlane/v1/id_service_pb.ts";
import { findTool } from "../support/fetch/tools.ts";
import { progress } from "../support/fetch/user-cache.ts";
import { bearer, digestOf, tokenOf } from "../support/processes/principals-file.ts";
import { runCommand } from "../support/processes/run-command.ts";
import { temporaryFolder } from "../support/processes/running-server.ts";
import { startSnowlane } from "../support/processes/snowlane-process.ts";

const patience = { timeout: 60_000, interval: 50 };
const [connections, perSecond, callsOfRound] = [4, 5_000, 10_000];
const nextId = "/snowlane.v1.IdService/NextId";

function fileOf(...names: readonly string[]): string {
  const principals = names.map((name) => ({ name, permissions: ["ids"], tokens: [digestOf(tokenOf(name))] }));
  return JSON.stringify({ principals }, undefined, 2);
}

/** Calls as one principal, round after round, until told to stop. */
function load(url: string, name: string, folder: string) {
  const body = join(folder, "body");
  writeFileSync(body, "{}");
  const stop = new AbortController();
  const tally = { sent: 0, good: 0, seconds: 0 };
  const run = async (): Promise<void> => {
    const { path, env } = await findTool("h2load");
    const pace = ["-c", `${connections}`, "-m", "32", "-n", `${callsOfRound}`, `--rps=${perSecond / connections}`];
    const fields = [`authorization: ${bearer(name).authorization}`, "content-type: application/json"];
    const args = [...pace, "-d", body, ...fields.flatMap((field) => ["-H", field]), `${url}${nextId}`];
    while (!stop.signal.aborted) {
      const startMs = performance.now();
      const output = await runCommand(path, args, { env });
      tally.sent += callsOfRound;
      tally.good += Number(/status codes: (\d+) 2xx/.exec(output)?.[1]);
      tally.seconds += (performance.now() - startMs) / 1_000;
    }
  };
  const running = run();
  return {
    stop: async () => {
      stop.abort();
      await running;
      return tally;
    },
  };
}

describe.each(["engine", "node"])("--http2 %s", (http2) => {
  test("a principal that stays notices nothing, half a file changes nothing, and a removed token ends by itself", async () => {
    const folder = temporaryFolder();
    const path = join(folder, "principals.json");
    writeFileSync(path, fileOf("stays", "goes"));
    const store = `sqlite:${join(folder, "snowlane.db")}`;
    const server = await startSnowlane({ args: ["--store", store, "--http2", http2, "--principals", path] });
    onTestFinished(() => void server.stop("SIGTERM"));
    const client = createClient(IdService, createGrpcTransport({ baseUrl: server.url }));
    const call = (name: string) =>
      client.nextId({}, { headers: bearer(name) }).then(
        () => "served" as const,
        ({ code }: { readonly code: Code }) => Code[code],
      );
    const abort = new AbortController();
    onTestFinished(() => abort.abort());
    /** Reads slowly, so that it goes on for longer than the test. */
    const stream = async (name: string): Promise<string> => {
      const options = { headers: bearer(name), signal: abort.signal };
      try {
        for await (const _ of client.batchNextIds({ count: 1_000_000_000n, chunkSize: 10_000 }, options))
          await new Promise((resolve) => setTimeout(resolve, 20));
        return "came to its end";
      } catch (error) {
        return Code[(error as { readonly code: Code }).code];
      }
    };
    const loaded = load(server.url, "stays", folder);
    let ended: string | undefined;
    const leaving = stream("goes").then((end) => (ended = end));
    const staying = stream("stays");
    const lines = (message: string) => server.log.filter((line) => line["message"] === message).length;

    // In place, as a careless copy does it.
    writeFileSync(path, fileOf("stays").slice(0, -40));
    await expect.poll(() => lines("The principals cannot be read; the earlier ones stay"), patience).toBe(1);
    expect([await call("goes"), await call("stays"), ended]).toEqual(["served", "served", undefined]);

    const writtenMs = performance.now();
    writeFileSync(`${path}.new`, fileOf("stays", "comes"));
    renameSync(`${path}.new`, path);
    await expect.poll(() => call("goes"), patience).toBe("Unauthenticated");
    const goneMs = performance.now() - writtenMs;
    expect(await leaving).toBe("Unauthenticated");
    const endedMs = performance.now() - writtenMs;
    expect([await call("stays"), await call("comes")]).toEqual(["served", "served"]);

    const { sent, good, seconds } = await loaded.stop();
    progress(
      `A removed token was refused after ${(goneMs / 1_000).toFixed(1)} s, its stream ended after ` +
        `${(endedMs / 1_000).toFixed(1)} s, under ${(sent / seconds).toFixed(0)} calls a second.`,
    );
    expect(good).toBe(sent);
    abort.abort();
    expect(await staying).toBe("Canceled");
    expect(server.log.filter(({ level }) => level === "error")).toHaveLength(1);
  });
});
