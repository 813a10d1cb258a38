import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type CliOutcome, runCli } from "../support/processes/cli-outcome.ts";
import { temporaryFolder } from "../support/processes/running-server.ts";
import { unshareCommand } from "./faulty-disk.ts";
import { bundledSnowlane } from "../support/processes/server-bundle.ts";

/** Takes an ID from a store in a file, where `source` is mounted at `target` for this process alone. */
async function takeWhereMounted(source: string, target: string, file: string): Promise<CliOutcome> {
  const mount = ["sh", "-c", `mount --bind ${source} ${target} && exec "$@"`, "sh"];
  return runCli(["next", "--store", `sqlite:${file}`], {
    program: [...unshareCommand(), ...mount, ...(await bundledSnowlane())],
  });
}

test("a file that is itself mounted is refused, its folder is not (the file in two places lost answered writes to kill -9)", async () => {
  const folder = temporaryFolder();
  const [kept, mounted] = [join(folder, "kept"), join(folder, "mounted")];
  for (const place of [kept, mounted]) mkdirSync(place);
  const [file, other] = [join(kept, "ids.db"), join(mounted, "ids.db")];
  expect(await runCli(["next", "--store", `sqlite:${file}`])).toMatchObject({ code: 0 });

  writeFileSync(other, "");
  const refused = await takeWhereMounted(file, other, other);
  expect(refused.stderr).toContain(`${other} is itself a mount point`);
  expect(refused.stderr).toContain("Mount the folder that it is in, never the file");
  expect(refused.code).toBe(4);
  expect(existsSync(`${other}.locks`)).toBe(false);

  const taken = await takeWhereMounted(kept, mounted, other);
  expect(taken).toMatchObject({ code: 0, stderr: "" });
});
