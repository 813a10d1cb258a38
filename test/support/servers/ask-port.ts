import { connect } from "node:net";

/** Sends a text to a port of 127.0.0.1 and returns what comes back within `timeoutMs`, up to the first line's end. */
export function askPort(port: number, question: string, timeoutMs = 10_000): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1", () => socket.write(question));
    let answer = "";
    const timer = setTimeout(() => socket.destroy(new Error(`no answer within ${timeoutMs} ms`)), timeoutMs);
    socket.setEncoding("utf8");
    socket.on("data", (text: string) => {
      answer += text;
    });
    socket.on("error", reject);
    socket.on("close", () => {
      clearTimeout(timer);
      resolve(answer);
    });
    socket.on("end", () => socket.end());
  });
}
