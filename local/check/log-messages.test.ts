import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { ROOT } from "../home/constants.ts";
import { listFiles } from "./files.ts";
import { isProduction } from "./rooms.ts";

const TABLE = "shared/log-messages.ts";
const read = (file: string): string => readFileSync(join(ROOT, file), "utf8");
const messages = [...read(TABLE).matchAll(/\| "(.*)"/g)].map(([, message = ""]) => message);

it("writes log messages in lower case, except for names, and without punctuation", () => {
  expect(messages).not.toEqual([]);
  expect(messages.filter((message) => !/^(Miniflare|[a-z]+)( (Worker|[a-z]+))+$/.test(message))).toEqual([]);
});

it("has no unused log messages", () => {
  const code = listFiles(/\.ts$/).filter((file) => isProduction(file) && file !== TABLE);
  const text = code.map(read).join();
  expect(messages.filter((message) => !text.includes(`"${message}"`))).toEqual([]);
});
