import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, test } from "vitest";
import { clientStubFolders, generateClientStubs } from "../../tools/generate-stubs.ts";
import { expectEqualFolders } from "../house/expect-equal-folders.ts";

const root = mkdtempSync(join(tmpdir(), "snowlane-stubs-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));

test("the stubs of Go, Java and Python are what the protos say", { timeout: 600_000 }, async () => {
  await generateClientStubs(root);
  for (const folder of clientStubFolders) expectEqualFolders(folder, join(root, folder), "Run npm run generate.");
});
