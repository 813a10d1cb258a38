import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { idPicture, idPicturePath } from "../../tools/id-picture.ts";
import { drawTerminal, recordedCommands, recordingPath } from "../../tools/record-terminal.ts";

test("the picture of an ID is drawn as its code draws it now", () => {
  expect(readFileSync(idPicturePath, "utf8"), "Run npm run generate.").toBe(idPicture());
});

test("the recorded terminal shows the commands that its program runs now, with their output", () => {
  const picture = readFileSync(recordingPath, "utf8");
  const [, id = ""] = /\{"id":"(\d{19})"\}/.exec(picture) ?? [];
  const typed = [...picture.matchAll(/<tspan class="command">([^<]*)<\/tspan>/g)].map(([, command]) => command);
  const [serve, curl, , workers] = recordedCommands;
  expect(typed, "Run npm run measure -- record.").toEqual([`${serve} &amp;`, curl, `snowlane parse ${id}`, workers]);
  expect(picture).toMatch(new RegExp(`>id +${id}<`));
  expect(picture).toMatch(/>Snowlane \d+\.\d+\.\d+ serves IDs on 127\.0\.0\.1:7609/);
});

test("a line that holds markup is shown as text, and one that comes later appears later", () => {
  const picture = drawTerminal([
    { command: "a", output: ["<b>&"] },
    { command: "b", output: [] },
  ]);
  expect(picture).toContain(">&lt;b>&amp;</text>");
  const delays = [...picture.matchAll(/animation-delay:([\d.]+)s/g)].map(([, seconds]) => Number(seconds));
  expect(delays).toHaveLength(3);
  expect(delays).toEqual(delays.toSorted((a, b) => a - b));
});
