import { readFileSync } from "node:fs";
import { expect } from "vitest";
import type { FoundVectors, Vector, VectorFile, VectorFileName, VectorFiles } from "./vector-reader.ts";

const names: readonly VectorFileName[] = [
  "layouts",
  "ids",
  "detection",
  "uuids",
  "published-uuids",
  "published-texts",
  "refused",
  "public-ids",
];

const load = (name: string): VectorFile =>
  JSON.parse(readFileSync(new URL(`${name}.json`, import.meta.url), "utf8")) as VectorFile;

/** Loads the vectors that TypeScript reads by the vector reader. */
export function loadVectors(): VectorFiles {
  return Object.fromEntries(names.map((name) => [name, load(name)])) as VectorFiles;
}

/** Holds what the vector reader has found to what the vectors say. */
export function expectVectorsFound({ sipHash, ...found }: FoundVectors): void {
  const files = loadVectors();
  expect(sipHash).toEqual(files["public-ids"].sipHash);
  for (const name of names) {
    const said = files[name].vectors.map((vector) => readable(name, vector));
    expect(said.length, name).toBeGreaterThan(0);
    expect(found[name], name).toEqual(said);
  }
}

/** A vector with what the reader can find of it. */
function readable(name: VectorFileName, vector: Vector): object {
  if (name === "ids") return { ...vector, texts: vector.texts.map((text) => ({ ...text, id: vector.id })) };
  if (name === "published-uuids") return { ...vector, section: undefined, id: null };
  if (name === "published-texts") return { ...vector, published: undefined, source: undefined };
  if (name !== "layouts") return vector;
  // No face of the client shows these two; the texts and UUIDs of the other vectors depend on them.
  return { ...vector, serialDigits: undefined, uuidFillerBits: undefined };
}
