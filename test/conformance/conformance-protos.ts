import { createFileRegistry, type DescMessage, type DescService, fromBinary, type Registry } from "@bufbuild/protobuf";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fetchOnce } from "../support/fetch/user-cache.ts";
import { runCommand } from "../support/processes/run-command.ts";

/** Equal to the runner's in test/support/fetch/tools.ts. */
const version = "v1.0.6";

/** Fetches the protos of Connect's conformance suite, compiles them, and returns the path of the descriptors. */
export async function fetchConformanceDescriptors(): Promise<string> {
  const folder = await fetchOnce(`conformance-descriptors-${version}`, async (folder) => {
    const module = await runCommand("go", ["mod", "download", "-json", `connectrpc.com/conformance@${version}`]);
    const { Dir } = JSON.parse(module) as { readonly Dir: string };
    const buf = join(import.meta.dirname, "../../node_modules/.bin/buf");
    await runCommand(buf, ["build", join(Dir, "proto"), "-o", join(folder, "conformance.binpb")], { cwd: folder });
  });
  return join(folder, "conformance.binpb");
}

/** The descriptors by name, without their package. */
export interface ConformanceProtos {
  readonly registry: Registry;
  readonly service: DescService;
  readonly message: (name: string) => DescMessage;
}

/** Reads what {@link fetchConformanceDescriptors} wrote. */
export function readConformanceProtos(path: string): ConformanceProtos {
  const registry = createFileRegistry(fromBinary(FileDescriptorSetSchema, readFileSync(path)));
  const service = registry.getService("connectrpc.conformance.v1.ConformanceService");
  if (service === undefined) throw new Error(`${path} does not hold the conformance service`);
  return {
    registry,
    service,
    message: (name) => {
      const message = registry.getMessage(`connectrpc.conformance.v1.${name}`);
      if (message === undefined) throw new Error(`${path} does not hold ${name}`);
      return message;
    },
  };
}
