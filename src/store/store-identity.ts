/**
 * The identity of a store's life: named parts in one string, such as `system=7331 timeline=00000001 database=16384`.
 *
 * Two processes may know different parts, for example because one of them is a newer version, or is not permitted to
 * read all of them from the server. So only the parts that both name are compared. docs/adr/0103 has the decision.
 */

/** The longest identity that a record can hold. */
export const identityLengthMax = 200;

/** The part that names the server's data as a whole, across its restarts. */
export const systemPart = "system";

/**
 * Writes an identity.
 *
 * @param parts - Name to value, in the order of writing; an undefined part could not be read and is left out.
 * @throws Error if a value is empty or contains a blank, or the whole is too long, which is a bug of the store.
 */
export function identityOf(parts: Readonly<Record<string, string | undefined>>): string {
  const known = Object.entries(parts).filter(([, value]) => value !== undefined);
  const identity = known.map(([name, value]) => `${name}=${value}`).join(" ");
  if (identity.length > identityLengthMax || !/^[a-z]+=[!-~]+(?: [a-z]+=[!-~]+)*$/.test(identity)) {
    throw new Error(`it has an identity of another form: ${identity}`);
  }
  return identity;
}

/** Whether two identities have a part in common, and agree in each part that both name. */
export function sameIdentity(one: string, other: string): boolean {
  const [parts, others] = [partsOf(one), partsOf(other)];
  const common = [...parts].filter(([name]) => others.has(name));
  return common.length > 0 && common.every(([name, value]) => others.get(name) === value);
}

/** Whether two identities name the same parts and agree in all of them. */
export function equalIdentity(one: string, other: string): boolean {
  const [parts, others] = [partsOf(one), partsOf(other)];
  return parts.size === others.size && [...parts].every(([name, value]) => others.get(name) === value);
}

/** Whether an identity names a part. */
export function namesPart(identity: string, name: string): boolean {
  return partsOf(identity).has(name);
}

/**
 * Adds to an identity the parts that only the other one names.
 *
 * @returns `known` itself if there are none, or if there is no room for them.
 */
export function joinIdentities(known: string, other: string): string {
  const parts = partsOf(known);
  const added = [...partsOf(other)].filter(([name]) => !parts.has(name)).map(([name, value]) => `${name}=${value}`);
  const joined = [known, ...added].join(" ");
  return joined.length <= identityLengthMax ? joined : known;
}

/** The parts by name. A text without names, which no store writes, is one part without a name. */
function partsOf(identity: string): ReadonlyMap<string, string> {
  return new Map(
    identity.split(" ").map((piece) => {
      const at = piece.indexOf("=");
      return [piece.slice(0, Math.max(at, 0)), piece.slice(at + 1)];
    }),
  );
}
