/** NEWCOMER 7: the packed packages under other runtimes than the Node that the project pins. */
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { runCommand } from "../support/processes/run-command.ts";
import { type SnowlaneProcess, startSnowlane } from "../support/processes/snowlane-process.ts";

const timeout = 600_000;
const folder = mkdtempSync(join(tmpdir(), "snowlane-runtimes-"));
/** Each with the words before a program. The first Node 22 that has long-term support, and the newest of the others. */
const runtimes = { bun: ["run"], deno: ["run", "--allow-all"], node: [] } as const;
const names = { bun: "Bun", deno: "Deno", node: "Node 22.11.0" } as const;
let server: SnowlaneProcess;

beforeAll(async () => {
  writeFileSync(join(folder, "package.json"), '{"type":"module","private":true}');
  await runCommand(process.execPath, ["tools/bootstrap.mjs", "--build"]);
  const pack = ["pack", "--loglevel=error", "--pack-destination", folder];
  const env = { PATH: [dirname(process.execPath), process.env["PATH"]].join(delimiter) };
  await runCommand("npm", [...pack, "--ignore-scripts"], { env });
  await runCommand("npm", [...pack, "--workspace", "@snowlane/client"], { env });
  const packed = readdirSync(folder).filter((name) => name.endsWith(".tgz"));
  const compilers = ["typescript@5.7.3", "older@npm:typescript@5.4.5", "@types/node@24"];
  const versions = ["bun@1.4.4", "deno@2.9.6", "node@22.11.0", ...compilers];
  const words = ["install", "--no-audit", "--no-fund", ...versions, ...packed.map((name) => join(folder, name))];
  await runCommand("npm", words, { cwd: folder });
  server = await startSnowlane({ args: ["--store", `sqlite:${join(folder, "ids.db")}`] });
}, timeout);
afterAll(async () => {
  await server.stop("SIGTERM");
  rmSync(folder, { recursive: true, force: true });
});

async function printed(name: keyof typeof runtimes, program: string): Promise<string> {
  writeFileSync(join(folder, "app.mjs"), program);
  const path = join(folder, "node_modules/.bin", name);
  return (await runCommand(path, [...runtimes[name], "app.mjs"], { cwd: folder })).trim();
}

describe.each(Object.keys(runtimes) as readonly (keyof typeof runtimes)[])("%s", (name) => {
  test("the client gets IDs, a list, a stream and a refusal with its reason", { timeout }, async () => {
    const program = `import { createNodeClient } from "@snowlane/client/node";
const client = createNodeClient({ endpoints: [${JSON.stringify(server.url)}] });
const ids = [await client.nextId(), ...(await client.nextIds(5))];
for await (const chunk of client.stream(1000)) ids.push(...chunk);
console.log(ids.length, new Set(ids).size, ids.every((id) => typeof id === "bigint"));
try { await client.parse("hello"); } catch (error) { console.log(error.reason); }
await client.close();`;
    expect(await printed(name, program)).toBe("1006 1006 true\nMALFORMED_TEXT");
  });

  test("the client reads IDs, layouts and texts without a server", { timeout }, async () => {
    const program = `import { createTextCodec, parseId, presetLayout } from "@snowlane/client";
const { ticks, workerId } = parseId(presetLayout("twitter"), 1541815603606036480n);
const codec = createTextCodec(presetLayout("twitter"));
console.log(ticks, workerId, codec.write(1541815603606036480n, { form: "base58" }));`;
    expect(await printed(name, program)).toBe("367597485448 26 4aaW4SzAyQK");
  });

  test("the library ends its import with one sentence", { timeout }, async () => {
    const program = 'await import("snowlane").catch((error) => console.log(error.name, error.message));';
    expect(await printed(name, program)).toMatch(
      new RegExp(
        `^TypeError This is ${names[name].replaceAll(".", "\\.")}; snowlane needs (?:Node )?24\\.15 or newer\\.[^\\n]*$`,
      ),
    );
  });
});

test("the types of client and library hold from TypeScript 5.7 on, and from 5.4 with skipLibCheck", {
  timeout,
}, async () => {
  const program = `import { ids, parseId, presetLayout } from "@snowlane/client";
import { createNodeClient } from "@snowlane/client/node";
import { createWebClient } from "@snowlane/client/web";
import { openSnowlane, Snowflake } from "snowlane";
const id: bigint = await createNodeClient({}).nextId();
const text: string = JSON.stringify({ id: parseId(presetLayout("twitter"), id) }, ids.toJSON);
console.log(text, createWebClient, openSnowlane, new Snowflake({ workerId: 1 }).next());`;
  writeFileSync(join(folder, "typed.mts"), program);
  const module = ["--module", "nodenext", "--target", "es2022", "--lib", "es2022,dom", "--noEmit", "--strict"];
  const compile = (compiler: string, ...flags: readonly string[]) =>
    runCommand(process.execPath, [`node_modules/${compiler}/bin/tsc`, ...module, ...flags, "typed.mts"], {
      cwd: folder,
    });
  expect(await compile("typescript")).toBe("");
  expect(await compile("older", "--skipLibCheck")).toBe("");
  await expect(compile("older")).rejects.toThrow(/Type 'Uint8Array' is not generic/);
});
