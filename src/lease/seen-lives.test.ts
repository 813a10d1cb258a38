import { expect, test } from "vitest";
import { SeenLives } from "./seen-lives.ts";

test("a change that comes while an earlier one is being noted is still owed", () => {
  const lives = new SeenLives();
  lives.see("system=1");
  lives.see("system=2");
  const { changes } = lives;
  lives.see("system=3");
  lives.noted(changes);
  expect(lives.hasUnnoted).toBe(true);
  lives.noted(lives.changes);
  expect(lives.hasUnnoted).toBe(false);
});

test("a note that was decided before another one takes nothing back from it", () => {
  const lives = new SeenLives();
  lives.see("system=1");
  lives.see("system=2");
  const earlier = lives.changes;
  lives.see("system=3");
  lives.noted(lives.changes);
  lives.noted(earlier);
  expect(lives.hasUnnoted).toBe(false);
});

test("a part that some answers do not tell is remembered, and another value of it is another life", () => {
  const lives = new SeenLives();
  lives.see("system=1 timeline=1");
  lives.see("system=1");
  lives.see("system=1 timeline=1");
  expect(lives.changes).toBe(0);
  lives.see("system=1");
  lives.see("system=1 timeline=2");
  expect(lives.changes).toBe(1);
});
