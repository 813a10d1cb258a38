import type { Change, State } from "./state.ts";

/** How often the server is asked, while the page is in sight. */
const periodMs = 5_000;

/**
 * Keeps the state of the server known, and on Watch the list of worker IDs. A page that is out of sight asks nothing.
 *
 * @returns A function that looks at once, as when the view changes.
 */
export function watchServer(change: Change, now: () => State): () => void {
  const look = async (): Promise<void> => {
    if (document.visibilityState === "hidden") return;
    const { failureOf, getInfo, listWorkers } = await import("./server.ts");
    const info = await getInfo().catch(() => undefined);
    change((state) => ({
      ...state,
      server: info === undefined ? { ...state.server, kind: "away" } : { kind: "serving", info },
    }));
    if (now().view !== "watch") return;
    try {
      const list = await listWorkers();
      change((state) => ({ ...state, watch: { ...state.watch, list, failure: undefined } }));
    } catch (error) {
      const failure = failureOf(error);
      change((state) => ({ ...state, watch: { ...state.watch, failure } }));
    }
  };
  const again = (): void => void look().finally(() => setTimeout(again, periodMs));
  again();
  document.addEventListener("visibilitychange", () => void look());
  return () => void look();
}
