import { spawnSync } from "node:child_process";
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, it } from "vitest";
import { fileFolder } from "../../test/fixtures.ts";
import { capLog, keepLogShort, olderLog } from "./log-file.ts";

const folder = fileFolder();

it("empties a large log while a process writes to it, and keeps an older copy", () => {
  const path = join(folder, "part.log");
  capLog(path, 10);
  const log = openSync(path, "a", 0o600);
  writeSync(log, "first\n");
  capLog(path, 10);
  expect(existsSync(olderLog(path))).toBe(false);
  writeSync(log, "second\n");
  capLog(path, 10);
  writeSync(log, "third\n");
  expect([readFileSync(olderLog(path), "utf8"), readFileSync(path, "utf8")]).toEqual(["first\nsecond\n", "third\n"]);
  expect(statSync(olderLog(path)).mode & 0o777).toBe(0o600);
  writeSync(log, "fourth\n");
  capLog(path, 10);
  closeSync(log);
  expect([readFileSync(olderLog(path), "utf8"), readFileSync(path, "utf8")]).toEqual(["third\nfourth\n", ""]);
});

it("reports an error on truncating a log once, and continues later checks", async () => {
  const path = join(folder, "kept.log");
  writeFileSync(path, "much too long");
  mkdirSync(olderLog(path));
  const messages: string[] = [];
  const stop = keepLogShort(path, (message) => messages.push(message), 5, 10);
  await expect.poll(() => messages).not.toEqual([]);
  await sleep(50);
  expect(messages).toEqual([expect.stringContaining(`The log ${path} cannot be truncated and grows: E`)]);
  rmSync(olderLog(path), { recursive: true });
  await expect.poll(() => statSync(path).size).toBe(0);
  stop();
});

/** Runs a script as root in its own mount namespace. */
const inNamespace = (script: string): ReturnType<typeof spawnSync> =>
  spawnSync("sh", ["-c", 'unshare -rm sh -ec "$0"', script]);
const mount = `mount -t tmpfs -o size=64k tmpfs ${folder}`;

it.skipIf(inNamespace(mount).status !== 0)("empties a log that fills the disk, without a copy", () => {
  const path = join(folder, "full.log");
  const module = JSON.stringify(new URL("./log-file.ts", import.meta.url).href);
  const cap = `import { capLog } from ${module}; capLog(${JSON.stringify(path)}, 10);`;
  const { stdout, stderr } = inNamespace(`${mount}
    echo old > ${olderLog(path)}
    head -c 49152 /dev/zero > ${path}
    ${process.execPath} --input-type=module -e '${cap}'
    cd ${folder}; stat -c '%n %s' *`);
  expect([String(stderr), String(stdout)]).toEqual(["", "full.log 0\n"]);
});
