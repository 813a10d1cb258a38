import { test } from "vitest";
import { runCommand } from "../support/run-command.ts";

test("the tests of the Java client hold", { timeout: 900_000 }, async () => {
  await runCommand("mvn", ["--version"]).catch((cause: unknown) => {
    throw new Error("The tests of the Java client need a JDK of 17 or later, and Maven.", { cause });
  });
  await runCommand("mvn", ["--batch-mode", "--quiet", "test"], { cwd: "clients/java" });
});
