import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { WatchedFiles } from "./watched-files.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A file in memory; what is done with it is recorded. */
function setUp() {
  const notes: string[] = [];
  const file: { text: string | undefined } = { text: "first" };
  const watched = new WatchedFiles("first", {
    read: () => {
      if (file.text === undefined) throw new Error("gone");
      return file.text;
    },
    onChange: (text) => {
      if (text.startsWith("bad")) throw new Error(text);
      notes.push(text);
    },
    onFault: (error) => notes.push(`fault ${(error as Error).message}`),
  });
  return { notes, file, watched };
}

test("a change is taken within ten seconds, or at once when it is asked for, and once", () => {
  const { notes, file, watched } = setUp();
  vi.advanceTimersByTime(60_000);
  expect(notes).toEqual([]);
  file.text = "second";
  vi.advanceTimersByTime(10_000);
  expect(notes).toEqual(["second"]);
  file.text = "third";
  watched.look();
  vi.advanceTimersByTime(60_000);
  expect(notes).toEqual(["second", "third"]);
  watched.close();
  file.text = "fourth";
  vi.advanceTimersByTime(60_000);
  expect(notes).toHaveLength(2);
});

test("content that cannot be used is reported each minute, and good content after it is taken", () => {
  const { notes, file } = setUp();
  file.text = "bad";
  vi.advanceTimersByTime(129_000);
  expect(notes).toEqual(["fault bad", "fault bad"]);
  file.text = "first";
  vi.advanceTimersByTime(10_000);
  expect(notes.slice(2)).toEqual(["first"]);
  vi.advanceTimersByTime(60_000);
  expect(notes).toHaveLength(3);
});

test("a caller that asks for a look gets a fault that lasts, and another fault is reported at once", () => {
  const { notes, file, watched } = setUp();
  file.text = "bad";
  vi.advanceTimersByTime(20_000);
  watched.look();
  expect(notes).toEqual(["fault bad", "fault bad"]);
  file.text = "bad in another way";
  vi.advanceTimersByTime(10_000);
  expect(notes.slice(2)).toEqual(["fault bad in another way"]);
});

test("a file that has vanished is reported each minute, and its content stays", () => {
  const { notes, file } = setUp();
  file.text = undefined;
  vi.advanceTimersByTime(10_000);
  expect(notes).toEqual(["fault gone"]);
  vi.advanceTimersByTime(119_000);
  expect(notes).toEqual(["fault gone", "fault gone"]);
  file.text = "first";
  vi.advanceTimersByTime(60_000);
  expect(notes.slice(2)).toEqual(["first"]);
  file.text = undefined;
  vi.advanceTimersByTime(10_000);
  expect(notes).toHaveLength(4);
});
