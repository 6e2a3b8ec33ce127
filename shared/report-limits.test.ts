import { expect, it } from "vitest";
import * as z from "zod";
import { MediaProbe } from "./media/media-probe.ts";
import { Capabilities, ReportedCapabilities } from "./protocol/capabilities.ts";
import { ChunkBoundaryCheck, Chunking } from "./protocol/chunks.ts";
import { NodeFrame, PROTOCOL_VERSION } from "./protocol/frames.ts";
import { CompleteReport, LeaseReport, TaskResult } from "./protocol/reports.ts";
import { ChunksRequest, RangedSource, ScratchRequest, ScratchTrack } from "./protocol/scratch.ts";
import { UploadsRequest } from "./protocol/uploads.ts";
import {
  MAX_FILE_BYTES,
  MAX_FRAMES,
  MAX_LEASES,
  MAX_LENGTH_MS,
  MAX_PARTS,
  MAX_SLOTS,
  MAX_TRACKS,
} from "./report-limits.ts";

const LEASE = "AAAAAAAAAAAAAA.encode.1";
const PROOF = { lease: LEASE, token: "t" };
const RUNNING = { ...PROOF, slotClass: "encode" };
const CAPABILITIES = { ffmpegVersion: "7.0", encoders: ["libx264"], filters: [], muxers: [], hardware: null, cpus: 2 };
const INTRODUCTION = { type: "hello", protocol: PROTOCOL_VERSION, nodeId: "n", session: "s" };
const HELLO = { ...INTRODUCTION, capabilities: CAPABILITIES, slots: { inspect: 1, encode: 1 }, running: [] };
const WEEK_US = 1000 * MAX_LENGTH_MS;
const VIDEO = { frames: 100, bytes: 1000, startUs: 0, endUs: 100_000_000, longestGopMs: 2000 };
const SOURCE = { from: "scratch", pieces: [{ name: "inspect-1/source-00001", sizeBytes: 1 }] };
const FIRST = [10, 9_990_000, 10_000, 2, 100];
const CHUNKING = { ok: true, source: SOURCE, ...VIDEO, splitPoints: [FIRST, [10, 9_990_000, 20_000, 1, 100]] };
const chunking = (changes: object) => ({ ...CHUNKING, ...changes });
/** With this as the second split point. */
const second = (...point: number[]) => chunking({ splitPoints: [FIRST, point] });
const TRACK = { output: 0, track: "v", name: "chunk-1/v.mp4", sizeBytes: 1, frames: 1 };
const BOUNDARIES = { framesPlanned: 1, framesJoined: 1, largestErrorUs: 0, videoOverAudioMs: 0 };
const FILE = { output: 0, file: 1, sizeBytes: 1, etags: ["e"] };
const MADE = { status: "made", output: 0, files: [FILE], probe: null };
const FAILED = { status: "failed", output: 0, failure: { code: "encoding_failed", message: "m" } };
const PROBE = { streams: [{ index: 0 }], format: {} };

const many = <Value>(count: number, value: Value): Value[] => Array.from({ length: count }, () => value);
const uploadsOf = (files: unknown) => ({ token: "t", files });
const encoded = (report: unknown) => ({ kind: "encode", outputs: [report] });
const encoder = (length: number) => encoded({ ...MADE, encoder: "e".repeat(length) });
const failed = (output: number) => encoded({ ...FAILED, output });
const bounds = (changes: object) => ({ ...BOUNDARIES, ...changes });
const sized = (sizeBytes: number) => uploadsOf([file({ sizeBytes })]);
const streams = (count: number) => ({ ...PROBE, streams: many(count, { index: 0 }) });
const stream = (changes: object) => ({ ...PROBE, streams: [{ index: 0, ...changes }] });

const slots = (inspect: number, released = 0) => {
  return { type: "slots", offered: { inspect, encode: 0 }, released: many(released, LEASE) };
};
const running = (count: number) => ({ ...HELLO, running: many(count, RUNNING) });
const ITEM = { ...PROOF, stage: "encoding", fraction: 0 };
const progress = (count: number) => ({ type: "progress", items: many(count, ITEM) });
const named = (kind: string, count: number, length = 10) => {
  return { ...CAPABILITIES, [kind]: many(count, "e".repeat(length)) };
};
const version = (length: number) => ({ ...CAPABILITIES, ffmpegVersion: "v".repeat(length) });
const file = (changes: object) => ({ output: 0, file: 1, sizeBytes: 1, ...changes });
const scratch = (sizeBytes: number) => ({ token: "t", puts: [{ name: "chunk-1/v.mp4", sizeBytes }], gets: [] });
const etags = (count: number, length: number) =>
  encoded({ ...MADE, files: [{ ...FILE, etags: many(count, "e".repeat(length)) }] });
const chunk = (count: number) => ({ kind: "chunk", tracks: many(count, TRACK), encoder: "libx264 7.0", encodeMs: 1 });
const audio = (count: number) => ({ kind: "audio", tracks: many(count, TRACK) });
const origin = (sizeBytes: number) => ({ from: "origin", sizeBytes, validator: '"v"' });
const pieces = (count: number) => ({ from: "scratch", pieces: many(count, SOURCE.pieces[0]) });
const rotated = (rotation: number) => stream({ side_data_list: [{ rotation }] });
const report = (token: string) => ({ token, result: { kind: "inspect", probe: PROBE } });

/** Name, schema, the largest accepted value, and a value beyond it. */
const ROWS: [name: string, schema: z.ZodType, most: unknown, beyond: unknown][] = [
  ["slots", NodeFrame, slots(MAX_SLOTS), slots(MAX_SLOTS + 1)],
  ["leases that are released", NodeFrame, slots(0, MAX_LEASES), slots(0, MAX_LEASES + 1)],
  ["leases that run", NodeFrame, running(MAX_LEASES), running(MAX_LEASES + 1)],
  ["progress items", NodeFrame, progress(MAX_LEASES), progress(MAX_LEASES + 1)],
  ["processors", Capabilities, { ...CAPABILITIES, cpus: 100_000 }, { ...CAPABILITIES, cpus: 1e9 }],
  ["encoders", Capabilities, named("encoders", 2000), named("encoders", 2001)],
  ["filters", Capabilities, named("filters", 2000), named("filters", 2001)],
  ["muxers", Capabilities, named("muxers", 2000), named("muxers", 2001)],
  ["capabilities in all", ReportedCapabilities, named("encoders", 300, 200), named("encoders", 400, 200)],
  ["a name", Capabilities, named("encoders", 1, 200), named("encoders", 1, 201)],
  ["a version", Capabilities, { ...CAPABILITIES, ffmpegVersion: "v".repeat(200) }, version(201)],
  ["an output's index", UploadsRequest, uploadsOf([file({ output: 9999 })]), uploadsOf([file({ output: 10_000 })])],
  ["a file's number", UploadsRequest, uploadsOf([file({ file: 99_999 })]), uploadsOf([file({ file: 100_000 })])],
  ["a file's size", UploadsRequest, sized(MAX_FILE_BYTES), sized(9e15)],
  ["files", UploadsRequest, uploadsOf(many(200, file({}))), uploadsOf(many(201, file({})))],
  ["a scratch object", ScratchRequest, scratch(MAX_FILE_BYTES), scratch(9e15)],
  ["parts", TaskResult, etags(MAX_PARTS, 34), etags(MAX_PARTS + 1, 34)],
  ["an ETag", TaskResult, etags(1, 512), etags(1, 513)],
  ["an encoder's name", TaskResult, encoder(100), encoder(101)],
  ["the index of a failed output", TaskResult, failed(9999), failed(1e9)],
  ["tracks of a chunk", TaskResult, chunk(MAX_TRACKS), chunk(MAX_TRACKS + 1)],
  ["the time of a chunk", TaskResult, { ...chunk(1), encodeMs: MAX_LENGTH_MS }, { ...chunk(1), encodeMs: 1e300 }],
  ["tracks of audio", TaskResult, audio(MAX_TRACKS), audio(MAX_TRACKS + 1)],
  ["frames of a track", ScratchTrack, { ...TRACK, frames: MAX_FRAMES }, { ...TRACK, frames: MAX_FRAMES + 1 }],
  ["a track's size", ScratchTrack, { ...TRACK, sizeBytes: MAX_FILE_BYTES }, { ...TRACK, sizeBytes: 9e15 }],
  ["a track's output", ScratchTrack, { ...TRACK, output: 9999 }, { ...TRACK, output: 10_000 }],
  ["joined frames", ChunkBoundaryCheck, bounds({ framesJoined: MAX_FRAMES }), bounds({ framesJoined: 1e15 })],
  ["planned frames", ChunkBoundaryCheck, bounds({ framesPlanned: MAX_FRAMES }), bounds({ framesPlanned: 1e15 })],
  ["a time error", ChunkBoundaryCheck, bounds({ largestErrorUs: WEEK_US }), bounds({ largestErrorUs: 1e300 })],
  [
    "video without audio",
    ChunkBoundaryCheck,
    bounds({ videoOverAudioMs: -1000 }),
    bounds({ videoOverAudioMs: -1e300 }),
  ],
  ["a source's size", RangedSource, origin(MAX_FILE_BYTES), origin(9e15)],
  ["a source's pieces", RangedSource, pieces(10_000), pieces(10_001)],
  ["frames", Chunking, chunking({ frames: MAX_FRAMES }), chunking({ frames: MAX_FRAMES + 1 })],
  ["coded bytes", Chunking, chunking({ bytes: MAX_FILE_BYTES }), chunking({ bytes: 9e15 })],
  ["a length", Chunking, chunking({ endUs: WEEK_US }), chunking({ endUs: 9e15 })],
  ["a length that begins before 0", Chunking, chunking({ startUs: -1 }), chunking({ startUs: -1, endUs: WEEK_US })],
  ["a distance of keyframes", Chunking, chunking({ longestGopMs: 0 }), chunking({ longestGopMs: -1 })],
  ["a length at all", Chunking, CHUNKING, chunking({ splitPoints: [], endUs: 0 })],
  ["split points before the last frame", Chunking, chunking({ frames: 21 }), chunking({ frames: 20 })],
  ["split points before the end", Chunking, chunking({ endUs: 20_000_000 }), chunking({ endUs: 19_999_999 })],
  ["split points within the bytes", Chunking, chunking({ bytes: 200 }), chunking({ bytes: 199 })],
  ["later split points", Chunking, CHUNKING, second(0, 9_990_000, 20_000, 1, 100)],
  ["split points with later timestamps", Chunking, CHUNKING, second(10, -1, 10_000, 1, 100)],
  ["keyframes from the first on", Chunking, CHUNKING, chunking({ splitPoints: [[10, 9_990_000, 10_000, 11, 100]] })],
  ["streams", MediaProbe, streams(10_000), streams(10_001)],
  ["a stream's index", MediaProbe, stream({ index: 2 ** 31 - 1 }), stream({ index: 2 ** 31 })],
  ["a width", MediaProbe, stream({ width: 2 ** 31 - 1 }), stream({ width: 2 ** 31 })],
  ["a height", MediaProbe, stream({ height: 2 ** 31 - 1 }), stream({ height: -1 })],
  ["channels", MediaProbe, stream({ channels: 2 ** 31 - 1 }), stream({ channels: 1e15 })],
  ["a disposition", MediaProbe, stream({ disposition: { default: 1 } }), stream({ disposition: { default: 1e15 } })],
  ["a rotation", MediaProbe, rotated(-(2 ** 63)), rotated(1e300)],
  ["a token", CompleteReport, report("t".repeat(100)), report("t".repeat(101))],
];

it.each(ROWS)("limits %s in the reports of a node", (_, schema, most, beyond) => {
  expect(schema.safeParse(most).error).toBeUndefined();
  expect(schema.safeParse(beyond).success).toBe(false);
});

/** Returns the paths of lists in a schema without a maximum length. */
function unboundedLists(schema: z.core.$ZodType, path: string, seen: Set<unknown>): string[] {
  if (seen.has(schema)) return [];
  seen.add(schema);
  const { checks = [], ...def } = schema._zod.def;
  const hasMost = checks.some((check) => check._zod.def.check === "max_length");
  const ofList = def.type === "array" && !hasMost ? [path] : [];
  const inside = Object.entries(def).flatMap(([name, part]) => partsOf(part).map((inner) => [name, inner] as const));
  return [...ofList, ...inside.flatMap(([name, inner]) => unboundedLists(inner, `${path}.${name}`, seen))];
}

/** Returns the schemas in a part of a definition. */
function partsOf(part: unknown): z.core.$ZodType[] {
  if (part instanceof z.core.$ZodType) return [part];
  return typeof part === "object" && part !== null ? Object.values(part).flatMap(partsOf) : [];
}

it.each<[string, z.core.$ZodType]>(
  Object.entries({ NodeFrame, LeaseReport, UploadsRequest, ScratchRequest, ChunksRequest }),
)("limits the length of every list in %s, which zod checks before the items", (name, schema) => {
  expect(unboundedLists(schema, name, new Set())).toEqual([]);
  const many = Array.from({ length: 1000 }, () => "wrong");
  expect(z.array(z.number()).max(2).safeParse(many).error?.issues).toHaveLength(1);
});
