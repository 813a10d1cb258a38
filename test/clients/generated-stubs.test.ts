import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { clientStubFolders, generateClientStubs } from "../../tools/generate-stubs.ts";
import { expectEqualFolders } from "../house/expect-equal-folders.ts";

const root = mkdtempSync(join(tmpdir(), "snowlane-stubs-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));

test("each folder that the plugins of the clients fill is compared", () => {
  const template = readFileSync("buf.gen.clients.yaml", "utf8");
  const filled = [...template.matchAll(/^ +out: (\S+)$/gm)].map(([, folder]) => folder);
  expect(new Set(filled)).toEqual(new Set(clientStubFolders));
});

// The plugins are built when they are first needed, which takes minutes.
test("the stubs of Go, Java, Python and Rust are what the protos say", async () => {
  await generateClientStubs(root);
  for (const folder of clientStubFolders) expectEqualFolders(folder, join(root, folder), "Run npm run generate.");
});
