import { expect, test } from "vitest";
import { createNodeClient } from "./node.ts";
import { createWebClient } from "./web.ts";

test("an option that nobody knows is refused, with the one that was meant", () => {
  expect(() => createNodeClient({ timoutMs: 5 } as never)).toThrow(
    "There is no option timoutMs. Did you mean timeoutMs?",
  );
  expect(() => createWebClient({ endpoints: ["http://a"], tls: {} } as never)).toThrow("There is no option tls.");
  const client = createNodeClient({ tls: {} });
  expect(() => client.prefetch({ outgeMs: 600_000 } as never)).toThrow("Did you mean outageMs?");
  client.prefetch({ outageMs: 600_000 });
  client.close();
});

test("options that are no object are refused", () => {
  for (const options of ["http://127.0.0.1:7609", ["http://127.0.0.1:7609"], null, 7])
    expect(() => createNodeClient(options as never)).toThrow(TypeError);
});
