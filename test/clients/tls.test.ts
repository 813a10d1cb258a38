import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createNodeClient } from "../../clients/typescript/src/node.ts";
import { fetchPythonVenv } from "../support/fetch/python-venv.ts";
import { tokenOf } from "../support/processes/principals-file.ts";
import { runCommand } from "../support/processes/run-command.ts";
import { startTlsDeployment, type TlsDeployment } from "../support/processes/tls-deployment.ts";

/** A server that speaks TLS alone, and only with callers that show a certificate; and the programs of docs/tls.md. */
let deployment: TlsDeployment;

beforeAll(async () => {
  deployment = await startTlsDeployment();
});

afterAll(() => deployment.stop());

test("TypeScript: IDs with a certificate and a token, UNREACHABLE without", async () => {
  const text = (path: string): string => readFileSync(path, "utf8");
  const { endpoint, certificates } = deployment;
  const { caFile, client: own } = certificates;
  const certified = { ca: text(caFile), cert: text(own.certFile), key: text(own.keyFile) };
  const client = createNodeClient({ endpoints: [endpoint], tls: certified, token: tokenOf("app"), timeoutMs: 60_000 });
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

test("TypeScript: the program of docs/tls.md", async () => {
  const client = resolve("clients/typescript/src/node.ts");
  const program = deployment.writeProgram("ts", "tls.mts", { "@snowlane/client/node": client });
  expect(await runCommand(process.execPath, [program], { cwd: deployment.folder })).toMatch(/^\d{18,19}n\n$/);
});

const program = `
import asyncio, sys
from pathlib import Path
from snowlane import AsyncIdClient, IdClient, SnowlaneError, TlsOptions
endpoint, roots, certificate, key = sys.argv[1], *(Path(path).read_bytes() for path in sys.argv[2:])
certified = dict(tls=TlsOptions(roots, certificate, key), token="${tokenOf("app")}", timeout_s=60)
with IdClient(endpoint, **certified) as client, client.prefetch() as ids:
    taken = [client.next_id(), ids.next_id(), *client.next_ids(100)]
async def take():
    async with AsyncIdClient(endpoint, **certified) as client:
        return await client.next_id()
print(len({*taken, asyncio.run(take())}))
for tls in (TlsOptions(roots), TlsOptions()):
    with IdClient(endpoint, tls=tls, timeout_s=2) as client:
        try:
            client.next_id()
        except SnowlaneError as error:
            print(error.reason.value, error.code.name)
`;

test("Python: IDs with a certificate and a token, UNREACHABLE without", async () => {
  const { endpoint, certificates, folder, writeProgram } = deployment;
  const requirements = readFileSync("clients/python/tests/requirements.txt", "utf8");
  const python = await fetchPythonVenv("client", requirements);
  const env = { PYTHONPATH: resolve("clients/python/src") };
  const { caFile, client } = certificates;
  const args = ["-c", program, endpoint, caFile, client.certFile, client.keyFile];
  const output = await runCommand(python, args, { env });
  expect(output).toBe("103\nUNREACHABLE UNAVAILABLE\nUNREACHABLE UNAVAILABLE\n");
  // The program of docs/tls.md.
  const shown = writeProgram("python", "tls.py");
  expect(await runCommand(python, [shown], { cwd: folder, env })).toMatch(/^\d{18,19}\n$/);
});
