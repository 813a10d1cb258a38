import type { SequenceEvent } from "../sequence/sequence-database.ts";
import type { Log } from "./log.ts";

/** Writes what happened to the database of sequences into the log. */
export function logSequenceEvent(log: Log, event: SequenceEvent): void {
  switch (event.kind) {
    case "stopped": {
      const hint = "snowlane sequences raise, then snowlane sequences open: docs/sequences.md";
      return log.error("The database of sequences is stopped: values in memory are handed out, and no more", {
        ...(event.stripe === undefined ? {} : { stripe: event.stripe }),
        reason: event.reason,
        hint,
      });
    }
    case "copied":
      return log.warn(
        "Another copy of this process takes values, for example a started snapshot of its machine: the values in memory are dropped",
      );
    case "opened":
      return log.info("The database of sequences is open again", { revision: event.revision });
    case "opening-ahead":
      return log.warn("The time at which the database of sequences opens is too far ahead, so it counts as passed", {
        aheadMs: event.aheadMs,
      });
    case "stripe-problem": {
      const { stripe, error } = event;
      return log.warn("One of the databases of sequences is not used; the others give values", { stripe, error });
    }
    case "stripe-answers":
      return log.info("A database of sequences gives values again", { stripe: event.stripe });
    case "stripe-lacks": {
      const { stripe, name } = event;
      const hint = "snowlane sequences create again, or snowlane sequences add-database again: docs/sequences.md";
      return log.warn("One of the databases of sequences does not have a sequence", { stripe, name, hint });
    }
    case "call-failed":
      return log.warn("An operator's call to the database of sequences failed", { error: event.error });
    case "range-discarded": {
      const { name, count, error } = event;
      return log.warn("A take of values failed: if it was applied, its range is a gap", { name, count, error });
    }
    case "given-back": {
      const { name, count, outcome } = event;
      const message = outcome === "given" ? "Gave values back" : "Could not give values back: they are a gap";
      return log.debug(message, { name, count: String(count) });
    }
  }
}
