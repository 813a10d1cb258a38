import { readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, onTestFinished, test } from "vitest";
import { runCommand } from "../support/processes/run-command.ts";
import { temporaryFolder } from "../support/processes/running-server.ts";
import { startSnowlane } from "../support/processes/snowlane-process.ts";

/** The program under the system calls and address families that the systemd unit leaves it, without systemd. */
const unit = readFileSync("deploy/systemd/snowlane.service", "utf8");
const valuesOf = (key: string): readonly (readonly string[])[] =>
  [...unit.matchAll(new RegExp(`^${key}=(.*)$`, "gm"))].map(([, value]) => value!.split(" "));

/** As systemd does it, by the library that systemd does it with: other calls fail as the unit says. */
const confine = `
import ctypes, errno, os, socket, sys

class Is(ctypes.Structure):
    _fields_ = [("index", ctypes.c_uint), ("operator", ctypes.c_int), ("value", ctypes.c_uint64), ("mask", ctypes.c_uint64)]

try:
    library = ctypes.CDLL("libseccomp.so.2")
except OSError:
    sys.exit("The test needs libseccomp: apt-get install libseccomp2")
library.seccomp_init.restype = ctypes.c_void_p
allow, refuse, equal = 0x7FFF0000, lambda number: 0x00050000 | number, 4
calls, families, program = sys.argv[1].split(), sys.argv[2].split(), sys.argv[3:]
rules = ctypes.c_void_p(library.seccomp_init(refuse(errno.EPERM)))

def add(action, name, *conditions):
    number = library.seccomp_syscall_resolve_name(name.encode())
    # A call that this machine does not have.
    if number < 0:
        return
    if library.seccomp_rule_add_array(rules, action, number, len(conditions), (Is * len(conditions))(*conditions)) < 0:
        sys.exit("No rule for " + name)

for call in calls:
    if call != "socket":
        add(allow, call)
for family in (getattr(socket, name) for name in dir(socket) if name.startswith("AF_")):
    permitted = family in [getattr(socket, name) for name in families]
    add(allow if permitted else refuse(errno.EAFNOSUPPORT), "socket", Is(0, equal, family, 0))
if library.seccomp_load(rules) < 0:
    sys.exit("The kernel takes no filter.")
os.execv(program[0], program)
`;

/** Each set of system calls that systemd knows, with its calls and the sets that it takes in. */
let sets: ReadonlyMap<string, readonly string[]>;

beforeAll(async () => {
  const listed = await runCommand("systemd-analyze", ["syscall-filter", "--no-pager"]);
  const blocks = listed.split(/^(?=@)/m).map((block) => block.split("\n").map((line) => line.trim()));
  sets = new Map(blocks.map(([name = "", ...calls]) => [name, calls.filter((call) => /^@?\w/.test(call))]));
});

function callsOf(name: string): readonly string[] {
  if (!name.startsWith("@")) return [name];
  const calls = sets.get(name);
  if (calls === undefined) throw new Error(`systemd knows no set ${name}.`);
  return calls.flatMap(callsOf);
}

/** The calls that the unit permits: systemd permits those of `@default` to every program. */
function permittedCalls(): readonly string[] {
  const permitted = new Set(callsOf("@default"));
  for (const [first = "", ...others] of valuesOf("SystemCallFilter")) {
    const names = [first.replace("~", ""), ...others].flatMap(callsOf);
    for (const name of names)
      if (first.startsWith("~")) permitted.delete(name);
      else permitted.add(name);
  }
  return [...permitted];
}

function confined(calls: readonly string[], ...program: readonly string[]): readonly string[] {
  const [families = []] = valuesOf("RestrictAddressFamilies");
  return ["python3", "-c", confine, calls.join(" "), families.join(" "), ...program];
}

test("with the system calls and address families of the unit it serves, is healthy, and ends in order", async () => {
  const calls = permittedCalls();
  expect(calls.length).toBeGreaterThan(200);
  const program = confined(calls, process.execPath, "src/cli/main.ts");
  const store = `sqlite:${join(temporaryFolder(), "ids.db")}`;
  const server = await startSnowlane({ program, args: ["--store", store] });
  onTestFinished(() => void server.child.kill("SIGKILL"));
  const post = { method: "POST", headers: { "content-type": "application/json" }, body: "{}" };
  const answer = await fetch(`${server.url}/snowlane.v1.IdService/NextId`, post);
  expect(await answer.json()).toEqual({ id: expect.stringMatching(/^\d{18,19}$/), deployment: expect.any(Number) });
  const named = server.url.replace("127.0.0.1", "localhost");
  const [command, ...args] = [...program, "health", "--server", named];
  expect(await runCommand(command, args)).toBe("SERVING\n");
  expect(await server.stop("SIGTERM")).toBe(0);
  expect(server.log.map(({ message }) => message)).toContain("Stopped");
});

test("a call that the unit leaves out is refused, and so is an address family", async () => {
  const calls = permittedCalls();
  const ask = async (program: string): Promise<string> => {
    const [command = "", ...args] = confined(calls, "/usr/bin/env", "python3", "-c", program);
    return await runCommand(command, args).catch(String);
  };
  expect(await ask("import os; os.setpriority(os.PRIO_PROCESS, 0, 5)")).toContain("PermissionError");
  expect(await ask("import socket; socket.socket(socket.AF_NETLINK)")).toContain("not supported");
  expect(await ask("import socket; socket.socket(); print('open')")).toBe("open\n");
  const few = confined(
    calls.filter((call) => !call.startsWith("epoll")),
    process.execPath,
    "-e",
    "0",
  );
  await expect(runCommand(few[0]!, few.slice(1))).rejects.toThrow("left with");
});
