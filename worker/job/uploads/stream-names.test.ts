import { describe, expect, it } from "vitest";
import { type JobId, leaseId } from "#shared/ids.ts";
import { MAX_NAME_BYTES } from "#shared/job/object-name.ts";
import type { HttpStreamOutput } from "#shared/job/output-spec.ts";
import { MAX_STREAM_FILE_CHARS, streamFolder } from "#shared/job/stream-files.ts";
import { parseOutputs } from "#shared/request/outputs/outputs-section.ts";
import { isEntryFile, mayWrite, streamObject } from "./stream-names.ts";

const JOB = "AAAAAAAAAAAAAA" as JobId;
const lease = leaseId(JOB, "encode", 2);
const F = streamFolder(lease, 1);

function streamOf(params: object): HttpStreamOutput {
  const parsed = parseOutputs({ httpstream: params }, "none");
  const [output] = parsed.ok ? parsed.value : [];
  if (output?.type !== "httpstream") throw new Error(JSON.stringify(parsed));
  return output;
}

const BOTH = streamOf({ path: "stream", hls: { path: "h" }, dash: { path: "d", hlsfmp4: true }, thumbnails: true });
const ONLY_HLS = streamOf({ hls: { path: "h" }, playlist_name: "index é" });
const ONE_FOLDER = streamOf({ hls: { path: "s" }, dash: { path: "s" }, thumbnails: true });

describe("the files of a stream", () => {
  it.each<[HttpStreamOutput, string, object: string, isEntry: boolean]>([
    [BOTH, "hls/master.m3u8", "stream/h/master.m3u8", true],
    [BOTH, "hls/master.vtt", "stream/h/master.vtt", true],
    [BOTH, "hls/master.chapters.vtt", "stream/h/master.chapters.vtt", true],
    [BOTH, "dash/master.mpd", "stream/d/master.mpd", true],
    [BOTH, "dash/master.m3u8", "stream/d/master.m3u8", true],
    [BOTH, "dash/master.vtt", "stream/d/master.vtt", true],
    [ONLY_HLS, "hls/index é.m3u8", "h/index é.m3u8", true],
    [ONE_FOLDER, "hls/master.vtt", "s/master.vtt", true],
    [ONE_FOLDER, "dash/master.vtt", "s/master.vtt", true],
    [ONE_FOLDER, "hls/master.m3u8", "s/master.m3u8", true],
    [ONE_FOLDER, "dash/master.mpd", "s/master.mpd", true],
    [BOTH, `hls/${F}/1080p.m3u8`, `stream/h/${F}/1080p.m3u8`, false],
    [BOTH, `hls/${F}/1080p/00001.ts`, `stream/h/${F}/1080p/00001.ts`, false],
    [BOTH, `hls/${F}/master.m3u8`, `stream/h/${F}/master.m3u8`, false],
    [BOTH, `dash/${F}/audio-128k/init.mp4`, `stream/d/${F}/audio-128k/init.mp4`, false],
    [BOTH, `dash/${streamFolder(lease, 3)}/a/b/c.m4s`, `stream/d/${streamFolder(lease, 3)}/a/b/c.m4s`, false],
  ])("row %#: allows a fixed name or a name in a folder of the lease", (stream, name, object, isEntry) => {
    expect(mayWrite(stream, name, lease)).toBe(true);
    expect(streamObject(stream, name)).toBe(object);
    expect(isEntryFile(stream, name)).toBe(isEntry);
  });

  const foreign = [
    streamFolder(leaseId(JOB, "encode", 1), 1),
    streamFolder(leaseId(JOB, "encode", 22), 1),
    streamFolder(leaseId(JOB, "encode-1", 2), 1),
    streamFolder(leaseId("BBBBBBBBBBBBBB" as JobId, "encode", 2), 1),
    lease,
    `${F}-0`,
    `${F}-01`,
    `${F}-1000`,
    `${F}-2x`,
    `${F}x`,
    F.toLowerCase(),
    "other",
    "..",
    "",
  ];
  const parts = ["..", ".", "", ".hidden", "a b", "%2e%2e", "a%2Fb", "é.ts", "a\\b", "a\n", "a?b", "a#b", "*"];
  const refused: [HttpStreamOutput, string][] = [
    ...foreign.map((folder): [HttpStreamOutput, string] => [BOTH, `hls/${folder}/1080p/00001.ts`]),
    ...parts.map((part): [HttpStreamOutput, string] => [BOTH, `hls/${F}/${part}`]),
    ...parts.map((part): [HttpStreamOutput, string] => [BOTH, `hls/${F}/${part}/00001.ts`]),
    [BOTH, `hls/${F}`],
    [BOTH, `hls/${F}/a/b/c/d.ts`],
    [BOTH, `${F}/1080p/00001.ts`],
    [BOTH, `smooth/${F}/1080p/00001.ts`],
    [BOTH, `HLS/${F}/1080p/00001.ts`],
    [BOTH, `/hls/${F}/1080p/00001.ts`],
    [BOTH, `hls//${F}/1080p/00001.ts`],
    [BOTH, `hls%2F${F}/1080p/00001.ts`],
    [BOTH, `hls/${F}%2F1080p/00001.ts`],
    [BOTH, `stream/h/${F}/1080p/00001.ts`],
    [BOTH, `hls/${F}/${"x".repeat(MAX_STREAM_FILE_CHARS - F.length)}`],
    [BOTH, "hls/master.mpd"],
    [BOTH, "hls/other.m3u8"],
    [BOTH, "hls/../master.m3u8"],
    [BOTH, "master.m3u8"],
    [BOTH, ""],
    [ONLY_HLS, "hls/master.m3u8"],
    [ONLY_HLS, "hls/index é.vtt"],
    [ONLY_HLS, "dash/index é.mpd"],
    [ONLY_HLS, `dash/${F}/1080p/00001.m4s`],
    [ONE_FOLDER, "dash/master.m3u8"],
  ];
  it.each(refused)("row %#: rejects a name that the lease may not write", (stream, name) => {
    expect(mayWrite(stream, name, lease), name).toBe(false);
  });

  it("limits names to the length that the validation of requests assumes", () => {
    const longest = `hls/${F}/${"x".repeat(MAX_STREAM_FILE_CHARS - F.length - 1)}`;
    expect(mayWrite(BOTH, longest, lease)).toBe(true);
    expect(longest.length).toBeLessThan(MAX_NAME_BYTES);
  });
});
