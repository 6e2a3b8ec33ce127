import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { ROOT } from "../home/constants.ts";
import { isProduction, listFiles } from "./files.ts";

/** The message of a call such as `log.warn("node lost", …)`. */
const CALL = /\blog\??\.(?:debug|info|warn|error)\(\s*"([^"]*)"/g;

it("writes log messages in lower case, except for names, and without punctuation", () => {
  const messages = listFiles(/\.ts$/)
    .filter(isProduction)
    .flatMap((file) => [...readFileSync(join(ROOT, file), "utf8").matchAll(CALL)])
    .map(([, message = ""]) => message);
  expect(messages.length).toBeGreaterThan(100);
  expect(messages.filter((message) => !/^(Miniflare|[a-z]+)( (Worker|[a-z]+))+$/.test(message))).toEqual([]);
});
