/** The files of deploy/container as texts: `npm run all -- release` builds and runs them. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Ajv } from "ajv";
import { validate } from "dockerfile-utils";
import { expect, onTestFinished, test, vi } from "vitest";
import { parse } from "yaml";
import { serverSettings } from "../../src/config/server-settings.ts";
import { environmentName } from "../../src/config/setting.ts";
import { ImageBuilder } from "../support/containers/image-builder.ts";
import { runCli } from "../support/processes/cli-outcome.ts";
import { temporaryFolder } from "../support/processes/running-server.ts";

const dockerfile = readFileSync("deploy/container/Dockerfile", "utf8");
const lines = dockerfile
  .replaceAll(/\\\n/g, "")
  .split("\n")
  .filter((line) => /^[A-Z]/.test(line));
const { devDependencies, version } = JSON.parse(readFileSync("package.json", "utf8")) as {
  readonly devDependencies: Readonly<Record<string, string>>;
  readonly version: string;
};

test("the tests of the image say what they need: root, and buildah by the command that installs it", async () => {
  vi.spyOn(process, "getuid").mockReturnValueOnce(1_000);
  await expect(ImageBuilder.start()).rejects.toThrow(/run as root/);
  vi.spyOn(process, "getuid").mockReturnValueOnce(0);
  vi.stubEnv("PATH", temporaryFolder());
  onTestFinished(() => void vi.unstubAllEnvs());
  await expect(ImageBuilder.start()).rejects.toThrow(/Install it: apt-get install --no-install-recommends buildah$/);
});

test("the lint of Dockerfiles finds nothing, and finds what is wrong", () => {
  expect(validate(dockerfile)).toEqual([]);
  expect(validate(`${dockerfile}\nCMD serve --x\nENTRYPONT []\n`)).not.toEqual([]);
});

test("the Dockerfile runs nothing while it is built, and names a base of the pinned Node", () => {
  const words = lines.map((line) => line.split(" ")[0]);
  expect(words.filter((word) => word === "RUN")).toEqual([]);
  expect(words.filter((word) => word === "FROM")).toHaveLength(1);
  expect(lines).toContain(`ARG BASE=docker.io/library/node:${devDependencies["node"]}-bookworm-slim`);
  expect(lines.filter((line) => line.startsWith("ARG VERSION"))).toEqual([`ARG VERSION=${version}`]);
});

test("it runs as an ordinary user, by commands without a shell, and holds no secret", () => {
  expect(lines.filter((line) => line.startsWith("USER"))).toEqual(["USER 10001:10001"]);
  const commands = lines.filter((line) => /^(ENTRYPOINT|CMD|HEALTHCHECK)/.test(line));
  expect(commands).toHaveLength(3);
  for (const command of commands) expect(command).toMatch(/(ENTRYPOINT|CMD) \["[^$]*"\]$/);
  expect(dockerfile).not.toMatch(/password|token|secret/i);
  const copied = lines.filter((line) => /^(ADD|COPY)/.test(line)).map((line) => line.split(" ").at(-2));
  // biome-ignore lint/suspicious/noTemplateCurlyInString: a variable of the Dockerfile.
  expect(copied).toEqual(["release/${VERSION}/snowlane-with-drivers-${VERSION}.tgz", "deploy/container/state/"]);
  // The engine is sent no other file.
  expect(readFileSync(".dockerignore", "utf8").split("\n").filter(Boolean)).toEqual([
    "*",
    "!release/*/snowlane-with-drivers-*.tgz",
    "!deploy/container/state",
  ]);
});

interface Service {
  readonly image?: string;
  readonly build?: { readonly context: string; readonly dockerfile: string };
  readonly depends_on?: Readonly<Record<string, object>>;
  readonly environment: Readonly<Record<string, string>>;
  readonly ports?: readonly string[];
  readonly volumes: readonly string[];
  readonly command?: readonly string[];
  readonly stop_grace_period?: string;
  readonly read_only?: boolean;
}
const { services } = parse(readFileSync("deploy/container/compose.yaml", "utf8"), { merge: true }) as {
  readonly services: Readonly<Record<string, Service>>;
};
const servers = Object.entries(services).filter(([name]) => name !== "postgres");

/** What the file may say, in the words of the Compose specification: an engine ignores a word that it does not know. */
const strict = (properties: object, more: object = {}): object => ({
  type: "object",
  additionalProperties: false,
  properties,
  ...more,
});
const text = { type: "string" };
const texts = { type: "array", items: text };
const duration = { type: "string", pattern: "^\\d+(ms|s|m)$" };
const service = strict({
  image: text,
  build: strict({ context: text, dockerfile: text }, { required: ["context", "dockerfile"] }),
  depends_on: {
    type: "object",
    additionalProperties: strict({ condition: { enum: ["service_started", "service_healthy"] } }),
  },
  command: texts,
  environment: { type: "object", additionalProperties: text },
  ports: texts,
  volumes: texts,
  read_only: { type: "boolean" },
  cap_drop: texts,
  security_opt: texts,
  stop_grace_period: duration,
  restart: { enum: ["no", "always", "on-failure", "unless-stopped"] },
  healthcheck: strict({ test: texts, interval: duration, timeout: duration, retries: { type: "integer" } }),
});
const compose = new Ajv({ allErrors: true }).compile(
  strict({
    "x-server": service,
    services: { type: "object", additionalProperties: service },
    volumes: { type: "object", additionalProperties: { type: "null" } },
  }),
);

test("compose.yaml has no word that an engine would ignore, and names files, services and volumes that there are", () => {
  const source = readFileSync("deploy/container/compose.yaml", "utf8");
  const read = (yaml: string): unknown => parse(yaml, { merge: true });
  expect([compose(read(source)), compose.errors]).toEqual([true, null]);
  for (const [right, wrong] of [
    ["stop_grace_period: 45s", "stop_grace: 45s"],
    ["restart: unless-stopped", "restart: unlessstopped"],
    ["interval: 2s", "interval: 2"],
  ] as const) {
    expect(source).toContain(right);
    expect(compose(read(source.replace(right, wrong))), wrong).toBe(false);
  }
  const { volumes: named } = read(source) as { readonly volumes: object };
  for (const [name, { build, volumes, depends_on: needed = {} }] of Object.entries(services)) {
    if (build !== undefined) {
      const context = join("deploy/container", build.context);
      expect(join(context, build.dockerfile), name).toBe("deploy/container/Dockerfile");
    }
    for (const other of Object.keys(needed))
      expect(services[other], `${name} needs ${other}`).toHaveProperty("healthcheck");
    for (const volume of volumes) expect(Object.keys(named)).toContain(volume.split(":")[0]);
  }
});

test("compose.yaml has two servers with names and folders of their own, on one store, for this machine alone", () => {
  expect(servers).toHaveLength(2);
  for (const [name, { environment, ports, volumes, stop_grace_period: grace, read_only: isReadOnly }] of servers) {
    expect(environment["SNOWLANE_INSTANCE"]).toBe(name);
    expect(volumes).toEqual([`${name}:/var/lib/snowlane`]);
    expect(ports).toEqual([expect.stringMatching(/^127\.0\.0\.1:\d+:7609$/)]);
    expect(isReadOnly).toBe(true);
    expect(Number.parseInt(grace ?? "", 10) * 1_000).toBeGreaterThan(serverSettings.drainTimeoutMs.fallback);
  }
  expect(new Set(servers.map(([, { environment }]) => environment["SNOWLANE_STORE"])).size).toBe(1);
  expect(services["postgres"]?.image).toMatch(/:\d+\.\d+/);
});

test("the server takes the settings of compose.yaml, and refuses its address without what lets callers in", async () => {
  const known = new Set(Object.values(serverSettings).map((setting) => environmentName(setting)));
  const [, { environment: written, command }] = servers[0]!;
  expect(Object.keys(written).filter((name) => !known.has(name))).toEqual([]);
  const environment = Object.fromEntries(
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a variable of the file.
    Object.entries(written).map(([name, value]) => [name, value.replace("${POSTGRES_PASSWORD}", "a")]),
  );
  const { code, stderr } = await runCli([...command!, "--dry-run"], { environment });
  expect([code, stderr]).toEqual([0, ""]);
  const { SNOWLANE_AUTH: _auth, ...open } = environment;
  const refused = await runCli([...command!, "--dry-run"], { environment: open });
  expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining("--auth")]);
});

test("the password of the database comes from outside compose.yaml", () => {
  const text = readFileSync("deploy/container/compose.yaml", "utf8");
  for (const [, value] of text.matchAll(/PASSWORD: (.*)$/gm)) expect(value).toMatch(/^\$\{POSTGRES_PASSWORD:\?/);
  expect(text).toMatch(/postgres:\/\/snowlane:\$\{POSTGRES_PASSWORD\}@/);
});
