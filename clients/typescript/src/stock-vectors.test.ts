import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { type HistoryOptions, type Step, StockHistory } from "../test/stock-history.ts";

interface History {
  readonly name: string;
  readonly options: HistoryOptions;
  readonly steps: readonly Step[];
}

const path = new URL("../../../test/vectors/stock.json", import.meta.url);
const { vectors } = JSON.parse(readFileSync(path, "utf8")) as { readonly vectors: readonly History[] };

/** Runs a step, and returns it with its result. */
function replay(history: StockHistory, step: Step): Step {
  const [what, atMs] = step;
  switch (what) {
    case "ask":
      return [what, atMs, { count: history.ask() }];
    case "answer":
      history.answer(step[2].askedAtMs, step[2].runs);
      return step;
    case "answer reserve":
      history.answer(step[2].askedAtMs, step[2].runs, step[2].pieceSize);
      return step;
    case "claim":
      return [what, atMs, { count: step[2].count, ...history.claim(step[2].count) }];
    case "look":
      return [what, atMs, history.look()];
    case "expire":
      return [what, atMs, history.expire()];
  }
}

test.each(vectors)("the stock decides as in every language: $name", async ({ options, steps }) => {
  const history = new StockHistory(options);
  for (const [index, step] of steps.entries()) {
    await history.at(step[1]);
    expect(replay(history, step), `step ${index}`).toEqual(step);
  }
});
