/** The entry point `@snowlane/client/testing`, for users' own tests. */
export { FakeClock } from "./fake-clock.ts";
export { FakeIdClient, type FakeOptions, type ScriptStep } from "./fake-id-client.ts";
export { delay, fail, type Fault, type FaultDetails, type Pause } from "./fake-script.ts";
export { FakeSequence, type ValueStep } from "./fake-sequence.ts";
