import { loadChunk } from "./chunk.ts";
import type { Failure } from "./failure.ts";
import type * as Server from "./server.ts";
import type { Change, Seen, State } from "./state.ts";
import { authorization } from "./token.ts";

/** How often Watch asks how the server is. */
const statusPeriodMs = 2_000;
/** Every third of these periods, the server is asked for all else, while the page is in sight: 6 s. */
const statusesPerLook = 3;

/** A part of the state of Watch that a look brings. */
type SeenPart = "list" | "status" | "sequences";

/**
 * Keeps the state of the server known, and on Watch what it and its workers do. A page that is out of sight asks
 * nothing.
 *
 * @returns A function that looks at once, as when the view changes or a token was typed.
 */
export function watchServer(change: Change, now: () => State): () => void {
  let looking: Promise<void> | undefined;
  let asking: Promise<void> | undefined;
  let isListing = false;
  let periods = 0;
  /** The life of the server, as the last status told it before the server was asked what it is. */
  let knownLife: number | undefined;
  let lifeWithoutSequences: number | undefined;
  const watches = (): boolean =>
    document.visibilityState === "visible" &&
    now().view === "watch" &&
    now().watch.looks === "on" &&
    now().server.kind !== "closed";
  const look = async (): Promise<void> => {
    if (document.visibilityState === "hidden") return;
    const server = await loadChunk(change, () => import("./server.ts"));
    if (server === undefined) return;
    const token = authorization();
    knownLife = now().watch.status.value?.startMs;
    const failure = await Promise.all([server.getInfo(), server.isServing()]).then(
      ([info, isServing]): undefined => {
        change((state) => ({ ...state, server: { kind: isServing ? "serving" : "waiting", info } }));
      },
      (error: unknown) => server.failureOf(error),
    );
    // Another token was typed meanwhile: its look follows.
    if (authorization() !== token) return;
    change((state) => withAccess(state, failure, token !== undefined));
    await lookAtStatus();
    void lookAtLists();
  };
  // A store that does not answer keeps the lists waiting: what the server itself knows does not wait for them.
  const lookAtLists = async (): Promise<void> => {
    if (isListing || !watches()) return;
    const server = await loadChunk(change, () => import("./server.ts"));
    if (server === undefined || isListing) return;
    isListing = true;
    // A browser writes each 404 on its console, so a life of a server that keeps no sequences is asked for them once.
    const life = now().watch.status.value?.startMs;
    const hasSequences = life === undefined || life !== lifeWithoutSequences;
    await Promise.all([
      seen(change, server, "list", server.listWorkers()),
      hasSequences ? seen(change, server, "sequences", server.listSequences()) : undefined,
    ]);
    const { value, failure } = now().watch.sequences;
    if (value === undefined && failure === undefined) lifeWithoutSequences = life;
    isListing = false;
  };
  const askForStatus = async (): Promise<void> => {
    if (!watches()) return;
    const server = await loadChunk(change, () => import("./server.ts"));
    if (server !== undefined) await seen(change, server, "status", server.getStatus(now().watch.status.value));
  };
  const lookAtStatus = (): Promise<void> => (asking ??= askForStatus().finally(() => (asking = undefined)));
  const lookAgain = (): void => void (looking ??= look().finally(() => (looking = undefined)));
  lookAgain();
  setInterval(() => {
    void lookAtStatus();
    if (++periods % statusesPerLook !== 0) return;
    // A status beside them in one turn costs a server less than a call of its own, which wakes it.
    if (watches() && isStillAsToldBefore(now(), knownLife)) void lookAtLists();
    else lookAgain();
  }, statusPeriodMs);
  document.addEventListener("visibilitychange", () => void look());
  return () => void look();
}

/** Whether the last status says that GetInfo and the health check would say again what they said. */
function isStillAsToldBefore({ server: { kind, info }, watch }: State, knownLife: number | undefined): boolean {
  const { value: status, failure } = watch.status;
  return (
    failure === undefined &&
    kind === "serving" &&
    status?.serving === true &&
    status.startMs === knownLife &&
    status.grant?.datacenterId === info?.datacenterId &&
    status.grant?.workerId === info?.workerId
  );
}

/** What the answer to the first question says of the caller's token, and of the server. */
function withAccess(state: State, failure: Failure | undefined, hasToken: boolean): State {
  const { server, access } = state;
  const reason = failure?.reason;
  if (reason === undefined) {
    return { ...state, access: hasToken ? { kind: "given", typed: "" } : { ...access, kind: "open" } };
  }
  if (reason === "MISSING_CREDENTIALS" || reason === "UNAUTHENTICATED") {
    const kind = hasToken ? "wrong" : "wanted";
    return { ...state, server: { ...server, kind: "closed" }, access: { ...access, kind } };
  }
  if (reason === "METHOD_DENIED") {
    // The token is right; another one may permit more.
    return { ...state, server: { kind: "serving", info: undefined }, access: { kind: "given", typed: "" } };
  }
  // A server that cannot answer before it has a worker ID is there all the same.
  return { ...state, server: { ...server, kind: reason === "UNREACHABLE" ? "away" : "waiting" } };
}

async function seen<Part extends SeenPart>(
  change: Change,
  { failureOf }: typeof Server,
  part: Part,
  asked: Promise<State["watch"][Part]["value"]>,
): Promise<void> {
  const put = (next: (before: Seen<unknown>) => Seen<unknown>): void =>
    change((state) => ({ ...state, watch: { ...state.watch, [part]: next(state.watch[part]) } }));
  await asked.then(
    (value) => put(() => ({ value, failure: undefined })),
    (error: unknown) => put(({ value }) => ({ value, failure: failureOf(error) })),
  );
}
