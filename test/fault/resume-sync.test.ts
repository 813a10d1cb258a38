import { once } from "node:events";
import { spawn } from "node:child_process";
import { expect, test } from "vitest";
import { temporaryFolder } from "../support/processes/running-server.ts";
import { createFaultyDisk } from "./faulty-disk.ts";

const program = `
import { openResumeFolder } from "./src/lease/resume/resume-folder.ts";
const journal = openResumeFolder(process.argv[1], { namespace: "default", storeUrl: "etcd://127.0.0.1:2379" });
const record = {
  place: journal.place, workerIndex: 5, confirmedText: "c", unansweredTexts: [], untilMs: 2, localMarkMs: 1,
  incarnation: { identity: "a", startedMs: undefined, emptyMeans: "new" }, layoutText: "l",
};
await journal.write(record);
console.log((await journal.recall(() => false)).length);
await journal.remove(5);
console.log((await journal.recall(() => false)).length);
`;

test("a resume record is written and removed on a disk whose syncs do not come back (it waited for two)", async () => {
  const disk = await createFaultyDisk(temporaryFolder(), "preloaded");
  disk.stall();
  const args = ["--input-type=module-typescript", "--eval", program, disk.folder];
  const env = { ...process.env, ...disk.environment };
  const child = spawn(process.execPath, args, { env, stdio: ["ignore", "pipe", "inherit"], timeout: 120_000 });
  let said = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (said += text));
  await once(child, "close");
  expect(said).toBe("1\n0\n");
});
