/** How the commands of sequences reach them: through a server, or in their database without one. */
import {
  type Client,
  Code,
  ConnectError,
  createClient,
  createRouterTransport,
  type Transport,
} from "@connectrpc/connect";
import { systemClock, systemTimers } from "../../clock/clock.ts";
import { resolveSequenceStore, resolveStoreUrl } from "../../config/resolve-server.ts";
import { valueOf } from "../../config/resolved.ts";
import { sequenceStoreSettings } from "../../config/sequence-settings.ts";
import type { SettingValues } from "../../config/setting.ts";
import { storeSettings } from "../../config/store-settings.ts";
import { SequenceService } from "../../gen/snowlane/v1/sequence_service_pb.ts";
import type { SequenceCatalog } from "../../sequence/sequence-catalog.ts";
import { Sequences } from "../../sequence/sequences.ts";
import { checkBinding, readBinding } from "../../lease/sequences-binding.ts";
import type { RecordStore } from "../../store/record-store.ts";
import { recordedPlace } from "../../store/store-place.ts";
import { openExistingRecords } from "../store/open-records.ts";
import { errorInterceptor } from "../../service/connect-error.ts";
import { createSequenceService } from "../../service/sequence-service.ts";
import { IdError } from "../../errors.ts";
import type { CommandContext } from "../command.ts";
import { CommandError, exitCodes } from "../exit-code.ts";
import { refuseCall } from "../server/remote-error.ts";
import { readAccess, type ServerOptionValues, serverOptions } from "../server/server-access.ts";

/** Where sequences are kept, for every command that works on them. */
export const sequencePlaceSettings = { ...sequenceStoreSettings, ...storeSettings };

/** `--server` and what belongs to it, of the commands that can ask one. */
export const sequenceServerOptions = serverOptions(
  "Asks a server. Default: works on the database itself, for which no server has to run.",
);

type PlaceSettings = SettingValues<typeof sequencePlaceSettings>;

/** The input of a command that reaches sequences. */
export interface AccessInput {
  readonly settings: PlaceSettings;
  readonly environment: CommandContext["environment"];
  /** What to do where no sequence was ever kept: only `create` makes a database for them. */
  readonly whereNew: "create" | "refuse";
}

/** What a command does to sequences: an operator's command works while the worker store is away. */
type Purpose = "call" | "operate";

/** The deadline of one call to a database, in milliseconds. */
export const callTimeoutMs = 5_000;
const closeTimeoutMs = 2_000;
const batchCountMax = 1e9;

/**
 * Calls the service, of a server or of this process, and closes what was opened: values that were taken and are left
 * over are given back.
 *
 * @throws CommandError, IdError INVALID_CONFIG.
 */
export async function callSequences<T>(
  { settings, environment, options, whereNew }: AccessInput & { readonly options: ServerOptionValues },
  call: (client: Client<typeof SequenceService>) => Promise<T>,
): Promise<T> {
  const { server } = options;
  if (server !== undefined) {
    const access = await readAccess({ ...options, server });
    const { transportTo } = await import("../server/server-transport.ts");
    return call(createClient(SequenceService, transportTo(access))).catch(refuseCall(access));
  }
  const sequences = openSequences({ settings, environment, whereNew }, "call");
  let failure: unknown;
  const transport = ownTransport(sequences, (error) => {
    failure = error;
  });
  try {
    return await call(createClient(SequenceService, transport));
  } catch (error) {
    throw failure ?? error;
  } finally {
    await sequences.close(closeTimeoutMs);
  }
}

/** Works on the database itself, as an operator. @throws IdError. */
export async function operateSequences<T>(
  input: AccessInput,
  work: (catalog: SequenceCatalog, sequences: Sequences) => Promise<T>,
): Promise<T> {
  const sequences = openSequences(input, "operate");
  try {
    return await work(await sequences.catalog(), sequences);
  } finally {
    await sequences.close(closeTimeoutMs);
  }
}

/** The databases that the settings name, and a way to the records of their deployment. @throws CommandError. */
export function placesOf(settings: PlaceSettings, environment: CommandContext["environment"]) {
  const { namespace, sequenceStores } = settings;
  // The worker store is only asked for where it is needed: its error for a missing one would mislead.
  const workerStore = sequenceStores === undefined ? valueOf(resolveStoreUrl(settings, environment)) : "";
  const storeUrls = resolveSequenceStore(settings, workerStore);
  if (storeUrls === undefined) {
    const message = "The worker store keeps no sequences. Name their database with --sequence-stores URL.";
    throw new CommandError(message, exitCodes.usage);
  }
  const withDeployment = async <T>(
    work: (records: RecordStore) => Promise<T>,
    purpose: Purpose,
  ): Promise<T | undefined> => {
    // Without either setting the worker store is the sequence store, and then it was asked for above.
    if (settings.storeUrl === undefined && sequenceStores !== undefined) return undefined;
    return readDeployment(settings.storeUrl ?? workerStore, namespace, work, purpose);
  };
  return { storeUrls, withDeployment };
}

function openSequences({ settings, environment, whereNew }: AccessInput, purpose: Purpose): Sequences {
  const { namespace, sequenceStripes } = settings;
  const { storeUrls, withDeployment } = placesOf(settings, environment);
  return new Sequences({
    storeUrls,
    stripeCount: sequenceStripes,
    store: { namespace, callTimeoutMs, whereNew },
    bind: async (databaseId) => {
      checkBinding(await withDeployment(readBinding, purpose), { databaseId, place: recordedPlace(...storeUrls) });
    },
    waitMaxMs: callTimeoutMs,
    namesMax: 1,
    clock: systemClock,
    timers: systemTimers,
    onEvent: () => {},
  });
}

/**
 * Reads the records of a deployment; undefined = there are none. A command only compares them; only a server writes
 * them.
 */
async function readDeployment<T>(
  storeUrl: string,
  namespace: string,
  work: (records: RecordStore) => Promise<T>,
  purpose: Purpose,
): Promise<T | undefined> {
  const records = await openExistingRecords(storeUrl, namespace, callTimeoutMs);
  try {
    return await work(records);
  } catch (error) {
    const isNew = error instanceof IdError && error.metadata["kept"] === "nothing";
    const isAway = error instanceof IdError && error.reason === "STORE_UNAVAILABLE";
    if (isNew || (isAway && purpose === "operate")) return undefined;
    throw error;
  } finally {
    await records.close();
  }
}

/** Calls that fail are reported with the error of this process: a database's own words are for its operator. */
function ownTransport(sequences: Sequences, onError: (error: unknown) => void): Transport {
  const { descriptor, implementation } = createSequenceService({ sequences, clock: systemClock, batchCountMax });
  const toError = (error: unknown): ConnectError => {
    onError(error instanceof IdError && error.cause instanceof IdError ? error.cause : error);
    return new ConnectError("The call failed.", Code.Internal);
  };
  return createRouterTransport((router) => void router.service(descriptor, implementation), {
    router: { interceptors: [errorInterceptor(toError)] },
  });
}
