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
 * Gives node:http without those exports that are getters: an `import` reads every export, and the one of WebSocket
 * loads an HTTP client of 10,000 lines, at each start.
 */
const lightHttp = {
  name: "light-http",
  resolveId: (id) => (id === "node:http" || id === "http" ? "\0light-http" : undefined),
  load: (id) => {
    if (id !== "\0light-http") return undefined;
    const descriptors = Object.entries(Object.getOwnPropertyDescriptors(process.getBuiltinModule("node:http")));
    const names = descriptors.filter(([, { value }]) => value !== undefined).map(([name]) => name);
    return `export const { ${names.join(", ")} } = process.getBuiltinModule("node:http");`;
  },
};

const bundle = await rolldown({
  input: Object.fromEntries(Object.entries(entries).filter(([, path]) => existsSync(path))),
  platform: "node",
  plugins: [lightHttp],
  external: [/^node:(?!http$)/, ...drivers],
});
await bundle.write({ dir: "dist", format: "esm", chunkFileNames: "chunks/[name]-[hash].js", cleanDir: true });
await bundle.close();
writeFileSync("dist/.bundled", `${new Date().toISOString()}\n`);
