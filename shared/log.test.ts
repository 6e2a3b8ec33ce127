import { describe, expect, it } from "vitest";
import { createLogger, logCrash } from "./log.ts";

function lines() {
  const written: string[] = [];
  const sink = { write: (line: string) => void written.push(line), now: () => 0, level: "info" } as const;
  return { log: createLogger(sink, { node: "a" }), read: () => written.map((line) => JSON.parse(line)) };
}

describe("a log line", () => {
  it("is a JSON object with time, level and message", () => {
    const { log, read } = lines();
    log.debug("frame sent");
    log.child({ lease: "l" }).warn("task failed", { count: 2, none: null });
    expect(read()).toEqual([
      {
        time: "1970-01-01T00:00:00.000Z",
        level: "warn",
        message: "task failed",
        node: "a",
        lease: "l",
        count: 2,
        none: null,
      },
    ]);
  });

  it.each([
    ["GET https://me:pass@host.example/a/b.mp4 failed", "GET https://host.example/a/b.mp4 failed"],
    ["no answer of http://host:9/a?X-Amz-Signature=0f&b=1.", "no answer of http://host:9/a?…"],
    ["'http://me@h/a?b' and \"https://h/c#d\" <s3://k:v@b/e?f>", "'http://h/a?…' and \"https://h/c?…\" <s3://b/e?…>"],
    ["http://me:p@ss@host/", "http://host/"],
    ["PUT /v2/links/abc123/parts/1, https://h/v2/links/abc123?b", "PUT /v2/links/…/parts/1, https://h/v2/links/…?…"],
    ["https://u:p'x@h/ https://u:p#x@h/ https://u:p?x@h/", "https://h/ https://h/ https://h/"],
    ['{"a":"https:\\/\\/u:p@h\\/a?sig=1","b":1}', '{"a":"https:\\/\\/h\\/a?…","b":1}'],
    ["ws://127.0.0.1:8787/v2/nodes/connect refused", "ws://127.0.0.1:8787/v2/nodes/connect refused"],
    [
      "Failed query: insert into jobs values (?)\nparams: sealed,1\n    at x",
      "Failed query: insert into jobs values (?)\n    at x",
    ],
    ["mail me@host.example? Yes", "mail me@host.example? Yes"],
  ])("contains only the public parts of %j", (error, logged) => {
    const { log, read } = lines();
    log.warn("request failed", { error });
    expect(read()[0].error).toBe(logged);
  });

  it.each(["/v2/", "https://", "https://h?"])("is written quickly for %s with a very long tail", (start) => {
    const { log, read } = lines();
    const long = ["a-", "https://", ":\\\\", "a:"].map((part) => start + part.repeat(300_000)).join(" ");
    log.warn("request failed", { long });
    expect(read()[0].long).toMatch(/^\/v2|^https:/);
  });

  it("contains the location of a crash and no secrets", () => {
    const { log, read } = lines();
    logCrash(log, new TypeError("Cannot fetch https://me:pass@host/?key=secret"));
    logCrash(log, "words");
    const [crash, thrown] = read();
    expect(crash).toMatchObject({ level: "error", message: "process crashed", error: "Cannot fetch https://host/?…" });
    expect(crash.stack).toMatch(/^TypeError: Cannot fetch https:\/\/host\/\?…\n +at .*log\.test\.ts/);
    expect(crash.stack).not.toMatch(/pass|secret/);
    expect(thrown).toMatchObject({ error: "words", stack: null });
  });
});
