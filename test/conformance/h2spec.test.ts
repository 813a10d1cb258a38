/** h2spec, strict: the engine must pass every test; what does not hold is named, with its reason. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { ServerStream } from "../../src/http2/stream.ts";
import type { TlsFiles } from "../../src/server/listen/tls.ts";
import { type Certificates, makeCertificates } from "../support/processes/certificates.ts";
import { findTool } from "../support/fetch/tools.ts";
import { startHttp2TestServer } from "../support/http2/http2-test-server.ts";
import { okBlock } from "../support/http2/http2-wire.ts";
import { startLateServer } from "../support/processes/late-server.ts";
import { runCommand } from "../support/processes/run-command.ts";

const folder = mkdtempSync(join(tmpdir(), "snowlane-h2spec-"));
let certificates: Certificates;
let tls: TlsFiles;

beforeAll(async () => {
  certificates = await makeCertificates();
  const { certFile: certPath, keyFile: keyPath } = certificates.server;
  tls = { certPath, keyPath, clientCaPath: undefined };
});
afterAll(() => {
  certificates.remove();
  rmSync(folder, { recursive: true, force: true });
});

/** Several tests look at the stream while it is open, and those of flow control need a body of five bytes or more. */
async function answerLate(stream: ServerStream): Promise<void> {
  await sleep(20);
  stream.respond(okBlock, "body");
  stream.write(Buffer.from("hello"));
  stream.end();
}

interface Verdicts {
  readonly tests: number;
  readonly skipped: number;
  /** `section: what`, one for each test that failed. */
  readonly failed: readonly string[];
}

async function h2spec(port: number, timeoutSeconds: number, ...more: readonly string[]): Promise<Verdicts> {
  const { path, env } = await findTool("h2spec");
  const report = join(folder, `${port}.xml`);
  const args = ["--strict", "-h", "127.0.0.1", "-p", String(port), "-o", String(timeoutSeconds), "-j", report, ...more];
  // It leaves with 1 where a test failed; which ones is in the report.
  await runCommand(path, args, { env }).catch(() => undefined);
  const xml = readFileSync(report, "utf8");
  const cases = [
    ...xml.matchAll(/<testcase package="([^"]*)" classname="([^"]*)"[^>]*?(?:\/>|>([\s\S]*?)<\/testcase>)/g),
  ];
  return {
    tests: cases.length,
    skipped: cases.filter(([, , , inside]) => inside?.includes("<skipped")).length,
    failed: cases
      .filter(([, , , inside]) => /<failure|<error/.test(inside ?? ""))
      .map(([, where = "", what = ""]) => `${where}: ${what}`),
  };
}

/** How the two tell a preface from an HTTP/1.1 request is by its first bytes, so that a wrong one may be either. */
const onSharedPort = ["http2/3.5: Sends invalid connection preface"];

const none = { tests: 146, skipped: 0, failed: [] };

test("the engine alone passes all 146 strict tests", async () => {
  await using server = await startHttp2TestServer(() => ({
    onData: (stream, _bytes, start, end) => stream.consume(end - start),
    onEnd: (stream) => void answerLate(stream),
  }));
  expect(await h2spec(server.port, 20)).toEqual(none);
  expect(server.faults).toEqual([]);
});

test("the engine passes all 146 over TLS, behind listener and dispatch", async () => {
  await using server = await startLateServer("engine", tls);
  expect(await h2spec(server.port, 20, "--tls", "--insecure")).toEqual(none);
  expect(server.faults).toEqual([]);
});

test("the engine passes all but one on a port that HTTP/1.1 shares", async () => {
  await using server = await startLateServer("engine");
  expect(await h2spec(server.port, 20)).toEqual({ ...none, failed: onSharedPort });
  expect(server.faults).toEqual([]);
});

/**
 * nghttp2 below node:http2 ignores, for a client's sake, what the strict tests want answered; none of it harms another
 * stream. `RFC 9113` lets an endpoint ignore frames on streams that it closed (5.1), and has dropped priorities (5.3).
 */
const onNode = new Set([
  ...onSharedPort,
  "http2/5.1: closed: Sends a DATA frame after sending RST_STREAM frame",
  "http2/5.1: closed: Sends a HEADERS frame after sending RST_STREAM frame",
  "http2/5.1: closed: Sends a DATA frame",
  "http2/5.1: closed: Sends a HEADERS frame",
  "http2/5.1.1: Sends stream identifier that is numerically smaller than previous",
  "http2/5.3.1: Sends PRIORITY frame that depend on itself",
  "http2/6.3: Sends a PRIORITY frame with 0x0 stream identifier",
  "http2/6.7: Sends a PING frame with ACK",
  "http2/6.9.1: Sends multiple WINDOW_UPDATE frames increasing the flow control window to above 2^31-1 on a stream",
]);

test("node:http2 fails ten of them at most, and no others", async () => {
  await using server = await startLateServer("node");
  const { tests, skipped, failed } = await h2spec(server.port, 5);
  expect({ tests, skipped, failed: failed.filter((name) => !onNode.has(name)) }).toEqual(none);
  expect(server.faults).toEqual([]);
});
