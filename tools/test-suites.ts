// By its default export: an older Node has no globSync, and is to read what vitest.config.ts says of that.
import fs from "node:fs";
import { sized } from "../test/support/worlds/scale.ts";

/** A suite of tests: one project of vitest. */
export interface TestSuite {
  readonly name: string;
  /** Folders whose tests it runs, each with a slash at its end. */
  readonly folders: readonly string[];
  /**
   * Minutes that it should stay below on two cores, everything fetched: a guide for readers, not a limit. undefined =
   * not part of `npm test`.
   */
  readonly budgetMinutes: number | undefined;
  /**
   * Whether its tests wait for servers most of their time: it runs beside the suites that work, with more of its files
   * and tests at once than there are processors.
   */
  readonly waits: boolean;
  /** Its test files, from the root of the repository. */
  readonly files: readonly string[];
}

const waitingSuites = new Set(["stores"]);

/**
 * Files of the suite `http2` that run a second time, on node:http2, for what that serves in its own way: frames, heads,
 * connections, streams and TLS. The other files of `test/server/` run there by `npm run all -- node-http2`.
 */
const onNodeHttp2 =
  /^test\/server\/(bad-input|call-counts|certificate-reload|client-certificates|connection-age|grpc-rules|host-check|http|last-connections|lent-answers|paths|protocols|sound-requests|streaming)\.test\.ts$/;

/**
 * Reads the suites from the table of CONTRIBUTING.md, which is the one place that says which tests belong to which. A
 * file belongs to the deepest folder that is named; where two suites name that folder, to both.
 *
 * @throws Error where the table cannot be read, or a test file belongs to no suite.
 */
export function readTestSuites(): readonly TestSuite[] {
  const [, section = ""] = fs.readFileSync("CONTRIBUTING.md", "utf8").split("\n## Suites\n");
  const rows = [...section.matchAll(/^\| `(\w+)` *\| (.*?) *\|.*\| *(?:(\d+) min|[^|]*) *\|$/gm)].map(
    ([, name = "", cell = "", minutes]) => ({
      name,
      folders: [...cell.matchAll(/`([\w/-]+\/)`/g)].map(([, folder = ""]) => folder),
      budgetMinutes: minutes === undefined ? undefined : Number(minutes),
    }),
  );
  if (rows.length < 2) throw new Error("CONTRIBUTING.md has no table of suites below its heading Suites.");
  const named = new Set(rows.flatMap(({ folders }) => folders));
  const files = fs.globSync("{src,test,clients/typescript}/**/*.test.ts", { exclude: ["**/node_modules"] });
  const folderOf = new Map(files.map((file) => [file, deepestFolder(file, named)]));
  return rows.map(({ name, folders, budgetMinutes }) => {
    const isHere = (file: string): boolean =>
      name !== "http2" || !file.startsWith("test/server/") || sized(onNodeHttp2.test(file), true);
    const own = files.filter((file) => folders.includes(folderOf.get(file)!) && isHere(file));
    return { name, folders, budgetMinutes, waits: waitingSuites.has(name), files: own };
  });
}

/** The suites that `npm test` leaves out, by name: `npm run all -- NAME` runs one. */
export function suitesApart(): readonly string[] {
  return readTestSuites().flatMap(({ name, budgetMinutes }) => (budgetMinutes === undefined ? [name] : []));
}

function deepestFolder(file: string, folders: ReadonlySet<string>): string {
  const [deepest] = [...folders].filter((folder) => file.startsWith(folder)).toSorted((a, b) => b.length - a.length);
  if (deepest === undefined) throw new Error(`${file} is in no folder of the table of suites in CONTRIBUTING.md.`);
  return deepest;
}
