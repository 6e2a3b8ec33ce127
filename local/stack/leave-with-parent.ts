// Loaded with --import into the processes of the local system: none outlives the stack that started it for long.
import { whenParentIsGone } from "./parent.ts";

const ASK_AGAIN_MS = 3000;
const LAST_WORDS_MS = 10_000;

const ask = (): unknown => process.kill(process.pid, "SIGTERM");

whenParentIsGone(() => {
  // A node that is asked twice cuts its work off; a kill would leave its ffmpeg running.
  setTimeout(ask, ASK_AGAIN_MS).unref();
  setTimeout(() => process.kill(process.pid, "SIGKILL"), LAST_WORDS_MS).unref();
  ask();
});
