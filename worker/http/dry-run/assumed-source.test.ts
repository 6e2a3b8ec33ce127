import { describe, expect, it } from "vitest";
import { sourceFacts } from "#shared/media/source-facts.ts";
import { assumedSource, parseDryRun } from "./assumed-source.ts";

const probeFor = (source: Parameters<typeof assumedSource>[0]) => assumedSource(source).probe;
const USUAL = { width: 1920, height: 1080, fps: 30, duration: 60, rotation: 0, audio: true };

const query = (fields: object) => ({ dry_run: "1", ...fields });

describe("the query of a dry run", () => {
  it.each([
    [{}, null],
    [{ dry_run: "false", width: "none" }, null],
    [{ dry_run: "0" }, null],
    [{ colour: "red" }, null],
    [{ dry_run: "true" }, USUAL],
    [{ dry_run: "1", colour: "red" }, USUAL],
    [query({ width: "1080", height: "1920" }), { ...USUAL, width: 1080, height: 1920 }],
    [query({ fps: "23.976", rotation: "90" }), { ...USUAL, fps: 23.976, rotation: 90 }],
    [query({ duration: "7.5", audio: "false" }), { ...USUAL, duration: 7.5, audio: false }],
    [query({ tracks: '[{"type":"audio"}]' }), { ...USUAL, tracks: [{ type: "audio" }] }],
  ])("parses %o as %o", (query, source) => expect(parseDryRun(query)).toEqual(source));

  it.each([
    ...["yes", ""].map((value) => ["dry_run", value]),
    ...["0", "1.5", "1e9", "1e3"].map((value) => ["width", value]),
    ...["0x400", "tall", ""].map((value) => ["height", value]),
    ...["0", "Infinity"].map((value) => ["fps", value]),
    ...["-1", "100000"].map((value) => ["duration", value]),
    ["rotation", "45"],
    ["audio", "stereo"],
    ["tracks", "en,de"],
    ["tracks", '{"type":"audio"}'],
    ["tracks", '[{"type":"video"}]'],
    ["tracks", '[{"type":"audio","lang":"en"}]'],
    ["tracks", JSON.stringify(Array(65).fill({ type: "audio" }))],
  ])("rejects %s=%s", (name = "", value = "") => {
    const message = expect.stringMatching(`^The query parameter \`${name}\` must be `);
    const error = { code: "query_not_valid", message };
    expect(() => parseDryRun({ dry_run: "1", [name]: value })).toThrow(expect.objectContaining(error));
  });
});

describe("the assumed source", () => {
  it.each([
    [{}, { durationMs: 60_000, video: { codedWidth: 1920, displayWidth: 1920, rotation: 0, fps: 30 } }],
    [{}, { audio: { channels: 2 } }],
    [{ rotation: 90 }, { video: { codedWidth: 1920, displayWidth: 1080, rotation: 90 } }],
    [{ rotation: 270 }, { video: { displayWidth: 1080, rotation: 270 } }],
    [{ audio: false }, { audio: null }],
    [{ tracks: [] }, { audio: null }],
    [{ tracks: [{ type: "audio", channels: 6 } as const] }, { audio: { channels: 6 } }],
    [{ fps: 29.97 }, { video: { fps: 30_000 / 1001, constantFrameRate: true } }],
    [{ fps: 59.94 }, { video: { fps: 60_000 / 1001 } }],
    [{ fps: 23.98 }, { video: { fps: 24_000 / 1001 } }],
    [{ fps: 12.5 }, { video: { fps: 12.5 } }],
  ])("the source %o has the facts %o", (changes, facts) =>
    expect(sourceFacts(probeFor({ ...USUAL, ...changes }))).toMatchObject(facts),
  );
});
