// Finds free ports of the loopback interface.
import { createServer } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

const CHECK_EVERY_MS = 100;

/**
 * Below the ports that systems take for outgoing connections, so that no connection takes a found port. Also below the
 * ports in the data of earlier releases, which tests need.
 */
const FREE_FROM = 20_000;
export const FREE_TO = 28_000;

/** True if a server could listen on `127.0.0.1:<port>`. */
export function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once("error", () => resolve(false));
    probe.listen({ port, host: "127.0.0.1", exclusive: true }, () => probe.close(() => resolve(true)));
  });
}

/** Waits until the port is free. Returns false if it is still taken after `limitMs`. */
export async function becomesFree(port: number, limitMs: number): Promise<boolean> {
  const deadline = Date.now() + limitMs;
  while (!(await isFree(port))) {
    if (Date.now() > deadline) return false;
    await sleep(CHECK_EVERY_MS);
  }
  return true;
}

/**
 * Each process starts at another port and never goes back. Two processes that start systems at the same time, as tests
 * do, then never take a port that the other has found and not yet opened.
 */
let next = (process.pid * 97) % (FREE_TO - FREE_FROM);

/** A free port that is not in `except`. Each call returns another port. */
export async function findFree(...except: number[]): Promise<number> {
  for (;;) {
    const port = FREE_FROM + next;
    next = (next + 1) % (FREE_TO - FREE_FROM);
    if (!except.includes(port) && (await isFree(port))) return port;
  }
}
