import { createHash } from "node:crypto";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parsePrincipals } from "../../src/server/guards/principal-file.ts";
import { askHttp1 } from "../support/http2/http-call.ts";
import { runServer, temporaryFolder } from "../support/processes/running-server.ts";
import { runInProcess } from "./in-process.ts";

test("a token is new each time, and its entry lets it in", async () => {
  const { code, stdout } = await runInProcess(["token", "checkout"]);
  const [token = "", entry = "", ...more] = stdout.split("\n");
  expect([code, more]).toEqual([0, [""]]);
  expect(token).toMatch(/^snw_[A-Za-z0-9_-]{43}$/);
  expect(entry).not.toContain(token);
  expect(entry).toContain(createHash("sha256").update(token).digest("hex"));
  expect((await runInProcess(["token", "checkout"])).stdout).not.toContain(token);
  const path = join(temporaryFolder(), "principals.json");
  writeFileSync(path, `{ "principals": [${entry}] }`);
  const { url } = await runServer({ principals: path });
  const headers = { "content-type": "application/json", authorization: `Bearer ${token}` };
  expect((await askHttp1(url, { path: "/snowlane.v1.IdService/NextId", headers, body: "{}" })).status).toBe(200);
  expect((await askHttp1(url, { path: "/snowlane.v1.AdminService/ListWorkers", headers, body: "{}" })).status).toBe(
    403,
  );
});

test("the permissions are those that were asked for", async () => {
  const { stdout } = await runInProcess(["token", "ops", "--permissions", "observe, manage,observe"]);
  const entry = stdout.split("\n")[1]!;
  expect(parsePrincipals(Buffer.from(`{ "principals": [${entry}] }`), "p.json")).toMatchObject([
    { name: "ops", permissions: ["manage", "observe"] },
  ]);
});

test("a name or a permission that no file may have is refused", async () => {
  for (const words of [
    [],
    ["a", "b"],
    ["Checkout"],
    ["a b"],
    ["-"],
    ["a", "--permissions", "root"],
    ["a", "--permissions", ""],
  ]) {
    const { code, stdout } = await runInProcess(["token", ...words]);
    expect([words, code, stdout]).toEqual([words, 2, ""]);
  }
});

// The token was left to a file that everybody may read.
test("OPERATIONS 7: --to writes the token to a new file that only its owner may read, and prints only the entry", async () => {
  const path = join(temporaryFolder(), "token");
  const { code, stdout } = await runInProcess(["token", "checkout", "--to", path]);
  const token = readFileSync(path, "utf8").trim();
  expect([code, statSync(path).mode & 0o777]).toEqual([0, 0o600]);
  expect(JSON.parse(stdout)).toMatchObject({ tokens: [`sha256:${createHash("sha256").update(token).digest("hex")}`] });
  expect(stdout).not.toContain(token);
  expect((await runInProcess(["token", "checkout", "--to", path])).code).toBe(2);
  expect(readFileSync(path, "utf8").trim()).toBe(token);
});

test("OPERATIONS 9: a password in a flag is warned of, and one from the environment or a file is not", async () => {
  const url = "postgres://u:sEcr3t@127.0.0.1:1/db";
  const path = join(temporaryFolder(), "url");
  writeFileSync(path, `${url}\n`, { mode: 0o600 });
  const warning = "can see the password in --store";
  const asked = await runInProcess(["serve", "--dry-run", "--store", url]);
  expect([asked.code, asked.stderr]).toEqual([0, expect.stringContaining(warning)]);
  const fromFile = await runInProcess(["serve", "--dry-run", "--store-file", path]);
  expect([fromFile.code, fromFile.stderr]).toEqual([0, ""]);
  expect(fromFile.stdout).toContain("postgres://u:***@127.0.0.1:1/db");
  for (const { stdout, stderr } of [asked, fromFile]) expect(stdout + stderr).not.toContain("sEcr3t");
});
