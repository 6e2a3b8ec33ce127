import { describe, expect, it } from "vitest";
import { isJobId, newApiKey, newJobId, parseLeaseId } from "../ids.ts";
import { decodeHubFrame, decodeNodeFrame, PROTOCOL_VERSION } from "./frames.ts";
import { UploadsAnswer } from "./uploads.ts";

const LEASE = "AAAAAAAAAAAAAA.encode.1";

describe("frames", () => {
  const rows: [string, string, "ok" | "invalid frame"][] = [
    ["slots", JSON.stringify({ type: "slots", offered: { inspect: 1, encode: 0 }, released: [LEASE] }), "ok"],
    ["an additional field", JSON.stringify({ type: "bye", mood: "good" }), "ok"],
    [
      "progress",
      JSON.stringify({ type: "progress", items: [{ lease: LEASE, token: "t", stage: "encoding", fraction: 1 }] }),
      "ok",
    ],
    [
      "too much progress",
      JSON.stringify({ type: "progress", items: [{ lease: LEASE, token: "t", stage: "encoding", fraction: 1.1 }] }),
      "invalid frame",
    ],
    [
      "no lease id",
      JSON.stringify({ type: "progress", items: [{ lease: "../1", token: "t", stage: "encoding", fraction: 1 }] }),
      "invalid frame",
    ],
    [
      "a negative offer",
      JSON.stringify({ type: "slots", offered: { inspect: -1, encode: 0 }, released: [] }),
      "invalid frame",
    ],
    ["an unknown type", JSON.stringify({ type: "hint" }), "invalid frame"],
    ["no type", "{}", "invalid frame"],
    ["a list", "[]", "invalid frame"],
    ["no JSON", "hello", "invalid frame"],
  ];
  it.each(rows)("validates frames of a node: %s", (_, text, expected) => {
    const decoded = decodeNodeFrame(text);
    expect(decoded.ok ? "ok" : decoded.error.reason).toBe(expected);
  });

  it("asks for an update of a node with another protocol, whatever its other fields are", () => {
    expect(decodeNodeFrame(JSON.stringify({ type: "hello", protocol: PROTOCOL_VERSION - 1 }))).toMatchObject({
      error: { reason: `protocol ${PROTOCOL_VERSION} is required: update this node` },
    });
  });

  it("validates frames of the hub", () => {
    expect(decodeHubFrame(JSON.stringify({ type: "cancel", lease: LEASE }))).toEqual({
      ok: true,
      value: { type: "cancel", lease: LEASE },
    });
    expect(decodeHubFrame(JSON.stringify({ type: "slots", offered: {} }))).toMatchObject({
      error: { reason: "invalid frame" },
    });
    const task = { kind: "inspect", sourceUrl: "http://host/", chunking: null };
    const assigned = { kind: "inspect", slotClass: "inspect", round: 0 };
    const OWNED = { lease: LEASE, token: "t", jobId: "AAAAAAAAAAAAAA" };
    const assign = { type: "assign", assignment: { ...OWNED, ...assigned, task } };
    expect(decodeHubFrame(JSON.stringify(assign))).toEqual({ ok: true, value: assign });
  });

  it("accepts tickets or a failure as the response to a request for uploads", () => {
    expect(UploadsAnswer.parse({ failure: { code: "storage_denied", message: "no" } })).toHaveProperty("failure");
    expect(UploadsAnswer.safeParse({ failure: { code: "oops", message: "no" } }).success).toBe(false);
  });
});

describe("ids", () => {
  it("creates ids of letters and digits with equal probability", () => {
    let next = 0;
    const counting = (count: number) => Uint8Array.from({ length: count }, () => next++ % 256);
    const counts = new Map<string, number>();
    for (let i = 0; i < 62 * 4; i++)
      for (const char of newJobId(counting)) counts.set(char, (counts.get(char) ?? 0) + 1);
    expect(counts.size).toBe(62);
    expect(new Set(counts.values()).size).toBe(1);
    expect(newApiKey(counting)).toMatch(/^k-[A-Za-z0-9]{43}$/);
  });

  it("recognizes ids by their form", () => {
    expect(["AAAAAAAAAAAAAA", "AAAAAAAAAAAAA", "AAAAAAAAAAAAA/"].map(isJobId)).toEqual([true, false, false]);
    const job = "AAAAAAAAAAAAAA";
    expect(parseLeaseId(LEASE)).toEqual({ job, task: "encode", kind: "encode", attempt: 1 });
    expect(parseLeaseId(`${job}.chunk-12-r1-speculative.3`)).toMatchObject({ kind: "chunk", attempt: 3 });
    for (const text of [
      "",
      "AAAAAAAAAAAAAA.encode",
      "AAAAAAAAAAAAAA.encode.x",
      "AAAAAAAAAAAAAA.en code.1",
      `${LEASE}.2`,
    ]) {
      expect(parseLeaseId(text), text).toBeNull();
    }
  });
});
