import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { runCommand } from "../processes/run-command.ts";
import { fetchOnce } from "./user-cache.ts";

const version = "1.34.4";

const main = `package main

import (
	"os"

	"k8s.io/component-base/cli"
	"k8s.io/kubernetes/cmd/kube-apiserver/app"
)

func main() {
	os.Exit(cli.Run(app.NewAPIServerCommand()))
}
`;

/**
 * Builds kube-apiserver from the Go module of Kubernetes into the cache; returns its path. Takes six minutes on two
 * idle cores the first time.
 *
 * `go install` refuses that module, for it replaces its parts by folders beside it: here each is replaced by the module
 * of that name, which the Go checksum database holds to its content.
 */
export async function fetchKubeApiserver(): Promise<{ readonly path: string; readonly version: string }> {
  const folder = await fetchOnce(`kube-apiserver-v${version}`, build);
  return { path: join(folder, "kube-apiserver"), version };
}

/** Fetches the module of Kubernetes; returns its description of the whole API, as OpenAPI 2. */
export async function fetchKubernetesApi(): Promise<string> {
  const options = { env: { GOFLAGS: "-mod=mod" } };
  const described = await runCommand("go", ["mod", "download", "-json", `k8s.io/kubernetes@v${version}`], options);
  const { Dir } = JSON.parse(described) as { readonly Dir: string };
  return join(Dir, "api/openapi-spec/swagger.json");
}

async function build(folder: string): Promise<void> {
  const source = join(folder, "source");
  await runCommand("mkdir", ["-p", source]);
  const options = { cwd: source, env: { GOFLAGS: "-mod=mod", CGO_ENABLED: "0" } };
  const described = await runCommand("go", ["mod", "download", "-json", `k8s.io/kubernetes@v${version}`], options);
  const { GoMod } = JSON.parse(described) as { readonly GoMod: string };
  const parts = [...readFileSync(GoMod, "utf8").matchAll(/^\s*(k8s\.io\/\S+) => \.\/staging\//gm)].map(
    ([, name]) => name,
  );
  const replaces = parts.map((name) => `replace ${name} => ${name} v0${version.slice(1)}\n`);
  writeFileSync(
    join(source, "go.mod"),
    `module apiserver\n\ngo 1.24\n\nrequire k8s.io/kubernetes v${version}\n\n${replaces.join("")}`,
  );
  writeFileSync(join(source, "main.go"), main);
  await runCommand("go", ["mod", "tidy"], options);
  const flags = `-s -w -X k8s.io/component-base/version.gitVersion=v${version}`;
  const target = join(folder, "kube-apiserver");
  await runCommand("nice", ["-n", "10", "go", "build", "-trimpath", "-ldflags", flags, "-o", target, "."], options);
}
