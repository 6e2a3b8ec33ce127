// Loaded with --import into the processes of the local system: none outlives the stack that started it for long.
import { whenParentIsGone } from "./parent.ts";

const LAST_WORDS_MS = 10_000;

whenParentIsGone(() => {
  setTimeout(() => process.kill(process.pid, "SIGKILL"), LAST_WORDS_MS).unref();
  process.kill(process.pid, "SIGTERM");
});
