/** Scrapes leave nothing behind: the memory in use stays the same, however many there are. */
import { Agent, request } from "node:http";
import { once } from "node:events";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { liveMemoryFlags, liveMb } from "../support/processes/live-memory.ts";
import { temporaryFolder } from "../support/processes/running-server.ts";
import { bundledProgram, bundleServer } from "../support/processes/server-bundle.ts";
import { startSnowlane } from "../support/processes/snowlane-process.ts";
import { scale } from "../support/worlds/scale.ts";

const scrapes = 1_000 * scale;
/** V8 compiles meanwhile: some hundred KiB, whatever the number of scrapes. */
const allowedMb = 0.5;

test(`${scrapes} scrapes leave the memory in use as it was`, async () => {
  await bundleServer();
  const server = await startSnowlane({
    program: [process.execPath, ...liveMemoryFlags, bundledProgram],
    args: ["--http2", "engine", "--store", `sqlite:${join(temporaryFolder(), "snowlane.db")}`],
  });
  onTestFinished(async () => {
    const ended = once(server.child, "exit");
    server.child.kill();
    await ended;
  });
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  onTestFinished(() => agent.destroy());
  const scrapeAll = async (): Promise<void> => {
    for (let done = 0; done < scrapes; done++) {
      const call = request(`${server.url}/metrics`, { agent });
      call.end();
      const [response] = await once(call, "response");
      response.resume();
      await once(response, "end");
    }
  };
  await scrapeAll();
  const beforeMb = await liveMb(server);
  await scrapeAll();
  expect((await liveMb(server)) - beforeMb).toBeLessThan(allowedMb);
});
