import { createClient } from "@connectrpc/connect";
import { systemClock } from "../../clock/clock.ts";
import { AdminService } from "../../gen/snowlane/v1/admin_service_pb.ts";
import { sampleOf, stateOf } from "../../service/message/status-message.ts";
import { refuseCall } from "./remote-error.ts";
import type { ServerAccess } from "./server-access.ts";
import { transportTo } from "./server-transport.ts";
import type { ShownStatus } from "./status-rows.ts";

const answerTimeoutMs = 5_000;

/** Asks a server how it is, over gRPC. Both reject with a CommandError that has the server's message. */
export interface StatusSource {
  /** Gets the status with all samples that the server has. */
  readonly look: () => Promise<ShownStatus>;
  /** Gets the status with the samples that came since the last call of this. */
  readonly lookAgain: () => Promise<ShownStatus>;
}

/** Opens the state of a server; the first call connects. */
export function openStatus(access: ServerAccess): StatusSource {
  const admin = createClient(AdminService, transportTo(access));
  let afterIndex = 0n;
  const ask = async (after: bigint): Promise<ShownStatus> => {
    const answer = await admin
      .getStatus({ afterIndex: after }, { timeoutMs: answerTimeoutMs })
      .catch(refuseCall(access));
    afterIndex = answer.samples.at(-1)?.index ?? afterIndex;
    return {
      server: access.url,
      nowMs: systemClock.nowMs(),
      ...stateOf(answer.status!),
      samples: answer.samples.map(sampleOf),
    };
  };
  return { look: () => ask(0n), lookAgain: () => ask(afterIndex) };
}
