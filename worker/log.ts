// The Worker's log: one JSON object a line, on the console.
import { env } from "cloudflare:workers";
import { createLogger, type Logger } from "#shared/log.ts";
import { LogLevelSetting } from "./settings.ts";

/** Lines below LOG_LEVEL (info unless set) are dropped. */
export const log: Logger = createLogger({
  write: (line) => console.log(line),
  now: Date.now,
  level: LogLevelSetting.catch("info").parse(env.LOG_LEVEL),
});
