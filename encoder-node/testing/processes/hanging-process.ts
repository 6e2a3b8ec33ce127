// A process whose main thread hangs under a watchdog: `hanging-process.ts <how> <url> <spool>`.
import { LeaseProof } from "#shared/protocol/leases.ts";
import { workingOn } from "../../watchdog/current-lease.ts";
import { startWatchdog } from "../../watchdog/watchdog.ts";
import { silentLog } from "../silent-log.ts";

const [how = "", url = "", spool = ""] = process.argv.slice(2);
const lease = (task: string) => LeaseProof.parse({ lease: `AAAAAAAAAAAAAA.${task}.1`, token: `token-of-${task}` });

/** Takes 2^146 steps. */
const EXPONENTIAL = /^(?:<!--.*?-->)*<html/;

const HANGS: Readonly<Record<string, () => void>> = {
  loopsForever() {
    for (;;);
  },
  matchesForever: () => void EXPONENTIAL.test("<!---->".repeat(146)),
  waitsInTheSystem: () => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0),
};

startWatchdog({ url, token: "n-none", spool, limitMs: 600 }, silentLog);
// Other work runs, too.
workingOn(lease("audio"), () => setInterval(() => undefined, 10));
const hang = HANGS[how];
if (hang) workingOn(lease("inspect"), () => setTimeout(hang, 100));
else setTimeout(() => HANGS.loopsForever?.(), 100);
