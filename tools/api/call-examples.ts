/** A call that docs/reports/api.md shows and a test makes. */
interface CallExample {
  /** The request as JSON. */
  readonly request: object;
  /** The same for grpcurl, where it reads a message otherwise than the JSON form of protobuf has it. */
  readonly grpcurlRequest?: object;
  /** What curl prints; … stands for any text. */
  readonly answer: string;
  /** A text below the example. */
  readonly note?: string;
  /** Where the server refuses the call unless it is set up for it: the HTTP status, and grpcurl's exit code. */
  readonly refusal?: { readonly status: number; readonly grpcurlExitCode: number };
}

const orders = { name: "orders" };

/** One call of each method, by its path. They are made in the order of docs/reports/api.md, on one server. */
export const callExamples: Readonly<Record<string, CallExample>> = {
  "/snowlane.v1.IdService/NextId": {
    request: { textFormat: { form: "TEXT_FORM_BASE58" } },
    answer: '{"id":"…","text":"…","deployment":…}',
    note: "Without `textFormat`, or with `{}` as the whole request, the answer has no `text`.",
  },
  "/snowlane.v1.IdService/NextIds": {
    request: { count: 3 },
    answer: '{"ids":["…","…","…"],"deployment":…}',
  },
  "/snowlane.v1.IdService/BatchNextIds": {
    request: { count: "3" },
    answer: '…{"ids":["…","…","…"],"deployment":…}…{}',
    note:
      "Over Connect each message of a stream has a head of five bytes: a flag and the length. `\\015` is 13, the length of the request. " +
      "The last message, `{}`, ends the stream, and carries the error if there is one.",
  },
  "/snowlane.v1.IdService/ReserveIds": {
    request: { count: 1000 },
    answer: '{"runs":[{"firstId":"…","count":…,"stride":"1"}…],"deployment":…}',
  },
  "/snowlane.v1.IdService/Parse": {
    request: { id: "1541815603606036480" },
    answer: '{"id":"1541815603606036480","createTime":"2022-06-28T16:07:40.105Z",…"datacenterId":11,"workerId":26,…}',
  },
  "/snowlane.v1.IdService/GetIdRange": {
    request: { startTime: "2026-11-22T00:00:00Z", endTime: "2026-11-23T00:00:00Z" },
    answer: '{"firstId":"…","lastId":"…"}',
  },
  "/snowlane.v1.IdService/GetInfo": {
    request: {},
    answer: '{"layout":{"name":"twitter",…},…"limits":{"reserveCountMax":…},…}',
  },
  "/snowlane.v1.SequenceService/CreateSequence": {
    request: { sequence: { ...orders, startValue: "1000" } },
    answer: '{"sequence":{"name":"orders","startValue":"1000",…}}',
  },
  "/snowlane.v1.SequenceService/GetSequence": {
    request: orders,
    answer: '{"sequence":{"name":"orders",…}}',
  },
  "/snowlane.v1.SequenceService/ListSequences": {
    request: {},
    answer: '{"sequences":[{"name":"orders",…}]}',
  },
  "/snowlane.v1.SequenceService/UpdateSequence": {
    request: { sequence: { ...orders, description: "Order numbers" }, updateMask: "description" },
    grpcurlRequest: { sequence: { ...orders, description: "Order numbers" }, updateMask: { paths: ["description"] } },
    answer: '{"sequence":{"name":"orders","description":"Order numbers",…}}',
  },
  "/snowlane.v1.SequenceService/NextValue": {
    request: orders,
    answer: '{"value":"…","database":…}',
  },
  "/snowlane.v1.SequenceService/BatchNextValues": {
    request: { ...orders, count: "3" },
    answer: '…{"values":["…","…","…"],"database":…}…{}',
  },
  "/snowlane.v1.SequenceService/ReserveValues": {
    request: { ...orders, count: 10 },
    answer: '{"runs":[{"firstValue":"…","count":10,"increment":"1"}],"database":…}',
  },
  "/snowlane.v1.AdminService/ListWorkers": {
    request: {},
    answer: '{"workers":[{…"state":"WORKER_STATE_HELD",…}],"workerIdCount":"1024","freeCount":"1023",…}',
  },
  "/snowlane.v1.AdminService/GetStatus": {
    request: {},
    answer: '{"status":{"serving":true,"phase":"holding",…}…}',
  },
  "/snowlane.v1.AdminService/ClaimPast": {
    request: { fromTime: "2016-01-01T00:00:00Z", toTime: "2026-01-01T00:00:00Z", reason: "orders" },
    answer: '{"code":"unimplemented",…}',
    refusal: { status: 501, grpcurlExitCode: 76 },
  },
};
