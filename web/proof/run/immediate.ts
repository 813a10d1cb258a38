/** Gives a worker the `setImmediate` of Node, by which the simulation lets promises settle between two events. */

const waiting: (() => void)[] = [];
const { port1, port2 } = new MessageChannel();
Object.assign(port1, { onmessage: () => waiting.shift()?.() });

globalThis.setImmediate = ((task: () => void) => {
  waiting.push(task);
  port2.postMessage(undefined);
}) as typeof setImmediate;
