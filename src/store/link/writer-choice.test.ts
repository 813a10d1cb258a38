import { expect, test } from "vitest";
import { type Writer, WriterChoice, type WriterRole } from "./writer-choice.ts";

/** The same server wherever the names are equal. */
const byName = async (): Promise<boolean> => true;

function writer(host: string, role: WriterRole): Writer<string> {
  return { at: { host, port: 1 }, connection: host, role };
}

async function sort(choice: WriterChoice, found: readonly Writer<string>[], isOneServer = byName) {
  const { writers, overtaken } = await choice.sort(found, isOneServer);
  return { writers: writers.map(({ at }) => at.host), overtaken: overtaken.map(({ at }) => at.host) };
}

test("of one system the later timeline counts, and the process never goes back", async () => {
  const choice = new WriterChoice();
  const old = writer("old", { server: "1", system: "s", timeline: 1 });
  const next = writer("next", { server: "2", system: "s", timeline: 2 });
  expect(await sort(choice, [old])).toEqual({ writers: ["old"], overtaken: [] });
  expect(await sort(choice, [old, next])).toEqual({ writers: ["next"], overtaken: ["old"] });
  expect(await sort(choice, [old])).toEqual({ writers: [], overtaken: ["old"] });
});

test.each<readonly [name: string, role: WriterRole]>([
  ["the same timeline", { server: "2", system: "s", timeline: 1 }],
  ["another system", { server: "2", system: "other", timeline: 2 }],
  ["a system that cannot be read", { server: "2", system: undefined, timeline: 2 }],
  ["a timeline that cannot be read", { server: "2", system: "s", timeline: undefined }],
])("two that take writes both count: %s", async (_name, role) => {
  const one = writer("one", { server: "1", system: "s", timeline: 1 });
  expect((await sort(new WriterChoice(), [one, writer("other", role)])).writers).toEqual(["one", "other"]);
});

test("one server under two names counts once, and a copy of its volume counts as another", async () => {
  const names = [writer("one", { server: "uuid" }), writer("other", { server: "uuid" })];
  expect((await sort(new WriterChoice(), names)).writers).toEqual(["one"]);
  expect((await sort(new WriterChoice(), names, async () => false)).writers).toEqual(["one", "other"]);
  const nameless = names.map(({ at }) => writer(at.host, { server: undefined }));
  expect((await sort(new WriterChoice(), nameless)).writers).toEqual(["one", "other"]);
});
