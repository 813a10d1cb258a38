import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

/** See docs/adr/0197-flags-of-the-process.md. */
const flags = ["--disable-sigusr1", "--max-semi-space-size=2"];

test.each([
  ["package.json", `node ${flags.join(" ")} dist/main.js serve`],
  ["deploy/container/Dockerfile", `ENTRYPOINT ["node", ${flags.map((flag) => `"${flag}"`).join(", ")}, `],
  ["deploy/systemd/snowlane.service", `Environment="NODE_OPTIONS=${flags.join(" ")}"`],
  ["tools/release/build-executable.ts", `execArgv: [${flags.map((flag) => `"${flag}"`).join(", ")}]`],
])("OPERATIONS 6: %s starts the server without a debugger, and with a small young generation", (path, text) => {
  expect(readFileSync(path, "utf8")).toContain(text);
});

test("OPERATIONS 6: the executable takes no NODE_OPTIONS of its user", () => {
  expect(readFileSync("tools/release/build-executable.ts", "utf8")).toContain('execArgvExtension: "none"');
});
