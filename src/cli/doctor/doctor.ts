import { closeSync, existsSync, mkdtempSync, openSync, rmdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { systemClock } from "../../clock/clock.ts";
import { serverSettings } from "../../config/server-settings.ts";
import { serverSettingGroups } from "../../config/setting-groups.ts";
import { onOff } from "../../config/setting-kinds.ts";
import { resolveSequenceStore, resolveServer, type WorkerChoice } from "../../config/resolve-server.ts";
import { problemsOf, valueOf } from "../../config/resolved.ts";
import { defaultStoreTimeoutMs } from "../../store/store-timeout.ts";
import { parseSqliteUrl, sqliteTiming } from "../../store/sqlite/sqlite.ts";
import { checkFolder } from "../../store/sqlite/store-file.ts";
import type { Command, CommandInput } from "../command.ts";
import { exitCodes } from "../exit-code.ts";
import { checkAccess } from "./doctor-access.ts";
import { checkAddress, checkMachineClock, checkOpenFiles } from "./doctor-machine.ts";
import { checkSequences } from "./doctor-sequences.ts";
import { checkStore, checkTimes } from "./doctor-store.ts";
import { exitCodeOfFindings, fail, failOf, type Finding, findingsToTable, findingToJson, ok } from "./finding.ts";
import { paintFor } from "../paint.ts";
import { readBinding } from "../../lease/sequences-binding.ts";
import type { SequencesRecord } from "../../lease/records/sequences-record.ts";
import { placeOf } from "../../store/store-place.ts";
import { openExistingRecords, openNewRecords } from "../store/open-records.ts";

const options = {
  json: onOff({ name: "json", doc: "Prints one JSON object a line for each finding, for programs." }),
};

type Settings = CommandInput<typeof serverSettings, typeof options>["settings"];

/** `snowlane doctor`. */
export const doctor: Command<typeof serverSettings, typeof options> = {
  name: "doctor",
  summary: "Checks whether serve would work with these settings: store, clock, layout, worker IDs, address",
  settings: serverSettings,
  groups: serverSettingGroups,
  options,
  examples: [
    "snowlane doctor",
    "snowlane doctor --store postgres://snowlane@db/snowlane",
    "snowlane doctor --config snowlane.json --json",
  ],
  check: (settings, _options, environment) => problemsOf(resolveServer(settings, environment)),
  run: async ({ settings, options: { json }, environment, stdout }) => {
    const choice = valueOf(resolveServer(settings, environment));
    const findings = [
      ...(await checkChosenStore(choice)),
      ...checkMachineClock(choice.layout),
      checkOpenFiles(settings),
      await checkAddress(settings.listen, settings.reusePort),
      ...(await checkAccess(settings, systemClock.nowMs())),
      ...checkIssueLog(settings),
      ...(await checkSequenceStore(settings, choice)),
    ];
    if (json) for (const finding of findings) stdout.write(`${findingToJson(finding)}\n`);
    else stdout.write(findingsToTable(findings, paintFor(stdout, environment)) + summaryOf(findings));
    return exitCodeOfFindings(findings);
  },
};

async function checkChosenStore(choice: WorkerChoice): Promise<readonly Finding[]> {
  const { storeUrl, namespace, layout } = choice;
  const place = placeOf(storeUrl);
  const absent = checkAbsentFile(choice);
  if (absent?.level === "fail") return [absent];
  const file = { timing: sqliteTiming, liveness: { kind: "lock" } } as const;
  if (absent !== undefined) return [absent, checkTimes(choice, layout, file)];
  try {
    // The limit of serve, so that doctor fails where serve would.
    const timeoutMs = choice.storeTimeoutMs ?? defaultStoreTimeoutMs(storeUrl, choice.windowMs);
    const store = await openExistingRecords(storeUrl, namespace, timeoutMs);
    try {
      const openNamespace = (other: string) => openNewRecords(storeUrl, other, timeoutMs);
      return await checkStore({ store, openNamespace, place, namespace, layout, worker: choice });
    } finally {
      await store.close();
    }
  } catch (error) {
    return [failOf("store", error, "Check --store.")];
  }
}

/** Reports on an SQLite file that a first start would make; a check does not make it. */
function checkAbsentFile({ storeUrl, namespace, whereNoFolder }: WorkerChoice): Finding | undefined {
  if (!storeUrl.startsWith("sqlite:")) return undefined;
  const { path } = parseSqliteUrl(storeUrl, { namespace, callTimeoutMs: 0 });
  if (existsSync(path)) return undefined;
  try {
    if (whereNoFolder === "refuse") checkFolder(path);
  } catch (error) {
    return failOf("store", error, "A start ends the same way.");
  }
  const folder = unwritableFolderOf(path);
  if (folder === undefined) return ok("store", `There is no file ${path} yet: the first start creates it.`);
  const hint = "Give this user the right to write there, or choose another --store.";
  return fail("store", `There is no file ${path} yet, and ${folder} cannot be written.`, hint, exitCodes.store);
}

/**
 * The folder in which a file or its folder would be made, if that cannot be done. A folder is made there and taken away
 * again: rights alone do not show a read-only disk, or a file system of the kernel.
 */
function unwritableFolderOf(path: string): string | undefined {
  let folder = dirname(path);
  while (!existsSync(folder) && folder !== dirname(folder)) folder = dirname(folder);
  try {
    rmdirSync(mkdtempSync(join(folder, ".snowlane-doctor-")));
    return undefined;
  } catch {
    return folder;
  }
}

/** The file of --issue-log, which a start appends to or makes; nothing where none was named. */
function checkIssueLog({ issueLog }: Settings): readonly Finding[] {
  if (issueLog === undefined) return [];
  try {
    closeSync(openSync(issueLog, "r+"));
    return [ok("issue log", `${issueLog} can be written.`)];
  } catch (error) {
    const canBeMade =
      !existsSync(issueLog) && existsSync(dirname(issueLog)) && unwritableFolderOf(issueLog) === undefined;
    if (canBeMade) return [ok("issue log", `There is no file ${issueLog} yet: the first start creates it.`)];
    const detail = `${issueLog} cannot be written (${(error as Error).message}).`;
    const hint = "Give a file that this user can write, or leave --issue-log out.";
    return [fail("issue log", detail, hint, exitCodes.usage)];
  }
}

async function checkSequenceStore(
  settings: Settings,
  { storeUrl, namespace }: WorkerChoice,
): Promise<readonly Finding[]> {
  const options = { namespace, callTimeoutMs: settings.sequenceStoreTimeoutMs };
  const urls = resolveSequenceStore(settings, storeUrl) ?? [];
  const bound = urls.length === 0 ? undefined : await readBound(storeUrl, namespace);
  return Promise.all(urls.map((url) => checkSequences(url, options, bound)));
}

/** The database of sequences that the deployment has noted; undefined where the store does not say. */
async function readBound(storeUrl: string, namespace: string): Promise<SequencesRecord | undefined> {
  const records = await openExistingRecords(storeUrl, namespace).catch(() => undefined);
  const bound = await (records && readBinding(records))?.catch(() => undefined);
  await records?.close();
  return bound;
}

function summaryOf(findings: readonly Finding[]): string {
  const failed = findings.filter(({ level }) => level === "fail").length;
  const warned = findings.filter(({ level }) => level === "warn").length;
  if (failed === 0 && warned === 0) return "No problems found.\n";
  return `${failed} failed, ${warned} to look at.\n`;
}
