/** The place of a store, for people: a URL without the parts that must not be shown. */
import { resolve } from "node:path";

/** The most characters of a place that fits into a record. */
export const placeLengthMax = 150;

/** The place of a store, for people: without user, password and parameters. */
export function placeOf(storeUrl: string): string {
  const bare = storeUrl.startsWith("sqlite:") ? storeUrl : storeUrl.replace(/^([a-z]+:\/\/).*@/, "$1");
  return bare.replace(/[?#].*$/, "");
}

/** Places in a form that fits into a record: a character that is not printable ASCII becomes a question mark. */
export function recordedPlace(...storeUrls: readonly string[]): string {
  const whole = storeUrls.map((url) => wholePlace(placeOf(url))).join(" ");
  return whole.replaceAll(/[^ -~]/gu, "?").slice(0, placeLengthMax);
}

/** Makes a path of this machine absolute, so that it means the same in every folder. */
function wholePlace(place: string): string {
  return place.startsWith("sqlite:") ? `sqlite:${resolve(place.replace(/^sqlite:(\/\/(?=\/))?/, ""))}` : place;
}
