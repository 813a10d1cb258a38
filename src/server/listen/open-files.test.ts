import { expect, test } from "vitest";
import { countOpenFiles, fitConnections, readOpenFilesMax } from "./open-files.ts";

const config = { adminListen: undefined, connectionsMax: 10_000, sequenceConnections: 4, sequenceStores: undefined };

// Nothing used to compare --connections-max with the limit, and a process without descriptors ended.
test("OPERATIONS 1: connections leave 64 descriptors free for the store, renewals and scrapes", () => {
  expect(fitConnections(config, 1_024).connectionsMax).toBe(960);
  expect(fitConnections(config, 65_536).connectionsMax).toBe(10_000);
  expect(fitConnections(config).connectionsMax).toBe(10_000);
});

test("a listener for operators and links to databases of sequences have descriptors of their own", () => {
  const adminListen = { host: "127.0.0.1", port: 7610 };
  expect(fitConnections({ ...config, adminListen }, 1_024)).toEqual({ connectionsMax: 860, adminConnectionsMax: 100 });
  expect(fitConnections({ ...config, sequenceStores: "a b" }, 1_024).connectionsMax).toBe(952);
});

test("of a small limit, a quarter is for connections and an eighth for those of operators", () => {
  const adminListen = { host: "127.0.0.1", port: 7610 };
  expect(fitConnections({ ...config, adminListen }, 64)).toEqual({ connectionsMax: 16, adminConnectionsMax: 8 });
});

test("the system says how many descriptors are open, and how many may be", () => {
  const [open, most] = [countOpenFiles(), readOpenFilesMax()];
  // Both are undefined where there is no /proc.
  expect(most === undefined || open! < most).toBe(true);
  expect(open === undefined || open > 3).toBe(true);
});
