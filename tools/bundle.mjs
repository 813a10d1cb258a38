/**
 * Bundles src/ into dist/: the command line, the library, and each worker thread as an entry of its own; then web/ into
 * dist/page. 200 ms to the first ID instead of 550 ms by type stripping. Packages stay outside: drivers of the stores
 * are loaded on first use. docs/adr/0022 says why the package has no dependencies.
 *
 * `--with-drivers FOLDER` bundles the drivers, too, into a package of its own in FOLDER: for a container.
 */
import { chmodSync, copyFileSync, existsSync, readFileSync, writeFileSync } from "node:fs";
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

const bundle = await rolldown({
  input: Object.fromEntries(Object.entries(entries).filter(([, path]) => existsSync(path))),
  platform: "node",
  plugins: [lightModules, shortenPackages],
  external: external({ hasDrivers }),
});
const { output } = await bundle.write({
  dir: join(folder, "dist"),
  format: "esm",
  chunkFileNames: "chunks/[name]-[hash].js",
  codeSplitting: { groups },
  cleanDir: true,
});
await bundle.close();
// npx makes it executable when it links it for the first time, and never again.
chmodSync(join(folder, "dist/main.js"), 0o755);

// A store's thread that needs one function of a larger file would load that file, and all that it imports, at a start.
const thread = output.find(({ name }) => name === "sqlite-thread");
const large = thread.imports.filter((path) => !/^(node:|chunks\/(base|store|threads)-)/.test(path));
if (large.length > 0)
  throw new Error(`sqlite-thread loads ${large.join(", ")}: put what it needs into the group "store" or "threads"`);
const moduleIds = output.flatMap(({ moduleIds = [] }) => moduleIds);
const page = await bundlePage(join(folder, "dist/page"));
writeFileSync(join(folder, "THIRD_PARTY_NOTICES"), thirdPartyNotices([...moduleIds, ...page]));
if (hasDrivers) {
  const { version, description, license, type, engines, bin } = packageJson;
  const files = ["dist", "CHANGELOG.md", "THIRD_PARTY_NOTICES"];
  const manifest = { name: "snowlane-with-drivers", version, description, license, type, engines, bin, files };
  writeFileSync(join(folder, "package.json"), `${JSON.stringify({ ...manifest, private: true }, undefined, 2)}\n`);
  for (const file of ["LICENSE", "CHANGELOG.md"]) copyFileSync(file, join(folder, file));
} else {
  // Its time alone is read: see bootstrap.mjs.
  writeFileSync("dist/.bundled", "");
}
