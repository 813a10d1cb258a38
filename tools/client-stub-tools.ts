import { mkdirSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { readFileSync } from "node:fs";
import { fetchMavenArtifact } from "../test/support/fetch/maven-artifact.ts";
import { fetchPythonVenv } from "../test/support/fetch/python-venv.ts";
import { fetchRustProgram } from "../test/support/fetch/rust-program.ts";
import { runCommand } from "../test/support/processes/run-command.ts";

/**
 * protobuf's compiler: the line whose Java code demands least of users, for protobuf-java 3.25 runs it, which grpc-java
 * itself brings, and so does 4.x. grpc-java's plugin: the last release whose programs the Maven repositories have.
 */
const protoc = "com.google.protobuf:protoc:3.25.9";
const grpcJava = "io.grpc:protoc-gen-grpc-java:1.83.1";

/** prost's plugins, of the line that tonic 0.14 takes. */
const rustPlugins = ["protoc-gen-prost", "protoc-gen-tonic"] as const;
const rustPluginVersion = "0.5.0";

/** SHA-256 of both programs, by the classifier of their platform. */
const digests: Readonly<Record<string, { readonly protoc: string; readonly grpcJava: string }>> = {
  "linux-x86_64": {
    protoc: "277c8548ead748ac3e600d3b860f114d36a1311dff29568cd95115ad65f59e2f",
    grpcJava: "db4044e78391d5a23439143c8147f07ba5877675587b4d48f3b68fbee3893589",
  },
  "linux-aarch_64": {
    protoc: "af54632f4cae96aea2f574fd5e731db6f723507563ab870983f4b66b74507b1c",
    grpcJava: "5af5544369bd8557111abfbed21453bb6fa867bf32a25f2ffe5f72366e705cef",
  },
  "osx-x86_64": {
    protoc: "6b50ae43955d195e5bdd15e03ae93866d3b578d4b44f4867b65300c4a041a37c",
    grpcJava: "372e13b25cb058ea6e3ab6cb54ba1458d5d2bbe1cfdcd37bc57e82b872656e21",
  },
  "osx-aarch_64": {
    protoc: "6db6172ef2ab95972707537c9deb26b024594654232f266d0952ec8e922b02b0",
    grpcJava: "372e13b25cb058ea6e3ab6cb54ba1458d5d2bbe1cfdcd37bc57e82b872656e21",
  },
};

/**
 * Brings what buf.gen.clients.yaml needs beside buf into the user's cache, once: some minutes.
 *
 * @param folder - An empty folder to put programs into under the names that buf looks for.
 * @returns The folders to put in front of PATH.
 * @throws Error that says which tool chain is missing.
 */
export async function fetchClientStubTools(folder: string): Promise<readonly string[]> {
  await needs("go", ["version"], "Go 1.24 or later");
  await needs("mvn", ["--version"], "Java 17 and Maven");
  await needs("python3", ["--version"], "Python 3.10 or later");
  await needs("cargo", ["--version"], "Rust 1.88 or later");
  const platform = `${process.platform === "darwin" ? "osx" : process.platform}-${process.arch === "arm64" ? "aarch_64" : "x86_64"}`;
  const digest = digests[platform];
  if (digest === undefined) throw new Error(`No compiler of protobuf is known for ${platform}.`);
  mkdirSync(folder, { recursive: true });
  const protocPath = await fetchMavenArtifact({ coordinates: `${protoc}:exe:${platform}`, sha256: digest.protoc });
  symlinkSync(protocPath, join(folder, "protoc"));
  const grpcJavaPath = await fetchMavenArtifact({
    coordinates: `${grpcJava}:exe:${platform}`,
    sha256: digest.grpcJava,
  });
  symlinkSync(grpcJavaPath, join(folder, "protoc-gen-grpc-java"));
  for (const name of rustPlugins)
    symlinkSync(await fetchRustProgram({ name, version: rustPluginVersion }), join(folder, name));
  const requirements = readFileSync("tools/python/requirements.txt", "utf8");
  return [folder, dirname(await fetchPythonVenv("stubs", requirements))];
}

async function needs(command: string, args: readonly string[], name: string): Promise<void> {
  try {
    await runCommand(command, args);
  } catch (cause) {
    const message = `The stubs of Go, Java, Python and Rust need ${name}, and ${command} does not run. \`npm run generate typescript\` writes what Node alone can.`;
    throw new Error(message, { cause });
  }
}
