/** A part of https://www.w3.org/TR/trusted-types/ that TypeScript's types of the DOM have not. */
interface TrustedTypes {
  createPolicy(name: string, rules: TrustedScripts): TrustedScripts;
}

/** Gives the address of a script that the page's policy then takes; throws for any other. */
export interface TrustedScripts {
  createScriptURL(text: string): string;
}

/** Undefined where the browser asks for none. */
export function trustedTypes(): TrustedTypes | undefined {
  return (globalThis as { readonly trustedTypes?: TrustedTypes }).trustedTypes;
}
