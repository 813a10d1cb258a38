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
// Also what lies in them: mysql2/promise.
const drivers = Object.keys(packageJson.peerDependencies ?? {}).map((name) => new RegExp(`^${name}(/|$)`));

/**
 * Gives some modules of Node without those exports that are getters: an `import` reads every export, and that of
 * WebSocket in node:http loads an HTTP client of 10,000 lines, those of node:crypto all of Web Crypto, at each start.
 */
const light = {
  name: "light",
  resolveId: (id, importer) => {
    const [, name] = /^(?:node:)?(http|util|fs|crypto)$/.exec(id) ?? [];
    if (name === undefined) return undefined;
    // OpenTelemetry needs such exports, and is loaded only where calls are traced.
    return importer?.includes("@opentelemetry") ? { id: `node:${name}`, external: true } : `\0light:${name}`;
  },
  load: (id) => {
    if (!id.startsWith("\0light:")) return undefined;
    const name = id.replace("\0light:", "node:");
    const descriptors = Object.entries(Object.getOwnPropertyDescriptors(process.getBuiltinModule(name)));
    const names = descriptors.filter(([, { value }]) => value !== undefined).map(([name]) => name);
    const builtin = `process.getBuiltinModule("${name}")`;
    return `export const { ${names.join(", ")} } = ${builtin};\nexport default ${builtin};`;
  },
};

/**
 * A start loads a few large files: finding and reading each of 50 small ones took longer than what is in them. A group
 * is what matches and all that it imports, without what a group above has. Each thread of a store takes the first
 * three; commands that start no server do without the last two. Calls of another server take the packages alone.
 */
const groups = [
  { priority: 6, name: "base", test: /light:(util|fs)|src\/(errors|assert|clock\/clock|version)\.ts$/ },
  {
    priority: 5,
    name: "store",
    test: /light:crypto|src\/(kernel-random|store\/(record-store|make-folder|sqlite\/sqlite-error|link\/made-once))\.ts$/,
  },
  {
    priority: 5,
    name: "threads",
    test: /src\/store\/(store-identity|sqlite\/(thread-calls|store-file|open-file|file-[a-z]+|sqlite-paths|lock-owner))\.ts$/,
  },
  { priority: 4, name: "pure", test: /src\/(snowflake|text)\// },
  { priority: 3, name: "config", test: /src\/(config\/|cli\/(exit-code|paint)\.ts$)/ },
  { priority: 3, name: "packages", test: /node_modules\/@(bufbuild|connectrpc\/connect)\/|src\/gen\// },
  { priority: 2, name: "traces", test: /node_modules\/@opentelemetry\// },
  { priority: 2, name: "start", test: /src\/(cli\/serve|server\/start-server)\.ts$/ },
  { priority: 1, name: "calls", test: /src\/server\/serve-calls\.ts$/ },
];

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
  plugins: [light, shortenPackages],
  // pg looks for its own driver in C and for one of another runtime, and does without them.
  external: [/^node:(?!(?:http|util|fs|crypto)$)/, ...(hasDrivers ? ["pg-native", "pg-cloudflare"] : drivers)],
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
