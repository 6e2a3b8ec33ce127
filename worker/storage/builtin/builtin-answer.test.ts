import { expect, it } from "vitest";
import { responseTo } from "./builtin-answer.ts";

const object = { sizeBytes: 10, etag: '"e1"', uploadedAt: new Date("2026-01-02T03:04:05.678Z") };
const [BEFORE, SAME, AFTER] = [4, 5, 6].map((second) => `Fri, 02 Jan 2026 03:04:0${second} GMT`);
const whole = { status: 200 };
const part = { status: 206, range: { start: 2, end: 4 } };
const range = "bytes=2-4";

const rows: [Record<string, string | undefined>, object][] = [
  [{}, whole],
  [{ range }, part],
  [{ range: "bytes=-3" }, { status: 206, range: { start: 7, end: 9 } }],
  [{ range: "bytes=8-99" }, { status: 206, range: { start: 8, end: 9 } }],
  [{ range: "bytes=10-" }, { status: 416 }],
  [{ range: "bytes=0-1,3-4" }, whole],
  [{ range: "bytes=4-2" }, whole],
  [{ range, "if-range": '"e1"' }, part],
  [{ range, "if-range": 'W/"e1"' }, whole],
  [{ range, "if-range": '"e2"' }, whole],
  [{ range, "if-range": SAME }, part],
  [{ range, "if-range": AFTER }, whole],
  [{ "if-none-match": '"e2", W/"e1"' }, { status: 304 }],
  [{ "if-none-match": "*" }, { status: 304 }],
  [{ "if-none-match": '"e2"', "if-modified-since": AFTER }, whole],
  [{ "if-none-match": '"e1"', range: "bytes=99-" }, { status: 304 }],
  [{ "if-modified-since": SAME }, { status: 304 }],
  [{ "if-modified-since": BEFORE }, whole],
  [{ "if-modified-since": "yesterday" }, whole],
  [{ "if-match": '"e1"' }, whole],
  [{ "if-match": '"e2"' }, { status: 412 }],
  [{ "if-match": '"e1"', "if-unmodified-since": BEFORE }, whole],
  [{ "if-unmodified-since": BEFORE }, { status: 412 }],
  [{ "if-unmodified-since": SAME, "if-none-match": '"e1"' }, { status: 304 }],
];
it.each(rows)("responds to the headers %j with %j", (headers, answer) => {
  const pairs = Object.entries(headers).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value] as const],
  );
  expect(responseTo(new Headers(pairs.map(([name, value]) => [name, value])), object)).toEqual(answer);
});
