import { spawn } from "node:child_process";
import { debianToolsToFetch } from "../../test/support/fetch/tools.ts";

/** A program that the tests take from the machine and fetch nowhere. */
export interface MachineNeed {
  /** As the table of CONTRIBUTING.md calls it. */
  readonly name: string;
  /** A line of a shell that ends with 0 where the machine has it. */
  readonly check: string;
  /** How to get it. */
  readonly install: string;
  /** The suites that fail without it. */
  readonly suites: readonly string[];
}

/** Those that start tools of Debian's packages. `core` takes openssl alone, which machines have. */
const suitesOfDebian = ["proof", "stores", "clients", "http2", "deploy", "web"];

export const machineNeeds: readonly MachineNeed[] = [
  { name: "git", check: "git --version", install: "apt-get install git", suites: ["core", "deploy"] },
  { name: "tar", check: "tar --version", install: "apt-get install tar", suites: ["core", "stores"] },
  {
    name: "gcc",
    check: "echo 'int main(void) { return 0; }' | gcc -x c -o /dev/null -",
    install: "apt-get install gcc libc6-dev",
    suites: ["proof"],
  },
  {
    name: "Java",
    check: "java -version",
    install: "apt-get install openjdk-17-jdk-headless",
    suites: ["stores"],
  },
  {
    name: "JDK",
    check: "java -version && javac -version",
    install: "apt-get install openjdk-17-jdk-headless",
    suites: ["clients", "http2", "web"],
  },
  { name: "Maven", check: "command -v mvn", install: "apt-get install maven", suites: ["stores", "clients", "http2"] },
  { name: "Go", check: "go version", install: "https://go.dev/dl/", suites: ["clients", "http2", "docs", "web"] },
  {
    name: "Python",
    check: "python3 -c 'import ensurepip, venv'",
    install: "apt-get install python3 python3-venv",
    suites: ["clients", "http2", "deploy", "web"],
  },
  { name: "Rust", check: "cargo clippy --version", install: "https://rustup.rs/", suites: ["clients"] },
  { name: "curl", check: "curl --version", install: "apt-get install curl", suites: ["clients", "http2", "web"] },
  {
    name: "systemd-analyze",
    check: "systemd-analyze --version",
    install: "apt-get install systemd",
    suites: ["deploy"],
  },
  {
    name: "libseccomp",
    check: "python3 -c 'import ctypes; ctypes.CDLL(\"libseccomp.so.2\")'",
    install: "apt-get install libseccomp2",
    suites: ["deploy"],
  },
];

/**
 * What of the needs of some suites this machine lacks. Debian's packages are a need, too, where a tool has yet to be
 * fetched from them.
 */
export async function missingNeeds(suites: readonly string[]): Promise<readonly MachineNeed[]> {
  const toFetch = debianToolsToFetch();
  const packages: MachineNeed = {
    name: "Debian's packages",
    check: "command -v apt-get && command -v dpkg-deb",
    install: `Debian 12 or Ubuntu; or, on PATH: ${toFetch.join(", ")}`,
    suites: suitesOfDebian,
  };
  const wanted = [...machineNeeds, ...(toFetch.length === 0 ? [] : [packages])].filter((need) =>
    need.suites.some((suite) => suites.includes(suite)),
  );
  const found = await Promise.all(wanted.map(({ check }) => endsWell(check)));
  return wanted.filter((_, index) => !found[index]);
}

/** Says in one message what is missing, how to get it, and which suites can do without. */
export function describeMissing(missing: readonly MachineNeed[], suites: readonly string[]): string {
  const rows = missing.map(({ name, install, suites: own }) => {
    const stopped = own.filter((suite) => suites.includes(suite)).join(" ");
    return `  ${name.padEnd(18)} ${install}\n${" ".repeat(21)}for ${stopped}\n`;
  });
  const free = suites.filter((suite) => !missing.some(({ suites: own }) => own.includes(suite)));
  const rest = free.length === 0 ? "" : `\nThe other suites can run: npm test -- ${free.join(" ")}\n`;
  return `The tests need programs that this machine does not have:\n${rows.join("")}${rest}`;
}

function endsWell(check: string): Promise<boolean> {
  return new Promise((resolve) => {
    const child = spawn("sh", ["-c", check], { stdio: "ignore" });
    child.once("error", () => resolve(false));
    child.once("close", (code) => resolve(code === 0));
  });
}
