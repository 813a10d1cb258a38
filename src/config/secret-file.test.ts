import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { parsePrincipals, readPrincipalBytes } from "../server/guards/principal-file.ts";
import { readTlsContext } from "../server/listen/tls.ts";
import { loadSettings } from "./load-settings.ts";
import { accessOf } from "./secret-file.ts";
import { withStoreFile } from "./store-file-setting.ts";
import { storeSettings } from "./store-settings.ts";

function fileOf(content: string, mode: number): string {
  const folder = mkdtempSync(join(tmpdir(), "snowlane-secret-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const path = join(folder, "file");
  writeFileSync(path, content);
  chmodSync(path, mode);
  return path;
}

test("a file of one owner, or of a group as Kubernetes mounts secrets, is for nobody else", () => {
  expect(accessOf(fileOf("", 0o600))).toEqual({ othersWrite: false, othersRead: false });
  expect(accessOf(fileOf("", 0o440))).toEqual({ othersWrite: false, othersRead: false });
  expect(accessOf(fileOf("", 0o644))).toEqual({ othersWrite: false, othersRead: true });
  expect(accessOf(fileOf("", 0o602))).toEqual({ othersWrite: true, othersRead: false });
});

// Doctor used to find nothing, and serve used the file without a warning.
test("OPERATIONS 7: principals, keys and URLs that every user of the machine may write are refused", () => {
  const principals = fileOf('{ "principals": [] }', 0o666);
  expect(() => readPrincipalBytes(principals)).toThrow("Every user of this machine may write it");
  chmodSync(principals, 0o644);
  expect(readPrincipalBytes(principals).length).toBeGreaterThan(0);
  const pem = fileOf("", 0o646);
  expect(() => readTlsContext({ certPath: pem, keyPath: pem, clientCaPath: undefined })).toThrow(
    "Every user of this machine may write it",
  );
  expect(load({ storeFile: fileOf("postgres://u:sEcr3t@h/db\n", 0o666) }).problems).toMatchObject([
    { place: "--store-file", hint: expect.stringContaining("may write it") },
  ]);
});

function load(flags: Readonly<Record<string, string>>) {
  return withStoreFile(loadSettings(storeSettings, { flags, environment: {} }));
}

// Only the environment and the list of processes had room for a password.
test("OPERATIONS 9: --store-file gives the URL of the store, and no fault of it shows what the file holds", () => {
  const path = fileOf("postgres://u:sEcr3t@h/db\n", 0o440);
  const loaded = load({ storeFile: path });
  expect([loaded.values.storeUrl, loaded.places.storeUrl, loaded.problems]).toEqual([
    "postgres://u:sEcr3t@h/db",
    path,
    [],
  ]);
  const faults = [
    load({ storeFile: fileOf("postgres:u:sEcr3t@h/db", 0o600) }),
    load({ storeFile: fileOf("", 0o600) }),
    load({ storeFile: `${path}.not-there` }),
    load({ storeFile: path, store: "sqlite:ids.db" }),
  ].map(({ problems }) => JSON.stringify(problems));
  for (const fault of faults) {
    expect(fault).toContain("--store-file");
    expect(fault).not.toContain("sEcr3t");
  }
});

// A file with sha256("a") and sha256("") used to be accepted.
test.each(["", "a", "zz", "1234", "password", "checkout"])(
  "OPERATIONS 8: the token %j can be guessed, and is refused",
  async (text) => {
    const { hash } = await import("node:crypto");
    const entry = { name: "checkout", permissions: ["ids"], tokens: [`sha256:${hash("sha256", text, "hex")}`] };
    const bytes = Buffer.from(JSON.stringify({ principals: [entry] }));
    let message = "";
    try {
      parsePrincipals(bytes, "p.json");
    } catch (error) {
      message = (error as Error).message;
    }
    expect(message).toContain("principals[0].tokens[0] in p.json: The token behind it is easy to guess.");
    if (text.length > 5 && text !== "checkout") expect(message).not.toContain(text);
  },
);
