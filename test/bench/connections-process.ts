/**
 * A process that opens connections which say hello over HTTP/2 and nothing more: `PORT COUNT`. Says when all are open.
 */
import { once } from "node:events";
import { connect } from "node:net";
import { hello } from "../support/http2-wire.ts";

const [port, count] = process.argv.slice(2).map(Number);
for (let index = 0; index < count!; index++) {
  const socket = connect(port!, "127.0.0.1");
  await once(socket, "connect");
  socket.write(hello);
  socket.once("data", () => socket.pause());
}
process.send!("open");
