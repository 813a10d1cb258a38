import { basename, join } from "node:path";
import { runCommand } from "../processes/run-command.ts";
import { fetchOnce } from "./user-cache.ts";

/** A program that `go install` builds. The Go checksum database holds the version to its content. */
export interface GoProgram {
  /** Import path of the program, for example `github.com/fullstorydev/grpcurl/cmd/grpcurl`. */
  readonly package: string;
  /** For example `v1.9.4`; never `latest`. */
  readonly version: string;
}

/** Builds a Go program into the cache with the Go of this machine; returns its path. Takes minutes the first time. */
export async function fetchGoProgram(program: GoProgram): Promise<string> {
  const name = basename(program.package);
  const folder = await fetchOnce(`go-${name}-${program.version}`, async (folder) => {
    await runCommand("nice", ["-n", "10", "go", "install", `${program.package}@${program.version}`], {
      env: { GOBIN: folder, GOFLAGS: "-mod=mod", CGO_ENABLED: "0" },
    });
  });
  return join(folder, name);
}
