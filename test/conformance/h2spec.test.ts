/** h2spec, strict: the engine must pass every test. */
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import type { ServerStream } from "../../src/http2/stream.ts";
import { findTool } from "../support/fetch/tools.ts";
import { startHttp2TestServer } from "../support/http2-test-server.ts";
import { okBlock } from "../support/http2-wire.ts";
import { runCommand } from "../support/run-command.ts";

/** Several tests look at the stream while it is open, and those of flow control need a body of five bytes or more. */
async function answerLate(stream: ServerStream): Promise<void> {
  await sleep(20);
  stream.respond(okBlock, "body");
  stream.write(Buffer.from("hello"));
  stream.end();
}

test("the engine passes all 146 strict tests of h2spec", async () => {
  await using server = await startHttp2TestServer(() => ({
    onData: (stream, bytes) => stream.consume(bytes.length),
    onEnd: (stream) => void answerLate(stream),
  }));
  const { path, env } = await findTool("h2spec");
  const report = await runCommand(path, ["--strict", "-h", "127.0.0.1", "-p", String(server.port), "-o", "5"], { env });
  expect(report).toContain("146 tests, 146 passed, 0 skipped, 0 failed");
  expect(server.faults).toEqual([]);
});
