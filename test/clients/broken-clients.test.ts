/** The controls of the conformance program: it sees each rule that a client does not keep. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { sized } from "../support/worlds/scale.ts";
import { brokenCall, brokenClients, countOfPatched } from "./conformance/broken-clients.ts";
import { cases, scoreProgram, scoreToText } from "./conformance/score.ts";

/** What `npm test` runs: one in each language. `npm run all -- conformance` runs all. */
const quick = new Set(["another-deployment-later", "two-regions"]);
const chosen = sized(
  brokenClients.filter((client) => client.cases.some((name) => quick.has(name))),
  brokenClients,
);

test.each(chosen)("a client that $wrong is seen", async (client) => {
  const folder = mkdtempSync(join(tmpdir(), "snowlane-broken-"));
  try {
    const wanted = cases.filter(({ name }) => client.cases.includes(name));
    const score = await scoreProgram(await brokenCall(client, folder), wanted);
    const broken = score.verdicts.filter(({ result }) => result === "broken").map(({ case: { name } }) => name);
    expect(broken.toSorted(), scoreToText(score)).toEqual(client.cases.toSorted());
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test("each case has a client that breaks it", () => {
  const named = new Set(brokenClients.flatMap((client) => client.cases));
  expect(cases.map(({ name }) => name).filter((name) => !named.has(name))).toEqual([]);
});

test("each patch of a broken client fits its file", () => {
  expect(brokenClients.filter((client) => countOfPatched(client) !== 1).map(({ wrong }) => wrong)).toEqual([]);
});
