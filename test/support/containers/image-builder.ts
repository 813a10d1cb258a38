import {
  chmodSync,
  copyFileSync,
  cpSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { ownVersion } from "../../../tools/versions.ts";
import { fetchDebianPackage } from "../fetch/debian-package.ts";
import { runReadmeBlock } from "../processes/bare-clone.ts";
import { blocksOf } from "../processes/page-blocks.ts";
import { runCommand } from "../processes/run-command.ts";

/** What Node needs of a system: its libraries, and the authorities that TLS trusts. */
const basePackages = [
  {
    name: "libc6",
    version: "2.36-9+deb12u14",
    sha256: "ba4f88f73dbc3ae9055f3c20f4523bfdbaf1ad13ff95e258924f77d20b4fbedf",
  },
  {
    name: "libgcc-s1",
    version: "12.2.0-14+deb12u1",
    sha256: "3016e62cb4b7cd8038822870601f5ed131befe942774d0f745622cc77d8a88f7",
  },
  {
    name: "libstdc++6",
    version: "12.2.0-14+deb12u1",
    sha256: "5cd3171216d4ab0fc911cfe9c35509bf2dd8f47761c43b7f6a4296701551a24d",
  },
  {
    name: "ca-certificates",
    version: "20250419~deb12u2",
    sha256: "b9f76b5271a7ac373fd5e7e1b5b826a71ddd702b42a0d104955ecb1acfffc94b",
  },
];

/** The part of an image's configuration that a container engine reads. */
export interface ImageConfig {
  readonly User: string;
  readonly Env: readonly string[];
  readonly Entrypoint: readonly string[];
  readonly Cmd: readonly string[];
  readonly ExposedPorts: Readonly<Record<string, object>>;
  readonly Healthcheck: { readonly Test: readonly string[] };
  readonly Labels: Readonly<Record<string, string>>;
  readonly StopSignal: string;
}

/** An image of the server, and its files. */
export interface ServerImage {
  readonly name: string;
  readonly config: ImageConfig;
  /** The folder with its files, as a container of it has them. */
  readonly root: string;
}

/** Builds and runs images with buildah, in folders of its own, without a daemon and without a registry. */
export class ImageBuilder {
  readonly folder = mkdtempSync(join(tmpdir(), "snowlane-image-"));

  /** @throws Error with the command that installs buildah, or that says that it needs root. */
  static async start(): Promise<ImageBuilder> {
    if (process.getuid?.() !== 0) throw new Error("Containers without a daemon need root here: run as root.");
    await runCommand("buildah", ["--version"]).catch((cause: unknown) => {
      const install = "apt-get install --no-install-recommends buildah";
      throw new Error(`The tests of the container need buildah. Install it: ${install}`, { cause });
    });
    return new ImageBuilder();
  }

  /** The arguments of a call of buildah, without its name. */
  args(...args: readonly string[]): readonly string[] {
    const [root, run] = [join(this.folder, "storage"), join(this.folder, "run")];
    return ["--root", root, "--runroot", run, "--storage-driver", "vfs", ...args];
  }

  async buildah(...args: readonly string[]): Promise<string> {
    return (await runCommand("buildah", this.args(...args))).trim();
  }

  /** Makes an image that has Node alone, as the base that a registry would give; returns its name. */
  async #makeBase(): Promise<string> {
    const root = join(this.folder, "root");
    for (const wanted of basePackages) {
      const from = await fetchDebianPackage(wanted);
      cpSync(from, root, { recursive: true, verbatimSymlinks: true, filter: (path) => !path.endsWith(".complete") });
    }
    rmSync(join(root, "usr/share/doc"), { recursive: true, force: true });
    for (const folder of ["etc/ssl/certs", "usr/local/bin", "var/lib", "tmp", "proc", "dev"])
      mkdirSync(join(root, folder), { recursive: true });
    const authorities = globSync(join(root, "usr/share/ca-certificates/mozilla/*.crt")).toSorted();
    const bundle = authorities.map((path) => readFileSync(path, "utf8")).join("");
    writeFileSync(join(root, "etc/ssl/certs/ca-certificates.crt"), bundle);
    copyFileSync("node_modules/node/bin/node", join(root, "usr/local/bin/node"));
    await runCommand("chmod", ["1777", join(root, "tmp")]);
    const container = await this.buildah("from", "scratch");
    await this.buildah("add", "--quiet", container, root, "/");
    await this.buildah("commit", "--quiet", container, "localhost/node-base:1");
    rmSync(root, { recursive: true, force: true });
    return "localhost/node-base:1";
  }

  /** Builds the server's image by the line of docs/deploying.md, with the program of this checkout. */
  async buildServer(): Promise<ServerImage> {
    const context = join(this.folder, "context");
    const bundle = join(this.folder, "bundle");
    const release = join(context, "release", ownVersion());
    for (const folder of [release, bundle]) mkdirSync(folder, { recursive: true });
    cpSync("deploy/container", join(context, "deploy/container"), { recursive: true });
    copyFileSync(".dockerignore", join(context, ".dockerignore"));
    await runCommand(process.execPath, ["tools/bundle.mjs", "--with-drivers", bundle]);
    const pack = ["pack", "--ignore-scripts", "--loglevel=error", "--pack-destination", release];
    await runCommand("npm", pack, { cwd: bundle });
    await this.#build(await this.#makeBase(), context);
    const name = `localhost/snowlane:${ownVersion()}`;
    const root = await this.buildah("mount", await this.buildah("from", name));
    return { name, config: await this.#config(name), root };
  }

  /** Runs the line of docs/deploying.md. The `docker` that it finds is buildah, with a base that needs no registry. */
  async #build(base: string, context: string): Promise<void> {
    const page = "docs/deploying.md";
    const line = blocksOf(page, "sh").findIndex((block) => block.startsWith("docker build "));
    const flags = ["--isolation", "chroot", "--format", "docker", "--quiet", "--build-arg", `BASE=${base}`];
    const build = ["buildah", ...this.args("bud", ...flags)].join(" ");
    const programs = join(this.folder, "programs");
    mkdirSync(programs);
    writeFileSync(join(programs, "docker"), `#!/bin/sh\nshift\nexec ${build} "$@"\n`);
    chmodSync(join(programs, "docker"), 0o755);
    const env = { PATH: [programs, process.env["PATH"]].join(delimiter) };
    await runReadmeBlock(page, line, { cwd: context, env });
  }

  async #config(image: string): Promise<ImageConfig> {
    const text = await this.buildah("inspect", "--type", "image", image);
    return (JSON.parse(text) as { readonly Docker: { readonly config: ImageConfig } }).Docker.config;
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}
