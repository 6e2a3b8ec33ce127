// A logger for tests that writes nothing.
import { createLogger } from "#shared/log.ts";

export const silentLog = createLogger({ write: () => undefined, now: Date.now, level: "error" });
