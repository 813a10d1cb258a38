/** What a text with several IDs needs, and an ID of another generator: this part is loaded with the first ID. */
export { differenceCard } from "./difference.ts";
export { foundList } from "./found-list.ts";
export { strangerParts } from "./stranger.ts";
