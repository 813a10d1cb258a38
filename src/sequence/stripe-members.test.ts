import { describe, expect, test } from "vitest";
import type { Member } from "./sequence-store.ts";
import { decideStripes, type StripeRules } from "./stripe-members.ts";

const rules: StripeRules = { stripeCount: undefined, adds: "never" };
const newOne = (storeId: string, count = 4): Member => ({ storeId, index: -1, count, members: "" });
const memberOf = (storeId: string, index: number, members: string, count = 4): Member => ({
  storeId,
  index,
  count,
  members,
});

/** Takes steps until there are no more, and returns the databases as they then are. */
function runSteps(members: readonly Member[], given: StripeRules = rules): readonly Member[] {
  const after = [...members];
  for (let step = 0; step < 50; step += 1) {
    const next = decideStripes(after, given);
    if (next.kind !== "join") return after;
    const row = after[next.position]!;
    expect([row.storeId, row.members]).toEqual([next.request.storeId, next.request.before]);
    after[next.position] = { ...row, members: next.request.after, index: next.request.index };
  }
  throw new Error("the steps have no end");
}

const problemOf = (members: readonly (Member | undefined)[], given: StripeRules = rules): string => {
  try {
    return JSON.stringify(decideStripes(members, given));
  } catch (error) {
    return (error as Error).message;
  }
};

describe("databases of sequences", () => {
  test("come to the same stripes in whatever order their URLs are", () => {
    const [a, b, c] = [newOne("a"), newOne("b"), newOne("c")];
    expect(runSteps([a, b, c]).map(({ index }) => index)).toEqual([0, 1, 2]);
    const turned = runSteps([c, a, b]);
    expect(turned.map(({ storeId, index }) => [storeId, index])).toContainEqual(["a", 0]);
    expect(new Set(turned.map(({ index }) => index))).toEqual(new Set([0, 1, 2]));
    const settled = decideStripes(turned, rules);
    expect(settled).toMatchObject({ kind: "settled", memberCount: 3 });
  });

  test("give nothing before all are there that the first server was given", () => {
    expect(decideStripes([newOne("a"), undefined], rules)).toEqual({ kind: "wait" });
    expect(decideStripes([memberOf("a", 0, "2 a"), undefined], rules)).toEqual({ kind: "wait" });
    const both = runSteps([newOne("a"), newOne("b")]);
    expect(decideStripes([both[0], undefined], rules)).toMatchObject({ kind: "settled", memberCount: 2 });
    expect(decideStripes([undefined, both[1]], rules)).toMatchObject({ kind: "settled", memberCount: 2 });
  });

  test("get a stripe later by an operator alone, and the same one again", () => {
    const both = runSteps([newOne("a"), newOne("b")]);
    const three = [...both, newOne("c")];
    expect(problemOf(three)).toContain("database 3 has no stripe. Add it with snowlane sequences add-database");
    const added = runSteps(three, { ...rules, adds: "operator" });
    expect(added[2]).toEqual(memberOf("c", 2, "2 a b c"));
    expect(runSteps(added)).toEqual(added);
    // A database that was put back to before it had its stripe.
    expect(runSteps([...added.slice(0, 2), newOne("c")])[2]).toEqual(added[2]);
    const four = runSteps([...added, newOne("d")], { ...rules, adds: "operator" });
    expect(problemOf([...four, newOne("e")], { ...rules, adds: "operator" })).toContain("made with 4 stripes");
  });

  test("that do not belong together are refused, with what is wrong", () => {
    const both = runSteps([newOne("a"), newOne("b")]);
    const [a, b] = both as [Member, Member];
    const refusals: readonly (readonly [string, readonly (Member | undefined)[], StripeRules?])[] = [
      ["databases 2 and 3 claim one stripe: one is a copy of the other", [a, b, b]],
      ["database 3 belongs to others: its stripe 1 is another database's here", [a, b, memberOf("x", 1, "2 a x")]],
      ["database 2 belongs to others: its stripe 0", [a, memberOf("x", 0, "2 x y")]],
      ["database 1 has 4 stripes, and database 2 has 8", [newOne("a"), newOne("b", 8)]],
      ["they were made with 4 stripes, not 2", [a, b], { ...rules, stripeCount: 2 }],
      ["2 are named, and they were made with 1 stripe.", [memberOf("a", 0, "", 1), memberOf("b", 0, "", 1)]],
    ];
    for (const [problem, members, given] of refusals) expect(problemOf(members, given)).toContain(problem);
  });

  test("of which one is alone have all values, whether or not the others ever come", () => {
    expect(decideStripes([memberOf("", 0, "", 1)], rules)).toMatchObject({ kind: "settled", memberCount: 1 });
    expect(runSteps([newOne("a")])).toEqual([memberOf("a", 0, "1 a")]);
  });
});
