import { attacksBenchmark } from "./attacks.ts";
import type { Benchmark } from "./benchmark.ts";
import { capacityBenchmark } from "./capacity.ts";
import { clientsBenchmark } from "./clients.ts";
import { credentialsBenchmark } from "./credentials.ts";
import { drainsBenchmark } from "./drains.ts";
import { generatorBenchmark } from "./generator.ts";
import { guardsBenchmark, refusalsBenchmark } from "./guards.ts";
import { insertsBenchmark } from "./inserts.ts";
import { memoryBenchmark } from "./memory.ts";
import { newcomersBenchmark } from "./newcomers.ts";
import { outageBenchmark } from "./outage.ts";
import { pageBenchmark } from "./page.ts";
import { pausesBenchmark } from "./pauses.ts";
import { profileBenchmark } from "./profile.ts";
import { publicIdsBenchmark } from "./public-ids.ts";
import { schemesBenchmark } from "./schemes.ts";
import { sequencesBenchmark } from "./sequences.ts";
import { serviceBenchmark } from "./service.ts";
import { sizesBenchmark } from "./sizes.ts";
import { startBenchmark } from "./start.ts";
import { waysBenchmark } from "./ways.ts";

/** All benchmarks, in the order of docs/reports/benchmarks.md. */
export const benchmarks: readonly Benchmark[] = [
  waysBenchmark,
  generatorBenchmark,
  serviceBenchmark,
  profileBenchmark,
  capacityBenchmark,
  guardsBenchmark,
  credentialsBenchmark,
  refusalsBenchmark,
  clientsBenchmark,
  schemesBenchmark,
  publicIdsBenchmark,
  pageBenchmark,
  outageBenchmark,
  startBenchmark,
  sizesBenchmark,
  memoryBenchmark,
  pausesBenchmark,
  attacksBenchmark,
  newcomersBenchmark,
  drainsBenchmark,
  insertsBenchmark,
  sequencesBenchmark,
];
