import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { type Certificates, makeCertificates } from "../../../test/support/processes/certificates.ts";
import { principalsFile } from "../../../test/support/processes/principals-file.ts";
import { temporaryFolder } from "../../../test/support/processes/running-server.ts";
import { loadSettings } from "../../config/load-settings.ts";
import { serverSettings } from "../../config/server-settings.ts";
import { checkAccess } from "./doctor-access.ts";

let certificates: Certificates;
const nowMs = Date.now();
const dayMs = 86_400_000;
beforeAll(async () => {
  certificates = await makeCertificates();
});
afterAll(() => certificates.remove());

async function findings(flags: Readonly<Record<string, string>>, atMs = nowMs) {
  const { values } = loadSettings(serverSettings, { flags, environment: {} });
  return (await checkAccess(values, atMs)).map(({ check, level, detail }) => [check, level, detail]);
}

const tls = () => ({ tlsCert: certificates.server.certFile, tlsKey: certificates.server.keyFile });
const text = (part: string): unknown => expect.stringContaining(part);

test("certificates that have ended, end soon or are not valid yet are warned of", async () => {
  const files = { ...tls(), tlsClientCa: certificates.caFile };
  const at = async (days: number) => (await findings(files, nowMs + days * dayMs)).slice(1);
  expect(await at(1)).toEqual([
    ["certificate", "ok", text("for 2")],
    ["client CA", "ok", text("for 2")],
  ]);
  expect(await at(20)).toEqual([
    ["certificate", "warn", text("Z, in ")],
    ["client CA", "warn", text("Z, in ")],
  ]);
  expect(await at(31)).toEqual([
    ["certificate", "warn", text("ended at")],
    ["client CA", "warn", text("ended at")],
  ]);
  expect((await at(-1))[0]).toEqual(["certificate", "warn", text("not valid before")]);
});

test("a file of principals is read as a start reads it, and its faults end doctor", async () => {
  const { path } = principalsFile([{ name: "app", permissions: ["ids"] }]);
  expect(await findings({ principals: path })).toEqual([
    ["principals", "ok", text("1 principals with 1 tokens and 0 names")],
  ]);
  const broken = join(temporaryFolder(), "principals.json");
  writeFileSync(broken, '{ "principals": [{ "name": "X", "tokens": ["snw_secret"], "permissions": ["root"] }] }', {
    mode: 0o600,
  });
  const [[check, level, detail] = []] = await findings({ principals: broken });
  expect([check, level]).toEqual(["principals", "fail"]);
  expect(detail).toMatch(/principals\[0\]\.name.*principals\[0\]\.tokens\[0\].*principals\[0\]\.permissions/s);
  expect(detail).not.toContain("secret");
  writeFileSync(broken, '{ "principals": [] }');
  expect(await findings({ principals: broken })).toEqual([["principals", "warn", text("nobody may call")]]);
});

// Doctor used to find nothing wrong with them.
test("OPERATIONS 7: files of secrets that every user of the machine may read are warned of", async () => {
  const { path: principals } = principalsFile([{ name: "app", permissions: ["ids"] }]);
  const storeFile = join(temporaryFolder(), "url");
  writeFileSync(storeFile, "sqlite:ids.db\n", { mode: 0o600 });
  const files = { principals, storeFile, ...tls() };
  const levels = async () => (await findings(files, nowMs + dayMs)).filter(([, level]) => level !== "ok");
  expect(await levels()).toEqual([]);
  for (const path of [principals, storeFile, files.tlsKey]) {
    chmodSync(path, 0o644);
    onTestFinished(() => chmodSync(path, 0o600));
  }
  const detail = text("Every user of this machine may read");
  expect(await levels()).toEqual(["principals", "tls key", "store file"].map((check) => [check, "warn", detail]));
});

test("names of certificates that nobody is asked for, and tokens in plaintext, are warned of", async () => {
  const { path } = principalsFile([{ name: "app", permissions: ["ids"], certificates: ["dns:client"] }]);
  expect(await findings({ principals: path })).toEqual([["principals", "warn", text("no caller is asked for one")]]);
  const tokens = principalsFile([{ name: "app", permissions: ["ids"] }]).path;
  expect(await findings({ principals: tokens, listen: "0.0.0.0:7609" })).toEqual([
    ["principals", "warn", text("in plaintext")],
  ]);
  expect((await findings({ principals: tokens, listen: "0.0.0.0:7609", ...tls() })).at(-1)).toEqual([
    "principals",
    "ok",
    text("1 principals"),
  ]);
});

test("a server that others reach and anybody may call is warned of", async () => {
  expect(await findings({ listen: "0.0.0.0:7609", auth: "none" })).toEqual([
    ["callers", "warn", "Every program that reaches 0.0.0.0 may call everything (--auth none)."],
  ]);
  expect(await findings({ listen: "[::1]:7609" })).toEqual([]);
  expect(await findings({ listen: "0.0.0.0:7609", ...tls(), tlsClientCa: certificates.caFile })).not.toContainEqual([
    "callers",
    "warn",
    expect.anything(),
  ]);
});
