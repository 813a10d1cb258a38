import { readFileSync, writeFileSync } from "node:fs";
import { expect, onTestFinished, test } from "vitest";
import { rmSync } from "node:fs";
import { runCommand } from "../support/processes/run-command.ts";
import { runServer } from "../support/processes/running-server.ts";

test("a program with plain gRPC, without our clients, gets an ID from the protos alone", async () => {
  const { address } = await runServer();
  // In the folder of the example, where its packages are found.
  const path = `examples/plain-stubs/.next-id-${process.pid}.mjs`;
  onTestFinished(() => rmSync(path));
  writeFileSync(path, readFileSync("examples/plain-stubs/next-id.mjs", "utf8").replace("127.0.0.1:7609", address));
  expect(await runCommand(process.execPath, [path])).toMatch(/^\d{18,19}\n$/);
});
