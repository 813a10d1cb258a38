import { Code } from "@connectrpc/connect";
import { mkdtempSync, readFileSync, rmSync, writeFileSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type ErrorReason, errorReasons } from "../../src/errors.ts";
import { codeOfReason } from "../../src/service/connect-error.ts";
import { findRepeatedId, readIdFiles } from "../support/processes/id-files.ts";
import { faultError, ScriptedIdServer, type ScriptedFault } from "../support/processes/scripted-id-server.ts";
import { tokenOf, writePrincipals } from "../support/processes/principals-file.ts";
import { sequencesReady } from "../support/processes/sequences-ready.ts";
import { type SnowlaneProcess, startSnowlane } from "../support/processes/snowlane-process.ts";
import { TcpProxy } from "../support/processes/tcp-proxy.ts";
import { buildClientPrograms, type ClientProgram, errorsOf, type IssueResult } from "./client-programs.ts";
import { readTakenIds } from "../clients/conformance/taken-ids.ts";
import { sized } from "../support/worlds/scale.ts";
import { portOf, runOutageTrial } from "./outage-trial.ts";
import { runKillTrial } from "./sequence-kills.ts";
import { expectSequenceCalls, sequenceCallers } from "./sequence-trial.ts";
import { callUntilRefused, outcomesOfLast } from "./two-deployments.ts";

const folder = mkdtempSync(join(tmpdir(), "snowlane-interop-"));
const store = `sqlite:${join(folder, "snowlane.db")}`;
/** IDs that all clients take from one server at once. */
const idCount = sized(1_000_000, 10_000_000);
let programs: readonly ClientProgram[];

beforeAll(async () => {
  programs = await buildClientPrograms(folder);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const startServer = (): Promise<SnowlaneProcess> => startSnowlane({ args: ["--store", store] });

/** Runs `issue` in every client at once, and holds what they wrote to the promise. */
async function issueEverywhere(
  name: string,
  keysOf: (program: ClientProgram, index: number) => Readonly<Record<string, string | number>>,
): Promise<{ readonly results: readonly IssueResult[]; readonly ids: BigUint64Array }> {
  const files = programs.map(({ language }) => join(folder, `${name}-${language}.ids`));
  const keys = programs.map((program, index) => ({ callers: 64, ...keysOf(program, index), out: files[index] ?? "" }));
  const results = await Promise.all(
    programs.map((program, index) => program.run<IssueResult>(["issue", keys[index] ?? {}])),
  );
  for (const [index, file] of files.entries()) {
    expect(readFileSync(file).length / 8, programs[index]?.language).toBe(results[index]?.count);
  }
  const ids = readIdFiles(files);
  expect(findRepeatedId(ids)).toBeUndefined();
  return { results, ids };
}

describe("one server, every client at once", () => {
  test(`${idCount} IDs, none twice, and every client reads them alike`, async () => {
    const server = await startServer();
    try {
      const count = Math.ceil(idCount / programs.length);
      const { ids, results } = await issueEverywhere("load", () => ({
        endpoints: server.url,
        mode: "buffer",
        count,
        callers: 1_000,
        timeout_ms: 60_000,
      }));
      expect(ids.length).toBeGreaterThanOrEqual(idCount);
      expect(results.map(({ failures }) => failures)).toEqual(results.map(() => 0));
      await expectReadAlike(ids);
      expectPlantedRepeatFound(ids);
    } finally {
      await server.stop("SIGTERM");
    }
  });

  test("every kind of call at once", async () => {
    const server = await startServer();
    const modes = ["single", "batch", "stream", "buffer"];
    try {
      for (const round of modes.keys()) {
        await issueEverywhere(`modes-${round}`, (_, index) => {
          const mode = modes[(index + round) % modes.length] ?? "";
          return {
            endpoints: server.url,
            mode,
            count: mode === "single" ? 2_000 : sized(50_000, 200_000),
            callers: 8,
            timeout_ms: 60_000,
          };
        });
      }
    } finally {
      await server.stop("SIGTERM");
    }
  });
});

/** Takes 10,000 of the IDs and lets every client read them. */
async function expectReadAlike(ids: BigUint64Array): Promise<void> {
  const sample = Buffer.alloc(80_000);
  const step = Math.floor(ids.length / 10_000);
  for (let index = 0; index < 10_000; index++) sample.writeBigUInt64BE(ids[index * step] ?? 0n, index * 8);
  const input = join(folder, "sample.ids");
  writeFileSync(input, sample);
  const outputs: string[] = [];
  for (const program of programs) {
    const out = join(folder, `sample-${program.language}.txt`);
    expect(await program.run(["parse", { in: input, out }])).toEqual({ count: 10_000 });
    outputs.push(readFileSync(out, "utf8"));
  }
  expect(outputs[0]?.split("\n")).toHaveLength(10_001);
  expect(outputs[0]?.slice(0, outputs[0].indexOf("\n"))).toMatch(/ order_[1-9A-HJ-NP-Za-km-z]{11}$/);
  for (const [index, output] of outputs.entries()) expect(output === outputs[0], programs[index]?.language).toBe(true);
}

/** The checker of the checker. */
function expectPlantedRepeatFound(ids: BigUint64Array): void {
  const planted = ids[Math.floor(ids.length / 8)] ?? 0n;
  ids[ids.length - 1] = planted;
  expect(findRepeatedId(ids)).toBe(planted);
}

describe("faults", () => {
  test("a server that is killed and started again, six times: no ID twice", async () => {
    let server = await startServer();
    const proxy = await TcpProxy.start(portOf(server));
    const done = new AbortController();
    const killing = (async () => {
      for (let round = 0; round < 6 && !done.signal.aborted; round++) {
        await sleep(400);
        await server.stop("SIGKILL");
        proxy.cut();
        server = await startServer();
        proxy.targetPort = portOf(server);
      }
    })();
    const modes = ["buffer", "stream", "batch", "single"];
    try {
      await issueEverywhere("killed", (_, index) => {
        const mode = modes[index % modes.length] ?? "";
        const endpoints = `http://127.0.0.1:${proxy.port}`;
        return { endpoints, mode, count: mode === "single" ? 5_000 : 3_000_000, callers: 16, timeout_ms: 2_000 };
      });
    } finally {
      done.abort();
      await killing;
      await proxy.stop();
      await server.stop("SIGTERM");
    }
  });

  test("two servers, of which one is killed: the clients go on with the other", async () => {
    const [first, second] = await Promise.all([startServer(), startServer()]);
    const killing = sleep(300).then(() => first.stop("SIGKILL"));
    try {
      const { results } = await issueEverywhere("failover", () => ({
        endpoints: `${first.url},${second.url}`,
        mode: "buffer",
        count: 1_000_000,
        timeout_ms: 60_000,
      }));
      expect(results.map(({ failures }) => failures)).toEqual(results.map(() => 0));
    } finally {
      await killing;
      await second.stop("SIGTERM");
    }
  });

  test("streams that are cut every 150 ms: no ID twice, as many as were asked for", async () => {
    const server = await startServer();
    const proxy = await TcpProxy.start(portOf(server));
    const cutting = setInterval(() => proxy.cut(), 150);
    try {
      await issueEverywhere("cut", () => ({
        endpoints: `http://127.0.0.1:${proxy.port}`,
        mode: "stream",
        count: 1_000_000,
        callers: 4,
      }));
    } finally {
      clearInterval(cutting);
      await proxy.stop();
      await server.stop("SIGTERM");
    }
  });

  test("a server that hangs longer than stock may live, three times: no ID twice", async () => {
    const server = await startServer();
    const hanging = (async () => {
      for (let round = 0; round < 3; round++) {
        await sleep(300);
        server.child.kill("SIGSTOP");
        await sleep(600);
        server.child.kill("SIGCONT");
      }
    })();
    try {
      await issueEverywhere("stale", () => ({
        endpoints: server.url,
        mode: "buffer",
        count: 1_000_000,
        callers: 1_000,
        max_age_ms: 100,
        timeout_ms: 10_000,
      }));
    } finally {
      await hanging;
      await server.stop("SIGTERM");
    }
  });
});

test("all servers are dead for half a minute, and 1,000 IDs/s go on in every client", async () => {
  // Ten minutes at 1/20 scale; the stock for 40 s is 90 % full after 70 s.
  const [perSecond, seconds] = [1_000, { before: 70, dead: 30, after: 15 }];
  const results = await runOutageTrial({ programs, folder, startServer, perSecond, seconds });
  for (const { language, count, failures, waits } of results) {
    expect({ language, count, failures }).toEqual({ language, count: perSecond * 115, failures: 0 });
    expect(waits, language).toBe(0);
  }
  const taken = results.flatMap(({ files }) => files.flatMap((file) => readTakenIds(file).map(({ id }) => id)));
  expect(findRepeatedId(BigUint64Array.from(taken))).toBeUndefined();
});

test("six processes of each client over two deployments all end with DEPLOYMENT_MISMATCH, and no ID comes twice", async () => {
  const stores = ["a", "b"].map((name) => `sqlite:${join(folder, `deployment-${name}.db`)}`);
  // Of one worker ID, so that clients which mix the two do get equal IDs.
  const worker = ["--datacenter-id", "1", "--worker-id", "1"];
  const servers = await Promise.all(stores.map((url) => startSnowlane({ args: ["--store", url, ...worker] })));
  try {
    const urls = servers.map(({ url }) => url);
    for (const program of programs) {
      const results = await Promise.all(
        Array.from({ length: 6 }, (_, index) =>
          callUntilRefused(program, index < 3 ? urls : urls.toReversed(), index % 2 === 1),
        ),
      );
      expect(results.map(outcomesOfLast), program.language).toEqual(results.map(() => ["DEPLOYMENT_MISMATCH"]));
      const ids = results.flat().flatMap(({ id }) => id ?? []);
      expect(new Set(ids).size, program.language).toBe(ids.length);
    }
    // Either of the two alone gives IDs.
    for (const url of urls) {
      const errors = await errorsOf(programs[0]!, { endpoints: url, count: 5 });
      expect(errors.filter((error) => error !== null)).toEqual([]);
    }
  } finally {
    await Promise.all(servers.map((server) => server.stop("SIGTERM")));
  }
});

test("a quota of the real server is waited for in every client, by every kind of call", async () => {
  const perSecond = 200;
  const modes = ["single", "batch", "stream", "buffer"];
  const names = programs.flatMap(({ language }) => modes.map((mode) => `${language}-${mode}`));
  const principals = names.map((name) => ({ name, permissions: ["ids"], idsPerSecond: perSecond }));
  const refused = programs.map(({ language }) => ({ name: language, permissions: ["ids"], idsPerSecond: 1 }));
  const file = join(folder, "principals.json");
  writePrincipals(file, [...principals, ...refused]);
  const server = await startSnowlane({ args: ["--store", store, "--principals", file] });
  try {
    for (const mode of modes) {
      const keysOf = ({ language }: ClientProgram) => {
        const token = tokenOf(`${language}-${mode}`);
        return { endpoints: server.url, mode, token, count: 2 * perSecond, callers: 1, timeout_ms: 60_000 };
      };
      const { results } = await issueEverywhere(`quota-${mode}`, keysOf);
      expect({ mode, reasons: results.map(({ reasons }) => reasons) }).toEqual({
        mode,
        reasons: results.map(() => ({})),
      });
    }
    const refusals = programs.map(async (program) => {
      const { language } = program;
      const errors = await errorsOf(program, { endpoints: server.url, token: tokenOf(language), count: 40 });
      const found = errors.filter((error) => error !== null);
      expect([language, errors[0], found.length > 0]).toEqual([language, null, true]);
      for (const { retryAfterMs, ...error } of found) {
        const metadata = { principal: language, ids_per_second: "1" };
        expect(error, language).toEqual({ reason: "QUOTA_EXCEEDED", code: "RESOURCE_EXHAUSTED", metadata });
        expect(retryAfterMs, language).toBeGreaterThan(0);
        expect(retryAfterMs, language).toBeLessThanOrEqual(1_000);
      }
    });
    await Promise.all(refusals);
  } finally {
    await server.stop("SIGTERM");
  }
});

test("no client gets an ID by a wrong token, by none, or without the permission, and each says why", async () => {
  const file = join(folder, "permissions.json");
  writePrincipals(file, [{ name: "observer", permissions: ["observe"] }]);
  const server = await startSnowlane({ args: ["--store", store, "--principals", file] });
  const unknown = { reason: "MISSING_CREDENTIALS", code: "UNAUTHENTICATED", metadata: {}, retryAfterMs: null };
  const method = "snowlane.v1.IdService/NextId";
  const metadata = { method, permission: "ids" };
  const denied = { reason: "METHOD_DENIED", code: "PERMISSION_DENIED", metadata, retryAfterMs: null };
  try {
    const answers = programs.map(async (program) => {
      const keys = { endpoints: server.url, count: 2 };
      const found = {
        none: await errorsOf(program, keys),
        wrong: await errorsOf(program, { ...keys, token: tokenOf("wrong") }),
        observer: await errorsOf(program, { ...keys, token: tokenOf("observer") }),
      };
      const expected = { none: [unknown, unknown], wrong: [unknown, unknown], observer: [denied, denied] };
      expect([program.language, found]).toEqual([program.language, expected]);
    });
    await Promise.all(answers);
  } finally {
    await server.stop("SIGTERM");
  }
});

test("FIELD F11 (d): every client gets IDs over a Unix socket, and says where none is listened on", async () => {
  const path = join(folder, "a socket.sock");
  const server = await startSnowlane({ listen: `unix:${path}`, args: ["--store", store] });
  try {
    for (const program of programs) {
      // Spaces end an argument of the interop programs' lines, so the path without one is a link.
      const link = join(folder, `${program.language}.sock`);
      symlinkSync(path, link);
      const errors = await errorsOf(program, { endpoints: `unix:${link}`, count: 20 });
      expect([program.language, errors.filter((error) => error !== null)]).toEqual([program.language, []]);
      const [absent] = await errorsOf(program, { endpoints: `unix:${link}.none` });
      expect([program.language, absent]).toMatchObject([
        program.language,
        { reason: "UNREACHABLE", metadata: { connection: "refused" } },
      ]);
    }
  } finally {
    await server.stop("SIGTERM");
  }
});

describe("sequences of one server", () => {
  test("every method and every mistake, in every client alike", async () => {
    const server = await startServer();
    try {
      await sequencesReady(server.url);
      const callers = sequenceCallers(programs);
      // One after the other: the first call of six programs at once runs out on a machine of one busy core.
      for (const caller of callers) await expectSequenceCalls(caller, server.url);
      // A server that hangs.
      server.child.kill("SIGSTOP");
      const late = await Promise.all(callers.map(({ run }) => run(server.url, ["late:orders"])));
      server.child.kill("SIGCONT");
      const expired = { reason: "DEADLINE_EXCEEDED", code: "DEADLINE_EXCEEDED", metadata: {} };
      expect(late).toEqual(callers.map(() => [expired]));
    } finally {
      server.child.kill("SIGCONT");
      await server.stop("SIGTERM");
    }
  });

  test("one that the command line made serves Go, Python and curl at once, and repeats nothing under kill -9", async () => {
    const callers = programs.filter(({ language }) => language === "go" || language === "python");
    const { kills, ofPrograms, ofCurl } = await runKillTrial({ programs: callers, folder, store, startServer });
    expect(kills).toBe(2);
    expect(ofPrograms.length).toBeGreaterThanOrEqual(100_000);
    expect(ofCurl.length).toBeGreaterThan(200);
    expect(findRepeatedId(BigUint64Array.from([...ofPrograms, ...ofCurl]))).toBeUndefined();
  });
});

describe("errors", () => {
  test("every reason arrives in every client as its typed error", async () => {
    const faults = [...errorReasons.map(faultOf), { code: Code.Unimplemented }, { code: Code.Unavailable }];
    const expected = faults.map((fault) => expectedError(fault));
    for (const program of programs) {
      const server = await new ScriptedIdServer().start();
      // After each fault an ID, so that the client takes the endpoint for up again.
      const script = faults.flatMap((fault) => [fault, undefined]);
      server.handlers = {
        nextId: () => {
          const fault = script.shift();
          if (fault !== undefined) throw faultError(fault);
          return { id: 1n };
        },
      };
      const count = script.length;
      const errors = await errorsOf(program, { endpoints: server.url, count });
      await server.kill();
      const found = errors.filter((error) => error !== null);
      expect(
        errors.filter((_, index) => index % 2 === 1).every((error) => error === null),
        program.language,
      ).toBe(true);
      expect(found, program.language).toEqual(expected);
    }
  });
});

/** The status that a server gives to a reason; one that only ends a start, if it ever came over the wire. */
function faultOf(reason: ErrorReason): ScriptedFault {
  const codes: Partial<Record<ErrorReason, Code>> = codeOfReason;
  const code = codes[reason] ?? Code.FailedPrecondition;
  const metadata = { some_key_ms: "12", reason_again: reason };
  const isCurable = code === Code.Unavailable || code === Code.ResourceExhausted;
  return isCurable ? { reason, code, retryAfterMs: 20, metadata } : { reason, code, metadata };
}

const codeNames: Readonly<Partial<Record<Code, string>>> = {
  [Code.Unavailable]: "UNAVAILABLE",
  [Code.ResourceExhausted]: "RESOURCE_EXHAUSTED",
  [Code.Unauthenticated]: "UNAUTHENTICATED",
  [Code.PermissionDenied]: "PERMISSION_DENIED",
  [Code.InvalidArgument]: "INVALID_ARGUMENT",
  [Code.FailedPrecondition]: "FAILED_PRECONDITION",
  [Code.Unimplemented]: "UNIMPLEMENTED",
  [Code.NotFound]: "NOT_FOUND",
  [Code.AlreadyExists]: "ALREADY_EXISTS",
  [Code.Aborted]: "ABORTED",
};

function expectedError({
  reason,
  code,
  retryAfterMs,
  metadata,
}: ScriptedFault): NonNullable<Awaited<ReturnType<typeof errorsOf>>[number]> {
  const ownReason = code === Code.Unavailable ? "UNREACHABLE" : "RPC_FAILED";
  return {
    reason: reason ?? ownReason,
    code: codeNames[code] ?? "",
    metadata: metadata ?? {},
    retryAfterMs: retryAfterMs ?? null,
  };
}
