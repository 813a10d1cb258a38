/** What the bundles of the program share: the package's and the executable's. */
import { readFileSync } from "node:fs";

/**
 * Gives some modules of Node without those exports that are getters: an `import` reads every export, and that of
 * WebSocket in node:http loads an HTTP client of 10,000 lines, those of node:crypto all of Web Crypto, at each start.
 * node:sea is among them because an older Node, which lacks it, refuses to load what imports it.
 * Each name is read on a line of its own, so that what nothing uses is left out: a later Node may warn of it.
 */
export const lightModules = {
  name: "light",
  resolveId: (id, importer) => {
    const [, name] = /^(?:node:)?(http|util|fs|crypto|sea)$/.exec(id) ?? [];
    if (name === undefined) return undefined;
    // OpenTelemetry needs such exports, and is loaded only where calls are traced.
    return importer?.includes("@opentelemetry") ? { id: `node:${name}`, external: true } : `\0light:${name}`;
  },
  load: (id) => {
    if (!id.startsWith("\0light:")) return undefined;
    const name = id.replace("\0light:", "node:");
    const descriptors = Object.entries(Object.getOwnPropertyDescriptors(process.getBuiltinModule(name)));
    const names = descriptors.filter(([, { value }]) => value !== undefined).map(([name]) => name);
    const exported = names.map((name) => `export const ${name} = builtin.${name};`);
    return `const builtin = process.getBuiltinModule("${name}");\n${exported.join("\n")}\nexport default builtin;`;
  },
};

/**
 * A start loads a few large files: finding and reading each of 50 small ones took longer than what is in them. A group
 * is what matches and all that it imports, without what a group above has. Each thread of a store takes the first
 * three; commands that start no server do without the last two. Calls of another server take the packages alone, and a
 * probe by `snowlane health` not even those. The finder of IDs in texts is not part of them: no server reads such
 * texts.
 */
export const groups = [
  // What an older Node reaches before it is refused: the rest would not even load there.
  { priority: 8, name: "node-version", test: /src\/node-version\.ts$/ },
  { priority: 7, name: "refuse-older-node", test: /src\/library\/refuse-older-node\.ts$/ },
  { priority: 6, name: "base", test: /light:(util|fs|sea)|src\/(errors|assert|own-files|clock\/clock|version)\.ts$/ },
  {
    priority: 5,
    name: "store",
    test: /light:crypto|src\/(kernel-random|store\/(record-store|make-folder|program-name|sqlite\/sqlite-error|link\/made-once))\.ts$/,
  },
  {
    priority: 5,
    name: "threads",
    test: /src\/store\/(store-identity|sqlite\/(thread-calls|store-file|open-file|file-[a-z]+|sqlite-paths|lock-owner))\.ts$/,
  },
  { priority: 5, name: "http", test: /light:http$/ },
  { priority: 4, name: "pure", test: /src\/(snowflake|text\/(?!find\/))/ },
  { priority: 3, name: "config", test: /src\/(config\/|cli\/(exit-code|paint)\.ts$)/ },
  { priority: 3, name: "packages", test: /node_modules\/@(bufbuild|connectrpc\/connect)\/|src\/gen\// },
  { priority: 2, name: "traces", test: /node_modules\/@opentelemetry\// },
  { priority: 2, name: "start", test: /src\/(cli\/serve|server\/start-server)\.ts$/ },
  { priority: 1, name: "calls", test: /src\/server\/serve-calls\.ts$/ },
];

const { peerDependencies } = JSON.parse(readFileSync("package.json", "utf8"));
// Also what lies in them: mysql2/promise.
const drivers = Object.keys(peerDependencies ?? {}).map((name) => new RegExp(`^${name}(/|$)`));

/** The modules that a bundle does not contain. pg looks for its own driver in C and for one of another runtime. */
export function external({ hasDrivers }) {
  return [/^node:(?!(?:http|util|fs|crypto|sea)$)/, ...(hasDrivers ? ["pg-native", "pg-cloudflare"] : drivers)];
}
