/** Lets the site work offline. The page that a server serves has neither this script nor its worker: docs/adr/0214. */
import { type TrustedScripts, trustedTypes } from "../src/script-address.ts";

const address = new URL("../service-worker.js", import.meta.url).href;
const scripts: TrustedScripts | undefined = trustedTypes()?.createPolicy("snowlane-offline", {
  createScriptURL: (text) => {
    if (text !== address) throw new TypeError("This is not the worker of the site.");
    return text;
  },
});

// Browsers have it on https and localhost alone; elsewhere the site works as any other does, as long as it is there.
if ("serviceWorker" in navigator) {
  navigator.serviceWorker.register(scripts?.createScriptURL(address) ?? address).catch(() => undefined);
}
