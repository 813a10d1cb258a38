/**
 * Bundles src/ into dist/: the command line, the library, and each worker thread as an entry of its own. 200 ms to the
 * first ID instead of 550 ms by type stripping. Packages stay outside: drivers of the stores are loaded on first use.
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { rolldown } from "rolldown";

const entries = {
  main: "src/cli/main.ts",
  index: "src/index.ts",
  "sqlite-thread": "src/worker/stores/sqlite-thread.ts",
};
const packageJson = JSON.parse(readFileSync("package.json", "utf8"));
// Also what lies in them: mysql2/promise.
const drivers = Object.keys(packageJson.peerDependencies ?? {}).map((name) => new RegExp(`^${name}(/|$)`));

/**
 * Gives some modules of Node without those exports that are getters: an `import` reads every export, and that of
 * WebSocket in node:http loads an HTTP client of 10,000 lines, those of node:crypto all of Web Crypto, at each start.
 */
const light = {
  name: "light",
  resolveId: (id) => {
    const [, name] = /^(?:node:)?(http|util|fs|crypto)$/.exec(id) ?? [];
    return name === undefined ? undefined : `\0light:${name}`;
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
 * is what matches and all that it imports, without what a group above has. Each thread of a store takes the first two;
 * commands that start no server do without the last two.
 */
const groups = [
  { priority: 6, name: "base", test: /light:(util|fs)|src\/(errors|assert|clock|version)\.ts$/ },
  {
    priority: 5,
    name: "store",
    test: /light:crypto|src\/worker\/(kernel-random|stores\/(sqlite-error|store-link))\.ts$/,
  },
  { priority: 4, name: "pure", test: /src\/(snowflake|text)\// },
  { priority: 3, name: "config", test: /src\/(config\/|cli\/exit-code\.ts$)/ },
  { priority: 2, name: "start", test: /src\/(cli\/serve|server\/start-server)\.ts$/ },
  { priority: 1, name: "answering", test: /src\/server\/answering\.ts$/ },
];

const bundle = await rolldown({
  input: Object.fromEntries(Object.entries(entries).filter(([, path]) => existsSync(path))),
  platform: "node",
  plugins: [light],
  external: [/^node:(?!(?:http|util|fs|crypto)$)/, ...drivers],
});
await bundle.write({
  dir: "dist",
  format: "esm",
  chunkFileNames: "chunks/[name]-[hash].js",
  codeSplitting: { groups },
  cleanDir: true,
});
await bundle.close();
writeFileSync("dist/.bundled", `${new Date().toISOString()}\n`);
