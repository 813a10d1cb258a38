import { ConnectError } from "@connectrpc/connect";
import { expect, test } from "vitest";
import { IdError } from "../../errors.ts";
import { type CallGuard, type GuardedCall, newNotes } from "./call-guard.ts";
import { composeGuards } from "./guard-chain.ts";
import { traitsOf } from "./method-table.ts";
import { unknownPeer } from "./peer.ts";

const call: GuardedCall = {
  traits: traitsOf("/snowlane.v1.IdService/NextId"),
  peer: unknownPeer,
  notes: newNotes(),
  startedMs: undefined,
  header: () => undefined,
};
const five = ["a", "b", "c", "d", "e"];

/** Guards that record how they are called; the one of this name refuses. */
function setUp(names: readonly string[], refusing?: string) {
  const notes: string[] = [];
  const guards = [...names].map(
    (name): CallGuard => ({
      begin: () => {
        notes.push(`begin ${name}`);
        if (name === refusing) throw new IdError("METHOD_DENIED", "not you");
      },
      goOn: () => void notes.push(`go on ${name}`),
      end: (_call, error) => void notes.push(`end ${name}${error === undefined ? "" : " refused"}`),
      unread: () => void notes.push(`unread ${name}`),
    }),
  );
  return { notes, chain: composeGuards(guards) };
}

test.each([1, 2, 3, 4, 5])("%i guards are asked, and informed of the end, in their order", (count) => {
  const names = five.slice(0, count);
  const { notes, chain } = setUp(names);
  chain!.begin(call);
  chain!.goOn!(call);
  chain!.end!(call, undefined);
  chain!.unread!(undefined, new ConnectError("cut"));
  const each = (what: string): readonly string[] => names.map((name) => `${what} ${name}`);
  expect(notes).toEqual(["begin", "go on", "end", "unread"].flatMap(each));
});

test.each(five)(
  "where guard %s refuses, those before it are informed, and those after it are not asked",
  (refusing) => {
    const { notes, chain } = setUp(five, refusing);
    expect(() => chain!.begin(call)).toThrow(IdError);
    chain!.endAfterRefusal!(call, new ConnectError("not you"));
    const before = five.slice(0, five.indexOf(refusing));
    expect(notes).toEqual([
      ...before.map((name) => `begin ${name}`),
      `begin ${refusing}`,
      ...before.map((name) => `end ${name} refused`),
    ]);
  },
);

test("without guards there is no chain, and a sixth guard has no place", () => {
  expect(setUp([]).chain).toBeUndefined();
  expect(() => setUp([...five, "f"])).toThrow("place");
});
