/** The files of deploy/sidecar: a server that the program beside it calls over a Unix socket. */
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { parse } from "yaml";
import { runCommand } from "../support/processes/run-command.ts";
import { temporaryFolder } from "../support/processes/running-server.ts";
import { startSnowlane } from "../support/processes/snowlane-process.ts";

interface Compose {
  readonly services: Readonly<
    Record<
      "ids" | "app",
      {
        readonly environment: Readonly<Record<string, string>>;
        readonly command: readonly string[];
        readonly volumes: readonly string[];
        readonly healthcheck: { readonly test: readonly string[] };
      }
    >
  >;
}
interface Container {
  readonly name: string;
  readonly args: readonly string[];
  readonly env: readonly { readonly name: string; readonly value?: string }[];
  readonly startupProbe: { readonly exec: { readonly command: readonly string[] } };
  readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string }[];
}
interface Pod {
  readonly spec: { readonly initContainers: readonly Container[]; readonly containers: readonly Container[] };
}

const compose = parse(readFileSync("deploy/sidecar/compose.yaml", "utf8")) as Compose;
const pod = parse(readFileSync("deploy/sidecar/pod.yaml", "utf8")) as Pod;
const [sidecar] = pod.spec.initContainers as readonly [Container];
const socket = "unix:/run/ids/snowlane.sock";

test("compose.yaml: the server starts with the file's environment, and the words of app get an ID over the socket", async () => {
  const { ids, app } = compose.services;
  const path = join(temporaryFolder(), "ids.sock");
  expect(ids.environment["SNOWLANE_LISTEN"]).toBe(socket);
  const { SNOWLANE_LISTEN: _listen, SNOWLANE_STORE: _store, ...environment } = ids.environment;
  const args = ["--store", `sqlite:${join(temporaryFolder(), "ids.db")}`];
  const server = await startSnowlane({ listen: `unix:${path}`, args, environment });
  onTestFinished(async () => void (await server.stop("SIGTERM")));
  const words = app.command.map((word) => word.replace("/run/ids/snowlane.sock", path));
  expect(words).toContain(path);
  expect(JSON.parse(await runCommand("curl", ["-sS", ...words]))).toMatchObject({ id: expect.any(String) });
  expect(ids.healthcheck.test.slice(-3)).toEqual(["health", "--server", socket]);
  for (const { volumes } of [ids, app]) expect(volumes).toContain(`ids:${dirname(socket.slice("unix:".length))}`);
});

test("pod.yaml: a sidecar with the environment of compose.yaml, and one folder for both containers", () => {
  const values = Object.fromEntries(sidecar.env.map(({ name, value }) => [name, value]));
  const { SNOWLANE_STORE: _store, ...environment } = compose.services.ids.environment;
  expect(values).toMatchObject(environment);
  expect(sidecar.startupProbe.exec.command.slice(-3)).toEqual(["health", "--server", socket]);
  const mounts = [sidecar, ...pod.spec.containers].map(({ volumeMounts }) => volumeMounts[0]);
  expect(mounts).toEqual([
    { name: "ids", mountPath: "/run/ids" },
    { name: "ids", mountPath: "/run/ids" },
  ]);
});
