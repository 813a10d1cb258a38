/**
 * Real clients under load against the engine: many streams at once, cancels, deadlines, windows that close, uploads
 * that are refused halfway. test/http2/clients/README.md says what the gRPC clients do.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { chromium } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { type Certificates, makeCertificates } from "../support/processes/certificates.ts";
import { fetchPythonVenv } from "../support/fetch/python-venv.ts";
import { findTool } from "../support/fetch/tools.ts";
import { compiledTests } from "../support/processes/java-client.ts";
import { runCommand } from "../support/processes/run-command.ts";
import { grpcFrame } from "../support/http2/http-call.ts";
import { type SnowlaneProcess, startSnowlane } from "../support/processes/snowlane-process.ts";

const folder = mkdtempSync(join(tmpdir(), "snowlane-http2-clients-"));
const programs = resolve("test/http2/clients");
const empty = join(folder, "empty.json");
const big = join(folder, "big.bin");
const batch = join(folder, "batch.bin");
let certificates: Certificates;
let plain: SnowlaneProcess;
let secure: SnowlaneProcess;

beforeAll(async () => {
  writeFileSync(empty, "{}");
  writeFileSync(big, Buffer.alloc(300_000, " "));
  writeFileSync(batch, grpcFrame(Buffer.from('{"count":"20000"}')));
  certificates = await makeCertificates();
  const { certFile, keyFile } = certificates.server;
  const args = ["--http2", "engine", "--store", `sqlite:${folder}/snowlane.db`];
  // One after the other: of two that start at once, one would be left where the other does not start.
  plain = await startSnowlane({ args });
  secure = await startSnowlane({ args: [...args, "--tls-cert", certFile, "--tls-key", keyFile] });
});
afterEach(() => {
  for (const { log } of [plain, secure]) expect(log.filter(({ level }) => level === "error")).toEqual([]);
});
afterAll(async () => {
  await Promise.all([plain.stop("SIGTERM"), secure.stop("SIGTERM")]);
  certificates.remove();
  rmSync(folder, { recursive: true, force: true });
});

interface Load {
  readonly count: number;
  readonly distinct: number;
  readonly streams: number;
  readonly problems: readonly string[];
}

/** The output that a gRPC client must print: of 9,600 calls three quarters surely answered, of 40 streams 30 whole. */
function expectLoad(output: string): void {
  const { count, distinct, streams, problems } = JSON.parse(output) as Load;
  expect(problems).toEqual([]);
  expect(streams).toBe(30);
  expect(count).toBeGreaterThanOrEqual(7_200 + 30 * 20_000);
  expect(distinct).toBe(count);
}

test("grpc-js", async () => {
  expectLoad(await runCommand(process.execPath, [join(programs, "grpc-js.ts"), plain.address]));
});

test("grpc-go and connect-go", async () => {
  const program = join(folder, "http2-load");
  await runCommand("nice", ["-n", "5", "go", "build", "-o", program, "."], { cwd: join(programs, "go") });
  for (const kind of ["grpc-go", "connect-go"]) expectLoad(await runCommand(program, [kind, plain.address]));
});

test("grpcio", async () => {
  const python = await fetchPythonVenv("client", readFileSync("clients/python/tests/requirements.txt", "utf8"));
  const env = { PYTHONPATH: resolve("clients/python/src"), PYTHONDONTWRITEBYTECODE: "1" };
  expectLoad(await runCommand(python, [join(programs, "grpcio_load.py"), plain.address], { env }));
});

test("grpc-java", async () => {
  const { classpath } = await compiledTests();
  const program = [join(programs, "GrpcJavaLoad.java"), plain.address];
  expectLoad(await runCommand("java", ["-XX:TieredStopAtLevel=1", "-cp", classpath, ...program]));
});

const nextIdPath = "/snowlane.v1.IdService/NextId";
const json = ["-H", "content-type: application/json"];

/** The statuses of nghttp's responses. */
async function nghttp(path: string, ...args: readonly string[]): Promise<readonly string[]> {
  const { path: h2load, env } = await findTool("h2load");
  const command = join(h2load, "..", "nghttp");
  const output = await runCommand(command, ["--verbose", "--null-out", ...args, plain.url + path], { env });
  return [...output.matchAll(/:status: (\d+)/g)].map(([, status = ""]) => status);
}

const times = (count: number, status: string): readonly string[] => Array.from({ length: count }, () => status);

test("nghttp: streams by the hundred, padding, small windows, uploads", async () => {
  const many = ["--multiply", "300", "--data", empty, ...json];
  expect(await nghttp(nextIdPath, ...many)).toEqual(times(300, "200"));
  expect(await nghttp(nextIdPath, ...many, "--padding", "200")).toEqual(times(300, "200"));
  const stream = ["--data", batch, "-H", "content-type: application/connect+json", "--multiply", "20"];
  const narrow = ["--window-bits", "10", "--connection-window-bits", "12"];
  expect(await nghttp("/snowlane.v1.IdService/BatchNextIds", ...stream, ...narrow)).toEqual(times(20, "200"));
  expect(await nghttp(nextIdPath, "--multiply", "30", "--data", big, ...json)).toEqual(times(30, "429"));
});

test("curl: 300 calls, of which 50 at once", async () => {
  // Over TLS, because in cleartext the curl of Debian 12 cannot use a connection twice, whatever server it calls.
  const parallel = ["--parallel", "--parallel-max", "50", "--http2", "--cacert", certificates.caFile];
  const args = ["--silent", ...parallel, ...json, "--write-out", "\n%{http_code} %{http_version}\n", "--data", "{}"];
  const answered = await runCommand("curl", [...args, `${secure.url.replace("http:", "https:")}${nextIdPath}?[1-300]`]);
  expect(answered.match(/^200 2$/gm)).toHaveLength(300);
  expect(new Set(answered.match(/"id":"\d+"/g)).size).toBe(300);
});

const parseQuery = "connect=v1&encoding=json&message=%7B%22id%22%3A%221%22%7D";

/** The facts that a browser reports of a request; Node's types do not have them. */
interface ResourceTiming {
  readonly nextHopProtocol: string;
}

/** Runs inside of a page. */
async function loadByFetch(): Promise<Readonly<Record<string, unknown>>> {
  const headers = { "content-type": "application/json" };
  const service = "/snowlane.v1.IdService";
  const ask = async (signal?: AbortSignal): Promise<string> => {
    const options = { method: "POST", headers, body: "{}", ...(signal === undefined ? {} : { signal }) };
    const answer = (await (await fetch(`${service}/NextId`, options)).json()) as { readonly id: string };
    return answer.id;
  };
  const cancelled = Array.from({ length: 100 }, async (_, index) => {
    const abort = new AbortController();
    setTimeout(() => abort.abort(), index % 4);
    return await ask(abort.signal).catch((error: Error) => error.name);
  });
  const uploads = Array.from({ length: 20 }, async () => {
    const options = { method: "POST", headers, body: " ".repeat(300_000) };
    return (await fetch(`${service}/NextId`, options)).status;
  });
  const message = new TextEncoder().encode('{"count":"200000"}');
  const envelope = Uint8Array.of(0, 0, 0, 0, message.length, ...message);
  const streams = Array.from({ length: 20 }, async (_, index) => {
    const options = { method: "POST", headers: { "content-type": "application/connect+json" }, body: envelope };
    const reader = (await fetch(`${service}/BatchNextIds`, options)).body!.getReader();
    let bytes = 0;
    for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read()) {
      bytes += chunk.value.length;
      if (index % 2 === 0) {
        await reader.cancel();
        break;
      }
    }
    return bytes;
  });
  const answered = await Promise.all(Array.from({ length: 300 }, () => ask()));
  const entries = performance.getEntriesByType("resource") as unknown as readonly ResourceTiming[];
  return {
    distinct: new Set(answered).size,
    cancelled: (await Promise.all(cancelled)).filter((end) => !/^\d+$/.test(end) && end !== "AbortError"),
    refused: (await Promise.all(uploads)).filter((status) => status === 429).length,
    whole: (await Promise.all(streams)).filter((bytes) => bytes > 200_000 * 20).length,
    protocols: [...new Set(entries.map(({ nextHopProtocol }) => nextHopProtocol))].filter((name) => name !== ""),
  };
}

test("Chromium: fetches over TLS, aborted ones, uploads, streams that are left", async () => {
  const { path, env } = await findTool("chromium");
  const browser = await chromium.launch({
    executablePath: path,
    env: { ...process.env, ...env },
    args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-background-networking", "--disable-sync"],
  });
  try {
    const page = await browser.newPage({ ignoreHTTPSErrors: true });
    // Any answer will do that a browser shows: its origin is what is wanted.
    await page.goto(`${secure.url.replace("http:", "https:")}/snowlane.v1.IdService/Parse?${parseQuery}`);
    expect(await page.evaluate(loadByFetch)).toEqual({
      distinct: 300,
      cancelled: [],
      refused: 20,
      whole: 10,
      protocols: ["h2"],
    });
  } finally {
    await browser.close();
  }
});
