import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, test } from "vitest";
import { generateTypeScriptStubs, typeScriptStubFolders } from "../../tools/generate-stubs.ts";
import { expectEqualFolders } from "./expect-equal-folders.ts";

const root = mkdtempSync(join(tmpdir(), "snowlane-stubs-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));

test("the stubs of TypeScript are what the protos say", async () => {
  await generateTypeScriptStubs(root);
  for (const folder of typeScriptStubFolders) expectEqualFolders(folder, join(root, folder), "Run npm run generate.");
});
