/** The first script, which is small: the head in the file is painted before any other code runs. */
import { afterFrame } from "./after-frame.ts";
import { keptTheme } from "./kept.ts";

const begin = (): void => void import("./page.ts").then(({ start }) => start());

document.documentElement.dataset["theme"] = keptTheme();
if (performance.getEntriesByName("first-contentful-paint").length > 0) begin();
else afterFrame(begin);
