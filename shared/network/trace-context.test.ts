import { describe, expect, it } from "vitest";
import { readTraceContext, traceFields, traceHeaders } from "./trace-context.ts";

const [TRACE, SPAN] = ["0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"];
const PARENT = `00-${TRACE}-${SPAN}-01`;
const read = (traceparent: string, tracestate?: string) =>
  readTraceContext(new Map(Object.entries({ traceparent, tracestate })));

describe("traceparent", () => {
  it.each([
    ["sampled", PARENT, PARENT],
    ["not sampled", `00-${TRACE}-${SPAN}-00`, `00-${TRACE}-${SPAN}-00`],
    ["with a random trace id", `00-${TRACE}-${SPAN}-03`, `00-${TRACE}-${SPAN}-03`],
    ["with unknown flags", `00-${TRACE}-${SPAN}-ff`, `00-${TRACE}-${SPAN}-03`],
    ["of a later version", `cc-${TRACE}-${SPAN}-01`, PARENT],
    ["of a later version with more members", `cc-${TRACE}-${SPAN}-01-what-will-be`, PARENT],
  ])("%s is accepted", (_, header, traceparent) => {
    expect(read(header)).toEqual({ traceparent });
  });

  it.each([
    ["empty", ""],
    ["of version ff", `ff-${TRACE}-${SPAN}-01`],
    ["of version 00 with more members", `${PARENT}-more`],
    ["of version 00 with a dash at its end", `${PARENT}-`],
    ["of a later version with more characters", `cc-${TRACE}-${SPAN}-01.more`],
    ["with a trace id of zeros", `00-${"0".repeat(32)}-${SPAN}-01`],
    ["with a span id of zeros", `00-${TRACE}-${"0".repeat(16)}-01`],
    ["in upper case", PARENT.toUpperCase()],
    ["with characters that are not hexadecimal", `00-${TRACE.replace("0", "g")}-${SPAN}-01`],
    ["with a short trace id", `00-${TRACE.slice(1)}-${SPAN}-01`],
    ["with a long span id", `00-${TRACE}-${SPAN}0-01`],
    ["without flags", `00-${TRACE}-${SPAN}`],
    ["with one digit of flags", `00-${TRACE}-${SPAN}-1`],
    ["with a version of one digit", `0-${TRACE}-${SPAN}-01`],
    ["twice", `${PARENT}, ${PARENT}`],
  ])("%s is ignored together with its tracestate", (_, header) => {
    expect(read(header, "a=1")).toBeNull();
  });

  it("may be missing", () => {
    expect(readTraceContext(new Map([["tracestate", "a=1"]]))).toBeNull();
  });
});

describe("tracestate", () => {
  const members = (count: number): string => Array.from({ length: count }, (_, at) => `k${at}=v`).join(",");
  it.each([
    ["one member", "rojo=00f067aa0ba902b7", "rojo=00f067aa0ba902b7"],
    ["members with spaces and empty ones", "a=1 ,\tb=2,, 1t@sys=x y", "a=1,b=2,1t@sys=x y"],
    ["32 members", members(32), members(32)],
    ["512 characters", `a=${"x".repeat(250)},bc=${"x".repeat(256)}`, `a=${"x".repeat(250)},bc=${"x".repeat(256)}`],
  ])("%s is passed on", (_, state, tracestate) => {
    expect(read(PARENT, state)).toEqual({ traceparent: PARENT, tracestate });
  });

  it.each([
    ["33 members", members(33)],
    ["513 characters", `a=${"x".repeat(250)},bcd=${"x".repeat(256)}`],
    ["a key twice", "a=1,a=2"],
    ["a key in upper case", "A=1"],
    ["a member without a value", "a"],
    ["an empty value", "a="],
    ["a value with an equals sign", "a=1=2"],
    ["characters beyond ASCII", "a=\u00e9"],
    ["nothing", ""],
  ])("%s is left out", (_, state) => {
    expect(read(PARENT, state)).toEqual({ traceparent: PARENT });
  });
});

it("a trace continues with a new span", () => {
  const trace = { traceparent: PARENT, tracestate: "a=1" };
  const traceparent = `00-${TRACE}-00f067aa0ba902b7-01`;
  expect(traceHeaders(trace, "00f067aa0ba902b7")).toEqual({ traceparent, tracestate: "a=1" });
  expect(traceFields(trace)).toEqual({ trace_id: TRACE });
  expect(traceFields(undefined)).toEqual({});
});
