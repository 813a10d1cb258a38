import { expect } from "vitest";
import { findTool } from "../fetch/tools.ts";
import { runCommand } from "../processes/run-command.ts";

/** Expects that `promtool check metrics` finds no fault in the text of a scrape. */
export async function checkScrape(text: string): Promise<void> {
  expect(text).toContain("# TYPE snowlane_serving gauge\n");
  const { path, env } = await findTool("promtool");
  expect(await runCommand(path, ["check", "metrics"], { env, input: text })).toBe("");
}
