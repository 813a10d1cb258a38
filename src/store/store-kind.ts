/** The kinds of store that a URL can name. */
const storeKinds = ["sqlite", "postgres", "mysql", "redis", "etcd", "zookeeper", "kubernetes"] as const;

/** One of these kinds. */
export type StoreKind = (typeof storeKinds)[number];

/** Other spellings of a scheme, as other programs write them. */
const aliases: Readonly<Record<string, StoreKind>> = { postgresql: "postgres", mariadb: "mysql", rediss: "redis" };

/** All schemes that a store's URL can begin with. */
export const storeSchemes: readonly string[] = [...storeKinds, ...Object.keys(aliases)];

/** The scheme of a URL, without its colon; empty if it has none. */
export function schemeOf(url: string): string {
  return /^([a-z]+):/.exec(url)?.[1] ?? "";
}

/** The kind of store that a URL names; undefined if it names none. */
export function storeKindOf(url: string): StoreKind | undefined {
  const scheme = schemeOf(url);
  return storeKinds.find((kind) => kind === scheme) ?? (Object.hasOwn(aliases, scheme) ? aliases[scheme] : undefined);
}
