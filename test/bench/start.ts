/**
 * Measures how long `snowlane serve` takes from its start to the first ID over HTTP, and what an idle process weighs:
 * `node test/bench/start.ts [rounds]`. Starts the bundle, which is what serves, and the sources by type stripping
 * beside it; interleaved rounds, a store of its own each.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { request } from "node:http";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { findFreePort } from "../support/free-port.ts";

const programs = { bundle: "dist/main.js", sources: "src/cli/main.ts" } as const;
const idleMs = 2_000;
const retryMs = 2;

interface Measured {
  readonly firstIdMs: number;
  readonly idleMb: number;
}

function askForId(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const call = request(
      {
        port,
        host: "127.0.0.1",
        method: "POST",
        path: "/snowlane.v1.IdService/NextId",
        headers: { "content-type": "application/json" },
      },
      (response) => {
        response.resume();
        response.once("end", () => resolve(response.statusCode === 200));
      },
    );
    call.once("error", () => resolve(false));
    call.end("{}");
  });
}

function residentMb(pid: number): number {
  const kb = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
  return Number(kb) / 1024;
}

async function measure(program: string): Promise<Measured> {
  const folder = mkdtempSync(join(tmpdir(), "snowlane-bench-"));
  const port = await findFreePort();
  const flags = ["--listen", `127.0.0.1:${port}`, "--store", `sqlite:${join(folder, "snowlane.db")}`];
  const startedMs = performance.now();
  const child = spawn(process.execPath, [program, "serve", ...flags], { stdio: "ignore" });
  try {
    while (!(await askForId(port))) await sleep(retryMs);
    const firstIdMs = performance.now() - startedMs;
    await sleep(idleMs);
    return { firstIdMs, idleMb: residentMb(child.pid ?? 0) };
  } finally {
    child.kill();
    await once(child, "exit");
    rmSync(folder, { recursive: true });
  }
}

const rounds = Number(process.argv[2] ?? 10);
const results = new Map<string, Measured[]>();
for (let round = 0; round < rounds; round++) {
  for (const [name, program] of Object.entries(programs)) {
    results.set(name, [...(results.get(name) ?? []), await measure(program)]);
  }
}
console.log(`Node ${process.version}, ${cpus().length} x ${cpus()[0]?.model}, ${rounds} rounds`);
for (const [name, measured] of results) {
  const times = measured.map(({ firstIdMs }) => firstIdMs).toSorted((a, b) => a - b);
  const at = (share: number): string => times[Math.min(times.length - 1, Math.floor(times.length * share))]!.toFixed(0);
  const mb = Math.max(...measured.map(({ idleMb }) => idleMb)).toFixed(0);
  console.log(
    `${name.padEnd(8)} first ID ${at(0)} / ${at(0.5)} / ${at(1)} ms (min / median / max), idle at most ${mb} MB`,
  );
}
