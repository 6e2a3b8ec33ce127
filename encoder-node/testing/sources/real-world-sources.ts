// Sources with the special properties of files from real use. Each is generated within seconds.
import { asDataStream, crc32 } from "../mpegts-tables.ts";
import { replaceText, type SourceWorkshop, truncated } from "../source-workshop.ts";

/** Makes the source in the workshop's folder and returns its path. */
export type RealWorldSource = (workshop: SourceWorkshop) => Promise<string>;

/** Each frame is brighter than the frame before, so that an image identifies its frame. */
const VIDEO = "-f lavfi -i nullsrc=s=64x36:r=10:d=6,geq=lum=40*T:cb=128:cr=128";
const TONE = "-f lavfi -i sine=r=48000:d=6";
const X264 = "-c:v libx264 -preset ultrafast -pix_fmt yuv420p -g 10";
const WEBM = "-c:v libvpx -b:v 500k -deadline realtime -cpu-used 8 -g 10 -c:a libopus";

/** Ends after half of its bytes; the header declares 6 s. */
export const truncatedMatroska: RealWorldSource = async ({ make, edit }) => {
  await make("whole.mkv", `${VIDEO} ${TONE} ${X264} -c:a aac`);
  return edit("whole.mkv", "truncated.mkv", truncated(0.5));
};

/** Also truncated. Only the file has a duration: no stream has the tag that ffmpeg adds. */
export const truncatedWebm: RealWorldSource = async ({ make, edit }) => {
  await make("whole.webm", `${VIDEO} ${TONE} ${WEBM}`);
  return edit("whole.webm", "truncated.webm", (bytes) => truncated(0.5)(replaceText(bytes, /DURATION/g, "DURATIOX")));
};

/** A browser's recording, which has no duration. */
export const browserRecording: RealWorldSource = ({ make }) =>
  make("recording.webm", `${VIDEO} ${TONE} ${WEBM} -live 1`);

/** A truncated browser recording. */
export const truncatedRecording: RealWorldSource = async (workshop) => {
  await browserRecording(workshop);
  return workshop.edit("recording.webm", "truncated-recording.webm", truncated(0.5));
};

export const animatedPng: RealWorldSource = ({ make }) => make("animated.apng", VIDEO);

/** A broadcast whose data stream (timed metadata here, ad markers elsewhere) starts 2 s before the other streams. */
export const earlyDataStream: RealWorldSource = async ({ make, edit }) => {
  await make("plain.ts", `${VIDEO} ${TONE} ${X264} -c:a mp2 -t 2`);
  const late = "-itsoffset 2 -i plain.ts -i plain.ts -map 0:v -map 0:a -map 1:a -c copy";
  await make("three.ts", `${late}`);
  return edit("three.ts", "early-data.ts", (bytes) => asDataStream(bytes, 0x102));
};

/** A live capture during which the clock's 33 bits roll over (after 26.5 h), so that ffmpeg starts below zero. */
export const clockRollover: RealWorldSource = async ({ make }) => {
  await make("plain-rollover.ts", `${VIDEO} ${TONE} ${X264} -c:a mp2`);
  return make("rollover.ts", "-i plain-rollover.ts -c copy -output_ts_offset 95435");
};

/**
 * A clip trimmed on a phone: an edit list hides its first 1.4 s, and no keyframe is decoded before the visible part.
 * Its duration includes the hidden part. The frame before the first visible frame ends 0.1 ms after the start.
 */
export const trimmedWithoutKeyframe: RealWorldSource = async ({ make, edit }) => {
  await make("untrimmed.mp4", `${VIDEO} -c:v libx264 -bf 2 -g 250 -pix_fmt yuv420p`);
  return edit("untrimmed.mp4", "trimmed.mp4", (bytes) => {
    const changed = Buffer.from(bytes);
    const timescale = changed.readUInt32BE(changed.indexOf("mdhd") + 16);
    // Every frame is shown 1.5 s early: composition offsets may be negative in version 1 (ISO/IEC 14496-12 §8.6.1.3).
    const offsets = changed.indexOf("ctts") + 4;
    changed[offsets] = 1;
    for (let entry = 0; entry < changed.readUInt32BE(offsets + 4); entry++) {
      const at = offsets + 8 + entry * 8 + 4;
      changed.writeInt32BE(changed.readUInt32BE(at) - 1.5 * timescale, at);
    }
    changed.writeUInt32BE(timescale / 10 - 1, changed.indexOf("elst") + 16);
    changed.writeUInt32BE(6, changed.indexOf("stss") + 12);
    return changed;
  });
};

/** Its first 65,535 samples are the encoder's priming (RFC 7845 §4.2), which ffprobe counts. */
export const longPreSkip: RealWorldSource = async ({ make, edit }) => {
  await make("plain.opus", `${TONE} -c:a libopus`);
  return edit("plain.opus", "pre-skip.opus", (bytes) => {
    const changed = Buffer.from(bytes);
    changed.writeUInt16LE(65_535, changed.indexOf("OpusHead") + 10);
    const segments = changed[26] ?? 0;
    const pageBytes = changed.subarray(27, 27 + segments).reduce((sum, size) => sum + size, 27 + segments);
    changed.writeUInt32LE(0, 22);
    changed.writeUInt32LE(crc32(changed.subarray(0, pageBytes), 0), 22);
    return changed;
  });
};

/** A screen recording: frames only where something changes, the last of them for 1.5 s. 23 frames in 5.9 s. */
export const screenRecording: RealWorldSource = async ({ make }) => {
  const uneven = "select=lt(n\\,20)+eq(n\\,25)+eq(n\\,44)";
  const once = VIDEO.replace("geq", `${uneven},geq`);
  await make("uneven.mp4", `${once} ${X264} -fps_mode vfr -enc_time_base 1/1000`);
  return make("screen.mp4", "-i uneven.mp4 -c copy -bsf:v setts=duration=if(eq(N\\,21)\\,DURATION*15\\,DURATION)");
};
export const screenRecordingInMatroska: RealWorldSource = async (workshop) => {
  await screenRecording(workshop);
  return workshop.make("screen.mkv", "-i screen.mp4 -c copy");
};

/** Two frames with the same time, and two a fraction of a millisecond apart. */
export const framesAtOneTime: RealWorldSource = async ({ make }) => {
  await make(
    "apart.mp4",
    `${VIDEO.replace("geq", "select=not(eq(n\\,30)),geq")} ${X264} -fps_mode vfr -enc_time_base 1/90000`,
  );
  const near = "if(eq(N\\,10)+eq(N\\,20)\\,PREV_OUTPTS+3\\,TS)";
  return make("near.mp4", `-i apart.mp4 -c copy -bsf:v setts=ts=${near}`);
};
