import { Code, ConnectError, createClient, type Transport } from "@connectrpc/connect";
import { onOff } from "../../config/setting-kinds.ts";
import { type Settings, withFallback } from "../../config/setting.ts";
import { ErrorInfoSchema } from "../../gen/google/rpc/error_details_pb.ts";
import type { Permission } from "../../server/call/method-table.ts";
import type { Command } from "../command.ts";
import { exitCodes } from "../exit-code.ts";
import { refuseCall } from "./remote-error.ts";
import { problemsOfAccess, readAccess, type ServerAccess, serverOptions } from "./server-access.ts";

const asked = serverOptions("The server that is asked.");
const options = {
  ...asked,
  server: withFallback(asked.server, "http://127.0.0.1:7609"),
  json: onOff({ name: "json", doc: "Prints one JSON object, for programs." }),
};

const answerTimeoutMs = 5_000;

/** `off`: the server does not offer the methods. */
type Answer = "yes" | "no" | "off";

/** Every permission but `all`, which is all of them. */
type Asked = Exclude<Permission, "all">;

const meanings: Readonly<Record<Asked, string>> = {
  ids: "new IDs; reading IDs",
  sequences: "values of sequences; reading their definitions",
  manage: "creating and changing sequences; ClaimPast",
  observe: "workers, status, metrics, reflection",
};

/** `snowlane whoami`. */
export const whoami: Command<Settings, typeof options> = {
  name: "whoami",
  summary: "Shows what a token or a client certificate may do at a server",
  settings: {},
  options,
  examples: [
    "snowlane whoami --token-file token",
    "snowlane whoami --server https://ids.example.com --token-file token",
  ],
  check: (_settings, given) => problemsOfAccess(given),
  run: async ({ options: given, stdout }) => {
    const access = await readAccess(given);
    const answers = await askAll(access);
    const isOpen = await takesAnybody(access);
    stdout.write(given.json ? toJson(answers, isOpen) : toText(answers, isOpen));
    return exitCodes.done;
  },
};

type Answers = Readonly<Record<Asked, Answer>>;

/**
 * Makes one call for each permission. No call has an effect: it reads, or it lacks the name of a sequence, which is
 * refused only after the permission was checked.
 */
async function askAll(access: ServerAccess): Promise<Answers> {
  const call = await callsOf(access);
  const [ids, sequences, manage, observe] = await Promise.all([
    answerOf(call.ids(), access),
    answerOf(call.sequences(), access),
    answerOf(call.manage(), access),
    answerOf(call.observe(), access),
  ]);
  return { ids, sequences, manage, observe };
}

async function callsOf(access: ServerAccess): Promise<Readonly<Record<Asked, () => Promise<unknown>>>> {
  const [{ transportTo }, { IdService }, { SequenceService }, { AdminService }] = await Promise.all([
    import("./server-transport.ts"),
    import("../../gen/snowlane/v1/id_service_pb.ts"),
    import("../../gen/snowlane/v1/sequence_service_pb.ts"),
    import("../../gen/snowlane/v1/admin_service_pb.ts"),
  ]);
  const transport: Transport = transportTo(access);
  const limits = { timeoutMs: answerTimeoutMs };
  return {
    ids: () => createClient(IdService, transport).getInfo({}, limits),
    sequences: () => createClient(SequenceService, transport).listSequences({ pageSize: 1 }, limits),
    manage: () => createClient(SequenceService, transport).updateSequence({}, limits),
    observe: () => createClient(AdminService, transport).getStatus({ afterIndex: 0n }, limits),
  };
}

/** @throws CommandError where the server does not answer, or does not know the caller. */
async function answerOf(call: Promise<unknown>, access: ServerAccess): Promise<Answer> {
  try {
    await call;
    return "yes";
  } catch (error) {
    const refused = ConnectError.from(error);
    const [info] = refused.findDetails(ErrorInfoSchema);
    if (info?.reason === "METHOD_DENIED") return "no";
    if (refused.code === Code.Unimplemented) return "off";
    // An error with a reason of its own comes from behind the check of permissions.
    if (info === undefined || info.reason === "MISSING_CREDENTIALS") return refuseCall(access)(error);
    return "yes";
  }
}

/** Whether a caller without credentials is let in as well. */
async function takesAnybody({ tls: { ca }, ...access }: ServerAccess): Promise<boolean> {
  const anybody: ServerAccess = { ...access, tls: ca === undefined ? {} : { ca }, authorization: undefined };
  const { ids } = await callsOf(anybody);
  return await answerOf(ids(), anybody).then(
    (answer) => answer === "yes",
    () => false,
  );
}

function toText(answers: Answers, isOpen: boolean): string {
  const rows = Object.entries(answers).map(([permission, answer]) => {
    const said = answer === "off" ? "not offered" : answer;
    return `${permission.padEnd(11)}${said.padEnd(13)}${meanings[permission as Asked]}\n`;
  });
  const note = isOpen ? "\nThe server asks for no credentials: every caller may do this.\n" : "";
  return `${rows.join("")}${note}`;
}

function toJson(answers: Answers, isOpen: boolean): string {
  const permissions = Object.entries(answers).flatMap(([permission, answer]) => (answer === "yes" ? [permission] : []));
  return `${JSON.stringify({ permissions, asksForCredentials: !isOpen })}\n`;
}
