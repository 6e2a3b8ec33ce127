// A crashing process writes a log line with the reason, for any kind of crash.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { expect, it } from "vitest";
import { fileFolder } from "../../test/fixtures.ts";
import { ROOT } from "../home/constants.ts";

const folder = fileFolder();

/** A module that crashes the process once it handles uncaught exceptions. */
const crashModule = (how: string): string =>
  `data:text/javascript,const wait = setInterval(() => {
    if (process.listenerCount("uncaughtException") === 0) return;
    clearInterval(wait);
    ${how};
  }, 20)`;
const ERROR = 'new Error("lost https://me:pass@host.test/a?sig=1")';

it.each([
  ["encoder-node/main.ts", "an error", `throw ${ERROR}`],
  ["encoder-node/main.ts", "a rejection", `Promise.reject(${ERROR})`],
  ["local/s3/s3-server.ts", "an error", `throw ${ERROR}`],
])("%s logs %s that nobody caught", async (script, _, how) => {
  const env = {
    COPRA_URL: "http://127.0.0.1:9",
    COPRA_NODE_TOKEN: "n-none",
    COPRA_NODE_WORK: join(folder, "node"),
    COPRA_NODE_ISOLATION: "best-effort",
    COPRA_HOME: join(folder, "home"),
    COPRA_S3_PORT: "0",
  };
  const child = spawn(process.execPath, ["--import", crashModule(how), join(ROOT, script)], {
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const [out, err, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "exit")]);
  expect([code, err]).toEqual([1, ""]);
  const crashes = out
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line))
    .filter(({ message }) => message === "process crashed");
  expect(crashes).toEqual([
    expect.objectContaining({
      time: expect.any(String),
      level: "error",
      error: "lost https://host.test/a?…",
      stack: expect.stringMatching(/^Error: lost https:\/\/host\.test\/a\?…\n/),
    }),
  ]);
  expect(out).not.toMatch(/pass|sig=/);
});
