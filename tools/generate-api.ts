/** Writes api.md and openapi.json of docs/reports from the protos. Part of `npm run generate`. */
import { writeFileSync } from "node:fs";
import { writeApiPage } from "./api/api-page.ts";
import { readProtos } from "./api/described-protos.ts";
import { describeAsOpenApi } from "./api/openapi.ts";

/** The files by their paths. */
export function apiFiles(): ReadonlyMap<string, string> {
  const files = readProtos();
  return new Map([
    ["docs/reports/api.md", writeApiPage(files)],
    ["docs/reports/openapi.json", `${JSON.stringify(describeAsOpenApi(files), undefined, 2)}\n`],
  ]);
}

if (import.meta.main) for (const [path, text] of apiFiles()) writeFileSync(path, text);
