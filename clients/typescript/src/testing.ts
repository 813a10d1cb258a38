/** For users' own tests: `@snowlane/client/testing`. */
export { FakeClock } from "./fake-clock.ts";
export { delay, fail, FakeIdClient, type FakeOptions, type FaultDetails, type ScriptStep } from "./fake-id-client.ts";
