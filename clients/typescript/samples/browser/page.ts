import { idToString, SnowlaneError } from "@snowlane/client";
import { createWebClient } from "@snowlane/client/web";

// Where the server is. It must allow this page's origin (`snowlane serve --cors-origin ...`), unless it serves the
// page itself.
const server = new URLSearchParams(location.search).get("server") ?? location.origin;
const client = createWebClient({ endpoints: [server] });
const buffer = client.prefetch();

async function show(): Promise<void> {
  try {
    const id = await buffer.nextId();
    const { createTimeMs, workerId } = await client.parse(id);
    const item = document.createElement("li");
    item.dataset["id"] = idToString(id);
    item.textContent = `${idToString(id)}, made ${new Date(createTimeMs).toISOString()} by worker ${workerId}`;
    document.querySelector("#ids")?.append(item);
  } catch (error) {
    const text = error instanceof SnowlaneError ? `${error.reason}: ${error.message}` : String(error);
    document.querySelector("#failure")?.append(text);
  }
}

document.querySelector("#more")?.addEventListener("click", () => void show());
await show();
