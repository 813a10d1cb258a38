import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join, resolve } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { fetchPythonVenv } from "../support/fetch/python-venv.ts";
import { cacheFolder } from "../support/fetch/user-cache.ts";
import { findTool } from "../support/fetch/tools.ts";
import { makeBareClone, pathOfReader, runReadmeBlock } from "../support/processes/bare-clone.ts";
import { runCommand } from "../support/processes/run-command.ts";
import { type SnowlaneProcess, startSnowlane } from "../support/processes/snowlane-process.ts";
import { expectSampleLines, makeSampleSequences, sampleNames } from "./sample-lines.ts";

const folder = resolve("clients/python");
const project = mkdtempSync(join(tmpdir(), "snowlane-python-"));
let server: SnowlaneProcess;
let python: string;

beforeAll(async () => {
  await runCommand("python3", ["--version"]).catch((cause: unknown) => {
    throw new Error("The tests of the Python client need Python 3.10 or later: install python3.", { cause });
  });
  python = await fetchPythonVenv("client", readFileSync(`${folder}/tests/requirements.txt`, "utf8"));
  server = await startSnowlane({ args: ["--store", `sqlite:${join(project, "snowlane.db")}`] });
  await makeSampleSequences(server.url);
});

afterAll(async () => {
  await server.stop("SIGTERM");
  rmSync(project, { recursive: true, force: true });
});

const run = (args: readonly string[], more: NodeJS.ProcessEnv = {}): Promise<string> =>
  runCommand(python, args, {
    cwd: folder,
    env: { ...more, PYTHONPATH: "src", PYTHONDONTWRITEBYTECODE: "1", SNOWLANE_URL: server.url },
  });

test("its own tests hold", async () => {
  // They make certificates.
  const openssl = await findTool("openssl");
  await run(["-m", "pytest"], { ...openssl.env, OPENSSL: openssl.path });
});

test("ruff and mypy find nothing", async () => {
  const requirements = readFileSync(`${folder}/tests/checkers-requirements.txt`, "utf8");
  const checkers = dirname(await fetchPythonVenv("checkers", requirements));
  const inFolder = { cwd: folder };
  await runCommand(join(checkers, "ruff"), ["check", "--quiet", "--no-cache", "."], inFolder);
  await runCommand(join(checkers, "ruff"), ["format", "--quiet", "--no-cache", "--diff", "."], inFolder);
  // With what the client is used with: numpy has types, and what has none counts as untyped.
  const cache = `--cache-dir=${join(cacheFolder(), "mypy")}`;
  await runCommand(join(checkers, "mypy"), [cache, "--python-executable", python], inFolder);
});

test.each(sampleNames)("the sample %s", async (name) => {
  expectSampleLines(name, await run([`samples/${name}.py`]));
});

test("stubs that a user generates work beside the package, of these protos and of later ones", async () => {
  const compiler = await fetchPythonVenv("stubs", readFileSync("tools/python/requirements.txt", "utf8"));
  for (const isLater of [false, true]) {
    const [protos, stubs] = [join(project, `protos-${isLater}`), join(project, `stubs-${isLater}`)];
    cpSync("proto", protos, { recursive: true });
    mkdirSync(stubs);
    const path = join(protos, "snowlane/v1/id_service.proto");
    const text = readFileSync(path, "utf8");
    const later = text.replace("message NextIdRequest {", "message NextIdRequest {\n  string later_field = 1000;");
    expect(later).not.toBe(text);
    if (isLater) writeFileSync(path, later);
    const outputs = [`--python_out=${stubs}`, `--grpc_python_out=${stubs}`];
    const names = readdirSync(join(protos, "snowlane/v1")).map((name) => `snowlane/v1/${name}`);
    await runCommand(compiler, ["-m", "grpc_tools.protoc", `--proto_path=${protos}`, ...outputs, ...names]);
    for (const program of [userOfStubs, userOfStubs.split("\n").toReversed().join("\n")]) {
      const code = `${program}\n${useOfBoth}`;
      const env = { PYTHONPATH: `src:${stubs}`, PYTHONDONTWRITEBYTECODE: "1", SNOWLANE_URL: server.url };
      expect(await runCommand(python, ["-c", code], { cwd: folder, env })).toBe(
        isLater ? "True True\n" : "True False\n",
      );
    }
  }
});

/** The imports of a user of both, who may write them in either order. */
const userOfStubs = `from snowlane import IdClient
from snowlane.v1 import admin_service_pb2, error_reason_pb2, id_service_pb2, id_service_pb2_grpc`;

const useOfBoth = `import os, grpc
url = os.environ["SNOWLANE_URL"]
with IdClient(url) as client, grpc.insecure_channel(url.removeprefix("http://")) as channel:
    first = client.next_id()
    second = id_service_pb2_grpc.IdServiceStub(channel).NextId(id_service_pb2.NextIdRequest()).id
    print(first < second < client.prefetch().next_id(), hasattr(id_service_pb2.NextIdRequest(), "later_field"))
`;

test("five lines in an empty environment give an ID", async () => {
  const lines = readFileSync(join(folder, "samples", "quickstart.py"), "utf8").trim();
  expect(lines.split("\n").length).toBeLessThanOrEqual(5);
  writeFileSync(join(project, "quickstart.py"), lines.replace("IdClient()", `IdClient("${server.url}")`));
  const [clone, venv] = [join(project, "clone"), join(project, "venv")];
  await makeBareClone(clone);
  await runCommand("python3", ["-m", "venv", venv]);
  const activated = { cwd: clone, env: { PATH: [join(venv, "bin"), pathOfReader()].join(delimiter) } };
  await runReadmeBlock("clients/python/README.md", 0, activated);
  const fresh = join(venv, "bin", "python");
  expect(await runCommand(fresh, ["quickstart.py"], { cwd: project })).toMatch(/^\d{18,19}\n$/);
  // The lines for stubs of the user's own. Those of the sequences, between, are for a server of the user's.
  await runReadmeBlock("clients/python/README.md", 2, activated);
});
