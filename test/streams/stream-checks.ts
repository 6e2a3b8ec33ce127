// Checks of a package, wherever it is stored. Each returns a list of sentences about faults.
import { fetchFile } from "./stream-bytes.ts";
import { beepsOf, type CodedFrame, codedFrames, inspect, type Media } from "./stream-media.ts";
import type { PackageTrack, StreamPackage } from "./stream-package.ts";

/** The timestamp of the video's time 0 in the segments, in seconds. */
const START = 10;
/** Rounding in playlists and timestamps, in seconds. */
const ROUNDING = 0.002;
/**
 * Audio segments start between packets of 1024 samples, and before the video (priming): two packets at 22,050 Hz. In s.
 */
const AUDIO_ROUNDING = 0.1;

const TYPES: Readonly<Record<string, RegExp>> = {
  m3u8: /^application\/vnd\.apple\.mpegurl$/,
  mpd: /^application\/dash\+xml$/,
  ts: /^video\/mp2t$/,
  m4s: /^(?:video\/iso\.segment|(?:video|audio)\/mp4)$/,
  mp4: /^(?:video|audio)\/mp4$/,
  vtt: /^text\/vtt(?:;.*)?$/,
  jpg: /^image\/jpeg$/,
};

/** Files that are missing, have a wrong type, or have a wrong cache lifetime. Entry files change. */
export async function fileFaults(files: readonly string[], entries: readonly string[]): Promise<string[]> {
  const faults = files.map(async (url) => {
    const { status, contentType, cacheControl, bytes } = await fetchFile(url);
    if (status !== 200) return [`${url}: HTTP ${status}`];
    const isType = TYPES[url.split(".").at(-1) ?? ""]?.test(contentType ?? "") === true;
    const caching = entries.includes(url) ? /max-age=\d{1,3}$/ : /immutable/;
    return [
      ...(isType ? [] : [`${url}: Content-Type ${contentType}`]),
      ...(caching.test(cacheControl ?? "") ? [] : [`${url}: Cache-Control ${cacheControl}`]),
      ...(bytes.length > 0 ? [] : [`${url}: empty`]),
    ];
  });
  return (await Promise.all(faults)).flat();
}

const formatOf = ({ init }: PackageTrack): Media["format"] => (init === null ? "mpegts" : "mp4");

const initBytes = async ({ init }: PackageTrack): Promise<Buffer> =>
  init === null ? Buffer.alloc(0) : (await fetchFile(init)).bytes;

/** A track's segments, each with the init segment before it. */
async function segmentsOf(track: PackageTrack): Promise<Media[]> {
  const init = await initBytes(track);
  const segments = await Promise.all(track.segments.map(({ url }) => fetchFile(url)));
  return segments.map(({ bytes }) => ({ format: formatOf(track), bytes: Buffer.concat([init, bytes]) }));
}

async function wholeTrack(track: PackageTrack): Promise<Media> {
  const segments = await Promise.all(track.segments.map(({ url }) => fetchFile(url)));
  const all = [await initBytes(track), ...segments.map(({ bytes }) => bytes)];
  return { format: formatOf(track), bytes: Buffer.concat(all) };
}

/**
 * Segments that do not start with a keyframe, do not decode separately, or do not start at the distance from the first
 * segment in the playlist.
 */
export async function segmentFaults(track: PackageTrack): Promise<string[]> {
  const faults: string[] = [];
  const rounding = track.kind === "video" ? ROUNDING : AUDIO_ROUNDING;
  let earlier = 0;
  for (const [index, media] of (await segmentsOf(track)).entries()) {
    const { url = "", start = 0 } = track.segments[index] ?? {};
    const { packets, frames, complaints } = await inspect(media);
    if (packets[0]?.isKey !== true) faults.push(`${url} does not begin with a keyframe`);
    if (frames !== packets.length)
      faults.push(`${url} has ${packets.length} frames, of which ${frames} can be decoded`);
    if (complaints !== "") faults.push(`${url}: ${complaints.slice(0, 200)}`);
    const first = Math.min(...packets.map(({ seconds }) => seconds));
    if (index === 0) earlier = first - start;
    if (!(Math.abs(first - earlier - start) <= rounding)) {
      faults.push(`${url} begins at ${first - earlier} s, not at ${start} s`);
    }
  }
  return faults;
}

/** Keyframes that, with the init segment, do not decode to exactly a single frame. */
export async function keyframeFaults(track: PackageTrack): Promise<string[]> {
  const init = await initBytes(track);
  const faults = track.keyframes.map(async ({ url, offset, length }) => {
    const { bytes } = await fetchFile(url);
    const keyframe = Buffer.concat([init, bytes.subarray(offset, offset + length)]);
    const frames = await codedFrames({ format: formatOf(track), bytes: keyframe });
    return frames.length === 1 ? [] : [`${url} ${offset}+${length}: ${frames.length} frames`];
  });
  return (await Promise.all(faults)).flat();
}

/** Video tracks whose segments start at other times than the first track's segments. */
export function alignmentFaults({ tracks }: StreamPackage): string[] {
  const [first, ...others] = tracks.filter(({ kind }) => kind === "video");
  const lines = (track: PackageTrack | undefined): string =>
    (track?.segments ?? []).map(({ start }) => start.toFixed(3)).join(" ");
  return others
    .filter((track) => lines(track) !== lines(first))
    .map((track) => `${track.id} begins segments at ${lines(track)}, ${first?.id} at ${lines(first)}`);
}

/** Tracks whose duration differs from the video by more than a frame. */
export function lengthFaults(
  { tracks }: StreamPackage,
  { seconds: source, codeAtStart, frameSeconds }: Clock,
): string[] {
  // A source whose audio starts before its video is longer by this time.
  const seconds = source + Math.max(0, -codeAtStart);
  return tracks.flatMap(({ id, kind, segments }) => {
    const last = segments.at(-1);
    const end = last ? last.start + last.duration : 0;
    const slack = kind === "video" ? frameSeconds + ROUNDING : Math.max(frameSeconds, AUDIO_ROUNDING);
    return Math.abs(end - seconds) <= slack ? [] : [`${id} ends at ${end} s, not at ${seconds} s`];
  });
}

/**
 * Variants that need more than they declare in their busiest stretch of 0.5 to 1.5 target durations (RFC 8216 §4.1), or
 * a tenth less (Apple's HLS authoring specification §9).
 */
export async function bandwidthFaults({ tracks, variants, targetSeconds }: StreamPackage): Promise<string[]> {
  const target =
    targetSeconds ?? Math.max(...tracks.flatMap(({ segments }) => segments.map(({ duration }) => duration)));
  const peaks = new Map(
    await Promise.all(tracks.map(async (track) => [track.id, await peakOf(track, target)] as const)),
  );
  return variants.flatMap(({ tracks: played, bandwidth }) => {
    const peak = played.reduce((sum, id) => sum + (peaks.get(id) ?? Number.NaN), 0);
    const isRight = peak <= bandwidth * 1.001 + 1 && peak >= bandwidth * 0.9;
    return isRight ? [] : [`${played.join(" + ")} needs ${Math.round(peak)} bit/s and declares ${bandwidth}`];
  });
}

async function peakOf({ segments }: PackageTrack, target: number): Promise<number> {
  const sizes = await Promise.all(segments.map(async ({ url }) => (await fetchFile(url)).bytes.length));
  const rates = segments.flatMap((_, from) => {
    let seconds = 0;
    let bytes = 0;
    return segments.slice(from).flatMap(({ duration }, more) => {
      seconds += duration;
      bytes += sizes[from + more] ?? 0;
      return seconds >= target / 2 && seconds <= target * 1.5 ? [(bytes * 8) / seconds] : [];
    });
  });
  const total = segments.reduce((sum, { duration }) => sum + duration, 0);
  // A video shorter than half a target duration has no such stretch.
  return rates.length > 0 ? Math.max(...rates) : (sizes.reduce((sum, size) => sum + size, 0) * 8) / total;
}

export type Clock = {
  /** The time code of the frame at time 0. */
  readonly codeAtStart: number;
  readonly seconds: number;
  /** The longest time between two frames of the source. */
  readonly frameSeconds: number;
  /** Start of the audio. */
  readonly audioFrom: number;
};

/** Frames may move to the nearest line of a grid with steps of a frame: in cinema 1/24 s. */
const HALF_FRAME = 1 / 48;

/**
 * Frames that are shown before their time code, or after the next frame's; audio at another time than in the source.
 */
export async function clockFaults(track: PackageTrack, clock: Clock): Promise<string[]> {
  const media = await wholeTrack(track);
  return track.kind === "video"
    ? frameFaults(await codedFrames(media), track.id, clock)
    : beepFaults(await beepsOf(media), track.id, clock);
}

function frameFaults(frames: readonly CodedFrame[], id: string, { codeAtStart, frameSeconds }: Clock): string[] {
  if (frames.length === 0) return [`${id} has no frames`];
  const slack = HALF_FRAME + ROUNDING;
  const held = frameSeconds > 2 * HALF_FRAME ? frameSeconds : 0;
  const late = ({ seconds, code }: CodedFrame): number => seconds - START + codeAtStart - (code ?? Number.NaN);
  const gaps = frames
    .slice(1)
    .map(({ seconds }, index) => ({ from: frames[index]?.seconds ?? 0, to: seconds }))
    .filter(({ from, to }) => to - from > Math.max(frameSeconds, 2 * HALF_FRAME) * 1.5)
    .map(({ from, to }) => `${id}: no frame between ${(from - START).toFixed(3)} and ${(to - START).toFixed(3)} s`);
  const misplaced = frames
    .filter((frame) => !(late(frame) >= -slack && late(frame) <= slack + held))
    .map(({ seconds, code }) => `${id}: at ${(seconds - START).toFixed(3)} s is the frame of ${code} s`);
  return [...gaps, ...misplaced];
}

/** The source has a beep at each odd second. */
function beepFaults(beeps: readonly number[], id: string, { codeAtStart, seconds, audioFrom }: Clock): string[] {
  const odd = Array.from({ length: Math.ceil(seconds + codeAtStart) }, (_, second) => second).filter(
    (second) => second % 2 === 1,
  );
  return odd
    .map((second) => second - codeAtStart)
    .filter((second) => second > audioFrom + 0.5 && second < seconds - 0.5)
    .filter((second) => !beeps.some((beep) => Math.abs(beep - START - second) <= 0.03))
    .map(
      (second) => `${id}: no beep at ${second} s, but at ${beeps.map((beep) => (beep - START).toFixed(3)).join(", ")}`,
    );
}
