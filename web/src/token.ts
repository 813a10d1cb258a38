/**
 * The token of the caller. It is kept in memory alone, so it is gone after a reload, and it goes to the origin that the
 * page came from alone.
 */
let token: string | undefined;

/** Sends this token with every further call; empty: none. */
export function setToken(text: string): void {
  const trimmed = text.trim();
  token = trimmed === "" ? undefined : trimmed;
}

/** The value of the field `authorization`; undefined without a token. */
export function authorization(): string | undefined {
  return token === undefined ? undefined : `Bearer ${token}`;
}

/** Whether a text can be sent as a token: what a header may hold, without spaces. */
export function isToken(text: string): boolean {
  return /^[\x21-\x7e]{1,4096}$/.test(text.trim());
}
