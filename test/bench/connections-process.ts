/**
 * A process that opens connections which say hello over HTTP/2 and nothing more: `PORT COUNT`. Says when all are open.
 * They answer PINGs, or the server would give them up.
 */
import { RawClient } from "../support/http2/http2-raw-client.ts";
import { hello } from "../support/http2/http2-wire.ts";

const [port, count] = process.argv.slice(2).map(Number);
for (let index = 0; index < count!; index++) {
  const client = await RawClient.connect(port!);
  client.send(hello);
}
process.send!("open");
