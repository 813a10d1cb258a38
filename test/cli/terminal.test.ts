import { spawn } from "node:child_process";
import { once } from "node:events";
import { connect } from "node:http2";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { create, toBinary } from "@bufbuild/protobuf";
import { expect, onTestFinished, test } from "vitest";
import { BatchNextIdsRequestSchema } from "../../src/gen/snowlane/v1/id_service_pb.ts";
import { runCli } from "../support/processes/cli-outcome.ts";
import { grpcFrame } from "../support/http2/http-call.ts";
import { temporaryFolder } from "../support/processes/running-server.ts";
import { bundledSnowlane } from "../support/processes/server-bundle.ts";
import { startSnowlane } from "../support/processes/snowlane-process.ts";

const timeoutMs = 300_000;
/** More than twitter yields in the second after which progress is shown: 4,096 a millisecond. */
const manyIds = 6_000_000;

/** Opens a stream that nobody reads: a server that stops waits for it. */
async function openStream(url: string): Promise<void> {
  const session = connect(url);
  session.on("error", () => undefined);
  onTestFinished(() => session.destroy());
  const headers = { "content-type": "application/grpc", te: "trailers" };
  const path = "/snowlane.v1.IdService/BatchNextIds";
  const stream = session.request({ ":path": path, ":method": "POST", ...headers });
  stream.on("error", () => undefined);
  const request = create(BatchNextIdsRequestSchema, { count: 1_000_000_000n });
  stream.end(grpcFrame(toBinary(BatchNextIdsRequestSchema, request)));
  await once(stream, "response");
}

test("a second Ctrl-C at once is the first one again, a later one ends the server without waiting", {
  timeout: timeoutMs,
}, async () => {
  const store = `sqlite:${join(temporaryFolder(), "ids.db")}`;
  const server = await startSnowlane({ args: ["--store", store, "--drain-timeout", "10m"] });
  const { child, log } = server;
  onTestFinished(() => void child.kill("SIGKILL"));
  await openStream(server.url);
  child.kill("SIGINT");
  child.kill("SIGINT");
  while (!log.some(({ message }) => message === "Stops")) await sleep(10);
  await sleep(1_000);
  expect([child.exitCode, child.signalCode]).toEqual([null, null]);
  // A shell shows 130 for it.
  expect(await server.stop("SIGINT")).toBe("SIGINT");
});

test("a reader that has had enough ends next without a word", { timeout: timeoutMs }, async () => {
  const [command = "", ...program] = await bundledSnowlane();
  const args = [...program, "next", "-n", String(manyIds), "--store", `sqlite:${join(temporaryFolder(), "ids.db")}`];
  const child = spawn(command, args, { stdio: ["ignore", "pipe", "pipe"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  let stderr = "";
  child.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
  await once(child.stdout, "data");
  child.stdout.destroy();
  expect([await once(child, "close"), stderr]).toEqual([[0, null], ""]);
});

test("a table has colour on a terminal, and none in a pipe or where NO_COLOR is set", {
  timeout: timeoutMs,
}, async () => {
  const red = "\u001B[31mENDED\u001B[39m";
  const layouts = [...(await bundledSnowlane()), "layouts"].map((word) => `'${word}'`).join(" ");
  const onTerminal = async (more: Readonly<Record<string, string>>): Promise<string> => {
    const environment = { TERM: "xterm", NO_COLOR: "", FORCE_COLOR: "", ...more };
    return (await runCli(["-qec", layouts, "/dev/null"], { program: ["script"], environment })).stdout.toString();
  };
  expect(await onTerminal({})).toContain(red);
  expect(await onTerminal({ NO_COLOR: "1" })).not.toContain("\u001B");
  const inPipe = async (more: Readonly<Record<string, string>>): Promise<string> =>
    (await runCli(["layouts"], { environment: { NO_COLOR: "", FORCE_COLOR: "", ...more } })).stdout.toString();
  expect(await inPipe({})).not.toContain("\u001B");
  expect(await inPipe({ FORCE_COLOR: "1" })).toContain(red);
});

test("long work shows how far it is on a terminal, and is wiped; in a pipe it shows nothing", {
  timeout: timeoutMs,
}, async () => {
  const count = ["-n", String(manyIds), "--format", "binary"];
  const next = [...(await bundledSnowlane()), "next", ...count].map((word) => `'${word}'`).join(" ");
  // util-linux's script gives the command a terminal of its own.
  const shown = await runCli(["-qec", `${next} > /dev/null`, "/dev/null"], { program: ["script"] });
  expect(shown.code).toBe(0);
  expect(shown.stdout.toString()).toMatch(/\d+ % {2}[\d,]+ IDs\/s {2}\d+ s left/);
  expect(shown.stdout.toString().endsWith("\r\u001B[K")).toBe(true);
  const piped = await runCli(["next", ...count]);
  expect([piped.code, piped.stdout.length, piped.stderr]).toEqual([0, 8 * manyIds, ""]);
});
