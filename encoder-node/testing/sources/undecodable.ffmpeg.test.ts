// The failure messages for sources that ffmpeg cannot decode, or only in part.
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { AppError } from "#shared/errors.ts";
import { fileFolder } from "../../../test/fixtures.ts";
import { processSource } from "../jobs/process-source.ts";
import { closeServers } from "../range-server.ts";
import { openWorkshop, type SourceWorkshop } from "../source-workshop.ts";

const folder = fileFolder();
let workshop: SourceWorkshop;
beforeAll(async () => {
  workshop = openWorkshop(folder);
  const tracks = "-f lavfi -i testsrc2=s=64x36:r=10:d=2 -f lavfi -i sine=d=2 -c:a aac -c:v libx264 -preset ultrafast";
  await workshop.make("clear.mp4", `${tracks} -pix_fmt yuv420p -g 10`);
});
afterAll(async () => {
  closeServers();
});

/** Replaces the first occurrence of each four-character name after the start of the `moov` box. */
const renamed =
  (names: Readonly<Record<string, string>>) =>
  (bytes: Buffer): Buffer => {
    const changed = Buffer.from(bytes);
    for (const [from, to] of Object.entries(names))
      changed.write(to, changed.indexOf(from, changed.indexOf("moov")), "latin1");
    return changed;
  };

/** Overwrites all media data with bytes that no decoder accepts. */
const spoiled = (bytes: Buffer): Buffer => {
  const at = bytes.indexOf("mdat");
  const [from, to] = [at + 4, at - 4 + bytes.readUInt32BE(at - 4)];
  return Buffer.from(bytes.map((byte, index) => (index >= from && index < to ? (index * 37 + 11) % 256 : byte)));
};

const box = (type: string, body: Buffer): Buffer => {
  const header = Buffer.alloc(8);
  header.writeUInt32BE(8 + body.length);
  header.write(type, 4, "latin1");
  return Buffer.concat([header, body]);
};
const HEIC = Buffer.concat([
  box("ftyp", Buffer.from("heic\0\0\0\0mif1heic", "latin1")),
  box("meta", Buffer.alloc(40)),
  box("mdat", Buffer.alloc(99)),
]);

/** An MPEG-TS in which the packets of these streams are scrambled. */
const scrambledTs = async (name: string, pids: readonly number[]): Promise<string> => {
  await workshop.make("clear.ts", "-i clear.mp4 -c copy");
  return workshop.edit("clear.ts", name, (bytes) => {
    const changed = Buffer.from(bytes);
    for (let at = 0; at < changed.length; at += 188) {
      const packet = changed.subarray(at, at + 188);
      if (!pids.includes(packet.readUInt16BE(1) & 0x1fff)) continue;
      const hasAdaptation = ((packet[3] ?? 0) & 0x20) !== 0;
      packet[3] = (packet[3] ?? 0) | 0x80;
      for (let byte = hasAdaptation ? 5 + (packet[4] ?? 0) : 4; byte < 188; byte++) {
        packet[byte] = (packet[byte] ?? 0) ^ ((byte * 37 + 11 + at) % 256);
      }
    }
    return changed;
  });
};

const key = "-encryption_scheme cenc-aes-ctr -encryption_key 76a6c65c5ea762046bd749a2e632ccbb";
const kid = "-encryption_kid a7e61c373e219033c21091fa607bf3b8";
const ENCRYPTED = "The input's video is encrypted; use an input without encryption or DRM.";

it.each<[string, () => Promise<string>, string, string]>([
  [
    "Common Encryption",
    () => workshop.make("cenc.mp4", `-i clear.mp4 -c copy ${key} ${kid}`),
    "input_encrypted",
    ENCRYPTED,
  ],
  [
    "an encrypted sample entry without its original format",
    () => workshop.edit("clear.mp4", "encv.mp4", renamed({ avc1: "encv", mp4a: "enca" })),
    "input_encrypted",
    ENCRYPTED,
  ],
  [
    "an encrypted file that ffprobe cannot read",
    () =>
      workshop.edit("clear.mp4", "stts.mp4", (bytes) =>
        renamed({ avc1: "encv", mdhd: "hdlr" })(bytes).subarray(0, -200),
      ),
    "input_encrypted",
    ENCRYPTED,
  ],
  ["a scrambled broadcast", () => scrambledTs("scrambled.ts", [0x100, 0x101]), "input_encrypted", ENCRYPTED],
  ["a broadcast with scrambled video", () => scrambledTs("video.ts", [0x100]), "input_encrypted", ENCRYPTED],
  [
    "audio alone with an encrypted sample entry",
    async () => {
      await workshop.make("audio.m4a", "-i clear.mp4 -vn -c copy");
      return workshop.edit("audio.m4a", "enca.m4a", renamed({ mp4a: "enca" }));
    },
    "input_encrypted",
    "The input's audio is encrypted; use an input without encryption or DRM.",
  ],
  [
    "a HEIC image",
    async () => {
      await writeFile(join(folder, "image.heic"), HEIC);
      return join(folder, "image.heic");
    },
    "input_codec_not_supported",
    "The input is a HEIC or HEIF image, which is not supported; convert it to JPEG, PNG or AVIF first.",
  ],
])("%s fails the input at once", async (_, make, code, message) => {
  const failure = await processSource(await make(), [{ format: "mp4" }]).catch((error: unknown) => error);
  expect(failure).toEqual(new AppError(code as AppError["code"], message));
  expect(failure).toHaveProperty("code", code);
});

const stream = { format: "httpstream", params: { hls: { path: "h" }, variants: ["mp4:64x:48k"] } };

it("names a video codec without a decoder, and still makes audio outputs", async () => {
  const path = await workshop.edit("clear.mp4", "vvc1.mp4", renamed({ avc1: "vvc1" }));
  const { outputs } = await processSource(path, [{ format: "mp4" }, { format: "jpg:64x" }, stream, { format: "mp3" }]);
  const message = expect.stringMatching(
    /^The input's video is (vvc1|vvc), which cannot be decoded; convert it to a common codec/,
  );
  const failed = { ok: false, failure: { code: "input_codec_not_supported", message } };
  expect(outputs).toEqual([failed, failed, failed, expect.objectContaining({ ok: true })]);
});

it.each<[string, Readonly<Record<string, string>>, RegExp]>([
  ["of an unknown codec", { mp4a: "ac-4", esds: "free" }, /^The input's audio is (ac-4|ac4), which cannot be decoded/],
  ["encrypted", { mp4a: "enca" }, /^The input's audio is encrypted/],
])("leaves out audio that cannot be decoded, and reports it: %s", async (_, names, why) => {
  const path = await workshop.edit("clear.mp4", `lost-${Object.values(names)[0]}.mp4`, renamed(names));
  const { outputs } = await processSource(path, [{ format: "mp4" }, stream, { format: "jpg:64x" }, { format: "mp3" }]);
  const note = expect.stringMatching(new RegExp(`${why.source}, so this output has no audio\\.$`));
  expect(outputs.slice(0, 2)).toEqual([1, 1].map(() => ({ ok: true, files: [expect.any(String)], note })));
  expect(outputs.slice(2)).toEqual([
    { ok: true, files: [expect.any(String)] },
    { ok: false, failure: { code: expect.stringMatching(/^input_/), message: expect.stringMatching(why) } },
  ]);
});

it("reports that damaged video cannot be decoded, whatever ffmpeg's last message is", async () => {
  const path = await workshop.edit("clear.mp4", "spoiled.mp4", spoiled);
  const { outputs } = await processSource(path, [{ format: "mp4::x" }, { format: "mp3" }]);
  const message = expect.stringMatching(
    /^(The|Most of the) .*cannot be decoded; the file may be damaged, so export it again\.$/,
  );
  expect(outputs).toEqual([1, 1].map(() => ({ ok: false, failure: { code: "encoding_failed", message } })));
});

/**
 * Adds a `dvcC` box (Dolby Vision streams within ISOBMFF §3.1) to the sample entry: profile 5, level 1, no common base.
 */
const dolbyVision = (bytes: Buffer): Buffer => {
  const record = Buffer.alloc(24);
  record.set([1, 0, 5 << 1, (1 << 3) | 0b101, 0]);
  const extra = box("dvcC", record);
  const entry = bytes.indexOf("hev1", bytes.indexOf("stsd")) - 4;
  const end = entry + bytes.readUInt32BE(entry);
  const changed = Buffer.concat([bytes.subarray(0, end), extra, bytes.subarray(end)]);
  // All boxes around it grow. The media data comes before them.
  for (const type of ["moov", "trak", "mdia", "minf", "stbl", "stsd", "hev1"]) {
    const at = changed.lastIndexOf(type, entry + 8) - 4;
    changed.writeUInt32BE(changed.readUInt32BE(at) + extra.length, at);
  }
  return changed;
};

it("rejects Dolby Vision with proprietary colors, but still makes audio outputs", async () => {
  await workshop.make("hevc.mp4", "-i clear.mp4 -c:v libx265 -x265-params log-level=none -c:a copy -tag:v hev1");
  const path = await workshop.edit("hevc.mp4", "dolby.mp4", dolbyVision);
  const { outputs } = await processSource(path, [{ format: "mp4" }, { format: "mp3" }]);
  const message =
    "The input's video is Dolby Vision profile 5, whose colors only Dolby decoders support; " +
    "export it as HDR10, HLG or Dolby Vision profile 8 first.";
  expect(outputs).toEqual([
    { ok: false, failure: { code: "input_codec_not_supported", message } },
    { ok: true, files: [expect.any(String)] },
  ]);
});

it("leaves out the scrambled audio of a broadcast, with a note", async () => {
  const path = await scrambledTs("audio.ts", [0x101]);
  const { outputs } = await processSource(path, [{ format: "mp4" }, { format: "mp3" }]);
  expect(outputs).toMatchObject([
    { ok: true, note: "The input's audio is encrypted, so this output has no audio." },
    { ok: false, failure: { code: "input_encrypted" } },
  ]);
});
