import { readFileSync } from "node:fs";
import { join } from "node:path";
import { runCommand } from "../processes/run-command.ts";
import { fetchGoMain } from "./go-main.ts";

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
 * That module replaces its parts by folders beside it: here each is replaced by the module of that name.
 */
export async function fetchKubeApiserver(): Promise<{ readonly path: string; readonly version: string }> {
  const path = await fetchGoMain({
    name: "kube-apiserver",
    module: "k8s.io/kubernetes",
    version: `v${version}`,
    main,
    replaces,
    flags: `-s -w -X k8s.io/component-base/version.gitVersion=v${version}`,
  });
  return { path, version };
}

/** Fetches the module of Kubernetes; returns its description of the whole API, as OpenAPI 2. */
export async function fetchKubernetesApi(): Promise<string> {
  return join((await describeModule()).Dir, "api/openapi-spec/swagger.json");
}

async function replaces(): Promise<string> {
  const { GoMod } = await describeModule();
  const parts = readFileSync(GoMod, "utf8").matchAll(/^\s*(k8s\.io\/\S+) => \.\/staging\//gm);
  return [...parts].map(([, name]) => `replace ${name} => ${name} v0${version.slice(1)}\n`).join("");
}

async function describeModule(): Promise<{ readonly Dir: string; readonly GoMod: string }> {
  const args = ["mod", "download", "-json", `k8s.io/kubernetes@v${version}`];
  return JSON.parse(await runCommand("go", args, { env: { GOFLAGS: "-mod=mod" } }));
}
