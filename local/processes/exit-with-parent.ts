// Loaded with --import into the processes of the local system, so that they stop after the stack that started them has
// ended.
import { whenParentExits } from "./parent.ts";

const SECOND_SIGNAL_MS = 3000;
const KILL_AFTER_MS = 10_000;

const terminate = (): unknown => process.kill(process.pid, "SIGTERM");

whenParentExits(() => {
  // A node abandons its tasks at the second SIGTERM; a SIGKILL would leave its ffmpeg running.
  setTimeout(terminate, SECOND_SIGNAL_MS).unref();
  setTimeout(() => process.kill(process.pid, "SIGKILL"), KILL_AFTER_MS).unref();
  terminate();
});
