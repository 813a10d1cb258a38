import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createNodeClient } from "../../clients/typescript/src/node.ts";
import { type Certificates, makeCertificates } from "../support/processes/certificates.ts";
import { fetchPythonVenv } from "../support/fetch/python-venv.ts";
import { runCommand } from "../support/processes/run-command.ts";
import { type SnowlaneProcess, startSnowlane } from "../support/processes/snowlane-process.ts";

/** A server that speaks TLS alone, and only with callers that show a certificate. */
const folder = mkdtempSync(join(tmpdir(), "snowlane-tls-"));
let certificates: Certificates;
let server: SnowlaneProcess;
let endpoint: string;

beforeAll(async () => {
  certificates = await makeCertificates();
  const tls = ["--tls-cert", certificates.server.certFile, "--tls-key", certificates.server.keyFile];
  const store = ["--store", `sqlite:${join(folder, "snowlane.db")}`];
  server = await startSnowlane({ args: [...store, ...tls, "--tls-client-ca", certificates.caFile] });
  endpoint = server.url.replace("http://127.0.0.1", "https://localhost");
}, 300_000);

afterAll(async () => {
  await server.stop("SIGTERM");
  certificates.remove();
  rmSync(folder, { recursive: true, force: true });
});

test("TypeScript: IDs with a certificate and a token, UNREACHABLE without", { timeout: 120_000 }, async () => {
  const text = (path: string): string => readFileSync(path, "utf8");
  const { caFile, client: own } = certificates;
  const certified = { ca: text(caFile), cert: text(own.certFile), key: text(own.keyFile) };
  const client = createNodeClient({ endpoints: [endpoint], tls: certified, token: "secret", timeoutMs: 60_000 });
  const ids = client.prefetch();
  const taken = [await client.nextId(), await ids.nextId(), ...(await client.nextIds(100))];
  expect(new Set(taken).size).toBe(102);
  client.close();
  for (const tls of [{ ca: text(caFile) }, {}]) {
    const stranger = createNodeClient({ endpoints: [endpoint], tls, timeoutMs: 2_000 });
    await expect(stranger.nextId()).rejects.toMatchObject({ reason: "UNREACHABLE", code: "UNAVAILABLE" });
    stranger.close();
  }
});

const program = `
import asyncio, sys
from pathlib import Path
from snowlane import AsyncIdClient, ClientOptions, IdClient, SnowlaneError, TlsOptions
endpoint, roots, certificate, key = sys.argv[1], *(Path(path).read_bytes() for path in sys.argv[2:])
certified = ClientOptions(tls=TlsOptions(roots, certificate, key), token="secret", timeout_s=60)
with IdClient(endpoint, certified) as client, client.prefetch() as ids:
    taken = [client.next_id(), ids.next_id(), *client.next_ids(100)]
async def take():
    async with AsyncIdClient(endpoint, certified) as client:
        return await client.next_id()
print(len({*taken, asyncio.run(take())}))
for tls in (TlsOptions(roots), TlsOptions()):
    with IdClient(endpoint, ClientOptions(tls=tls, timeout_s=2)) as client:
        try:
            client.next_id()
        except SnowlaneError as error:
            print(error.reason.value, error.code.name)
`;

test("Python: IDs with a certificate and a token, UNREACHABLE without", { timeout: 600_000 }, async () => {
  const requirements = readFileSync("clients/python/tests/requirements.txt", "utf8");
  const python = await fetchPythonVenv("client", requirements);
  const { caFile, client } = certificates;
  const args = ["-c", program, endpoint, caFile, client.certFile, client.keyFile];
  const output = await runCommand(python, args, { env: { PYTHONPATH: "clients/python/src" } });
  expect(output).toBe("103\nUNREACHABLE UNAVAILABLE\nUNREACHABLE UNAVAILABLE\n");
});
