/**
 * Writes test/vectors: what the tests of every language read. test/vectors/README.md gives the shapes. Part of `npm run
 * generate`.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { idVectors } from "./vectors/id-vectors.ts";
import { layoutVectors } from "./vectors/layout-vectors.ts";
import { pastVectors } from "./vectors/past-vectors.ts";
import { publicIdVectors } from "./vectors/public-id-vectors.ts";
import { refusedVectors } from "./vectors/refused-vectors.ts";
import { detectionVectors, uuidVectors } from "./vectors/reading-vectors.ts";

/** Every generated file of test/vectors, by name. */
export function vectorFiles(): ReadonlyMap<string, string> {
  const files = {
    "layouts.json": layoutVectors(),
    "ids.json": idVectors(),
    "refused.json": refusedVectors(),
    "detection.json": detectionVectors(),
    "uuids.json": uuidVectors(),
    "public-ids.json": publicIdVectors(),
    "past.json": pastVectors(),
  };
  return new Map(Object.entries(files).map(([name, content]) => [name, writeLines(content)]));
}

/** JSON with one vector a line, so that a change shows as the lines that it concerns. */
function writeLines(content: { readonly vectors: readonly object[] }): string {
  const { vectors, ...head } = content;
  const opening = JSON.stringify(head).slice(0, -1);
  const lines = vectors.map((vector) => `  ${JSON.stringify(vector)}`).join(",\n");
  return `${opening === "{" ? opening : `${opening},`}"vectors": [\n${lines}\n]}\n`;
}

if (import.meta.main) {
  mkdirSync("test/vectors", { recursive: true });
  for (const [name, text] of vectorFiles()) writeFileSync(`test/vectors/${name}`, text);
}
