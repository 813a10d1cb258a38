/**
 * Bundles src/ into dist/: the command line, the library, and each worker thread as an entry of its own; then web/ into
 * dist/page. 200 ms to the first ID instead of 550 ms by type stripping. Packages stay outside: drivers of the stores
 * are loaded on first use. docs/adr/0022 says why the package has no dependencies.
 *
 * `--with-drivers FOLDER` bundles the drivers, too, into a package of its own in FOLDER: for a container.
 */
import { chmodSync, copyFileSync, existsSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { rolldown } from "rolldown";
import { minifySync } from "rolldown/utils";
import { bundlePage } from "./bundle-page.mjs";
import { external, groups, lightModules } from "./bundle-parts.mjs";
import { thirdPartyNotices } from "./third-party-notices.mjs";

const entries = {
  main: "src/cli/main.ts",
  index: "src/index.ts",
  "sqlite-thread": "src/store/sqlite/sqlite-thread.ts",
  "sqlite-sequence-thread": "src/sequence/stores/sqlite-sequence-thread.ts",
};
const [, , mode, folder = "."] = process.argv;
const hasDrivers = mode === "--with-drivers";
const packageJson = JSON.parse(readFileSync("package.json", "utf8"));

/** Shortens the chunks that have no code of ours: nobody reads them there, and the package is to stay small. */
const shortenPackages = {
  name: "shorten-packages",
  generateBundle: (_, output) => {
    for (const chunk of Object.values(output)) {
      if (chunk.name !== "packages" && chunk.name !== "traces") continue;
      const { code, errors } = minifySync(chunk.fileName, chunk.code, { module: true, mangle: { keepNames: true } });
      if (errors.length > 0) throw new Error(`${chunk.fileName} cannot be shortened`, { cause: errors });
      chunk.code = code;
    }
  },
};

const dist = join(folder, "dist");
// Beside its place until it is whole: another process may read the bundle, or make one, at the same time.
const made = `${dist}.${process.pid}`;
process.once("exit", () => rmSync(made, { recursive: true, force: true }));

const bundle = await rolldown({
  input: Object.fromEntries(Object.entries(entries).filter(([, path]) => existsSync(path))),
  platform: "node",
  plugins: [lightModules, shortenPackages],
  external: external({ hasDrivers }),
});
const { output } = await bundle.write({
  dir: made,
  format: "esm",
  chunkFileNames: "chunks/[name]-[hash].js",
  codeSplitting: { groups },
});
await bundle.close();
// npx makes it executable when it links it for the first time, and never again.
chmodSync(join(made, "main.js"), 0o755);

// What needs one function of a larger file would load that file, and all that it imports, at each of its starts.
const lightChunks = {
  "sqlite-thread": ["base", "store", "threads"],
  health: ["base", "config", "connection-problem", "http", "pure", "server-access"],
};
for (const [name, allowed] of Object.entries(lightChunks)) {
  const chunk = output.find((file) => file.name === name);
  const large = filesLoadedBy(chunk).filter((file) => ![name, "rolldown-runtime", ...allowed].includes(file));
  if (large.length > 0)
    throw new Error(`${name} loads ${large.join(", ")}: tools/bundle-parts.mjs says which file has what it needs`);
}
const moduleIds = output.flatMap(({ moduleIds = [] }) => moduleIds);
const page = await bundlePage(join(made, "page"));
writeFileSync(join(folder, "THIRD_PARTY_NOTICES"), thirdPartyNotices([...moduleIds, ...page]));
if (hasDrivers) {
  const { version, description, license, type, engines, bin } = packageJson;
  const files = ["dist", "CHANGELOG.md", "THIRD_PARTY_NOTICES"];
  const manifest = { name: "snowlane-with-drivers", version, description, license, type, engines, bin, files };
  writeFileSync(join(folder, "package.json"), `${JSON.stringify({ ...manifest, private: true }, undefined, 2)}\n`);
  for (const file of ["LICENSE", "CHANGELOG.md"]) copyFileSync(file, join(folder, file));
} else {
  // Its time alone is read: see bootstrap.mjs.
  writeFileSync(join(made, ".bundled"), "");
}
replaceDist();

/** Another process may have put its own there in between; one of the two remains. */
function replaceDist() {
  for (let tries = 1; ; tries++) {
    rmSync(dist, { recursive: true, force: true });
    try {
      renameSync(made, dist);
      return;
    } catch (error) {
      if (error.code !== "ENOTEMPTY" || tries === 10) throw error;
    }
  }
}

/** The names of the files that a chunk loads: those that it imports itself, now or later, and what each imports. */
function filesLoadedBy(chunk) {
  const loaded = new Set([chunk, ...chunk.dynamicImports.flatMap(chunkOf)]);
  // A set gives also what is added while it is read.
  for (const { imports } of loaded) for (const imported of imports.flatMap(chunkOf)) loaded.add(imported);
  return [...loaded].map(({ name }) => name);
}

/** None for a module of Node. */
function chunkOf(path) {
  return output.filter(({ fileName }) => fileName === path);
}
