import { namespacePattern } from "../store/open-store.ts";
import { withFallback } from "./setting.ts";
import { text } from "./setting-kinds.ts";
import { storeUrl } from "./store-url.ts";

/** Settings that say where the records are: for every command that reads or writes a store. */
export const storeSettings = {
  storeUrl: storeUrl({
    name: "store",
    namesElsewhere: ["db", "database", "url"],
    doc:
      "The store that keeps the worker records, one for all processes that must never repeat each other's IDs: sqlite:PATH, " +
      "postgres://, mysql://, redis://, etcd://, zookeeper://, kubernetes://. Default: one SQLite file in the user's state " +
      "directory, when listening on loopback and not in a Kubernetes pod; otherwise it is required.",
  }),
  storeFile: text({
    name: "storeFile",
    placeholder: "FILE",
    doc:
      "A file whose one line is the URL of the store, in place of --store: for a password, which must not appear in the " +
      "list of processes, such as a secret of Docker or Kubernetes. The file must not be writable by every user of the " +
      "machine. Default: none.",
  }),
  namespace: withFallback(
    text({
      name: "namespace",
      placeholder: "NAME",
      pattern: namespacePattern,
      hint: "1 to 63 lower-case letters, digits and hyphens, with a letter or digit at both ends",
      doc: "The set of records in the store. Namespaces are independent: two with one layout repeat each other's IDs.",
    }),
    "default",
  ),
};
