import type { Fault, faultKinds } from "./fault.ts";
import type { Simulation, Slot } from "./simulation.ts";
import type { LinkState } from "./simulated-store.ts";

type Injector = (simulation: Simulation, fault: Fault, slot: Slot) => void;

/** Between two values, by the fault's size. */
function scaled(fault: Fault, from: number, to: number): number {
  return from + fault.size * (to - from);
}

/** Between two values above 0, by the fault's size, so that each order of magnitude gets its share. */
function spread(fault: Fault, from: number, to: number): number {
  return from * (to / from) ** fault.size;
}

/** How long outages of network and store last. */
function outageMs(fault: Fault): number {
  return fault.lengthMs ?? spread(fault, 100, 9_000);
}

/** Lets one fault of a plan happen. What it begins, it ends. */
export function injectFault(simulation: Simulation, fault: Fault): void {
  const { kind, target } = fault;
  if (kind === "operator-release") return simulation.releaseByOperator(target);
  simulation.meet(fault, (slot) => injectors[kind](simulation, fault, slot));
}

const step =
  (fromMs: number, toMs: number): Injector =>
  (_, fault, { machine }) =>
    machine.step(scaled(fault, fromMs, toMs));

const degrade =
  (change: (fault: Fault) => Partial<LinkState>): Injector =>
  (simulation, fault, { link }) => {
    const before = { ...link };
    Object.assign(link, change(fault));
    simulation.lasting(outageMs(fault), () => Object.assign(link, before));
  };

/** Standing still, in one of three ways: seen by all clocks, by the wall clock and the uptime, or by none. */
const standStill =
  (wake: (slot: Slot, lengthMs: number) => void): Injector =>
  (simulation, fault, slot) => {
    const { process } = slot;
    const fromMs = simulation.queue.nowMs;
    process.pause();
    simulation.lasting(fault.lengthMs ?? spread(fault, 150, 9_000), () => {
      wake(slot, simulation.queue.nowMs - fromMs);
      process.resume(simulation.random.pick(["timer", "answer", undefined]));
      // The first thing that a woken process does may be to answer a request or to obey a signal.
      if (fault.wake === "stop") restart(simulation, slot);
      else if (fault.wake === "draw" || fault.size > 0.5) simulation.draw(process, 100);
    });
  };

function restart(simulation: Simulation, slot: Slot): void {
  if (!slot.process.isRunning) return;
  void slot.process.stop(3_000).then(() => simulation.restartLater(slot, 1));
}

const injectors: Readonly<Record<(typeof faultKinds)[number], Injector>> = {
  "clock-back-small": step(-1, -1_990),
  "clock-back-large": (_, fault, { machine }) => machine.step(-spread(fault, 2_000, 3_600_000)),
  "clock-forward-small": step(1, 1_990),
  "clock-forward-large": (_, fault, { machine }) => machine.step(spread(fault, 2_000, 3_600_000)),
  "leap-second": step(-1_000, -1_000),
  "clock-drift": (_, fault, { machine }) => machine.drift(scaled(fault, -500, 500)),
  "clock-freeze": (simulation, fault, { machine }) => {
    machine.freeze();
    simulation.lasting(spread(fault, 200, 6_000), () => machine.unfreeze());
  },
  "pause-seen": standStill(() => {}),
  suspend: standStill(({ machine }, lengthMs) => machine.wakeFromSuspend(lengthMs)),
  "pause-unseen": standStill(({ machine }, lengthMs) => machine.wakeUnseen(lengthMs)),
  crash: (simulation, fault, slot) => {
    slot.process.crash();
    simulation.restartLater(slot, spread(fault, 1, 9_000));
  },
  restart: (simulation, _, slot) => restart(simulation, slot),
  "rolling-restart": (simulation) => {
    simulation.slots.forEach((slot, place) => simulation.queue.after(place * 150, () => restart(simulation, slot)));
  },
  clone: (simulation, _, slot) => simulation.clone(slot),
  "network-cut": degrade(() => ({ isCut: true })),
  "network-slow": degrade((fault) => ({ delayMaxMs: scaled(fault, 200, 8_000) })),
  "network-loss": degrade((fault) => ({ lossRate: scaled(fault, 0.1, 0.6) })),
  "network-duplicates": degrade((fault) => ({ duplicateRate: scaled(fault, 0.3, 1) })),
  "store-outage": (simulation, fault) => {
    const { server } = simulation;
    server.isDown = true;
    simulation.lasting(outageMs(fault), () => {
      server.isDown = false;
    });
  },
  "store-freeze": (simulation, fault) => {
    const { server } = simulation;
    server.freeze();
    simulation.lasting(outageMs(fault), () => server.unfreeze());
  },
  "store-restart": (simulation, fault) => {
    const { server } = simulation;
    server.isDown = true;
    server.loseLastWrites();
    simulation.lasting(outageMs(fault) / 4, () => server.restart("same"));
  },
  "store-failover": ({ server }) => {
    server.loseLastWrites();
    server.restart("another");
  },
  "store-goes-back": ({ server }) => server.goBack(),
  "store-goes-back-unseen": (simulation) => simulation.loseUnseen(),
  "store-wipe": ({ server }) => server.wipe(),
  "store-split": (simulation, fault) => {
    const { server } = simulation;
    server.split();
    simulation.lasting(outageMs(fault), () => server.healSplit());
  },
};
