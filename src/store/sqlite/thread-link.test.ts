import { afterEach, beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { ThreadLink } from "./thread-link.ts";

interface Echo {
  echo(text: string): string;
  close(): void;
}

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] }));
afterEach(() => void vi.useRealTimers());

/** A thread that begins to load only when the test lets it, as on an overloaded machine. */
function startLate(callTimeoutMs: number) {
  const gate = new Int32Array(new SharedArrayBuffer(4));
  const code = `
    import { parentPort, workerData } from "node:worker_threads";
    Atomics.wait(workerData, 0, 0);
    const { answerCalls } = await import("${new URL("./thread-calls.ts", import.meta.url).href}");
    answerCalls("a file", {
      echo: (text) => {
        if (text === "slow") Atomics.wait(workerData, 0, 1);
        return text;
      },
      close: () => {},
    });`;
  const url = new URL(`data:text/javascript,${encodeURIComponent(code)}`);
  const link = new ThreadLink<Echo>({ code: url, path: "a file", callTimeoutMs, workerData: gate });
  const letGo = (step: number): void => {
    Atomics.store(gate, 0, step);
    Atomics.notify(gate, 0);
  };
  onTestFinished(async () => {
    letGo(2);
    await link.close();
  });
  return { link, letGo };
}

test("a call that is sent while the thread starts does not end in the error of a disk that is slow", async () => {
  const { link, letGo } = startLate(500);
  const outcome = link.call("echo", "first").catch((error: unknown) => error);
  // Longer than a call may take.
  await vi.advanceTimersByTimeAsync(1_200);
  letGo(1);
  expect(await outcome).toBe("first");
});

test("a call ends at its deadline once the thread is ready", async () => {
  const { link, letGo } = startLate(1_000);
  letGo(1);
  expect(await link.call("echo", "first")).toBe("first");
  const slow = expect(link.call("echo", "slow")).rejects.toMatchObject({
    reason: "STORE_UNAVAILABLE",
    message: expect.stringContaining("within 1 s"),
  });
  await vi.advanceTimersByTimeAsync(1_000);
  await slow;
});
