// Converts jobs of Zencoder (API v2).
import { Draft } from "../draft.ts";
import type { Converted, Json } from "../note.ts";
import { Reader } from "../reader.ts";
import { playlistPlace, segmentSeconds, streamVariants } from "../stream-variants.ts";
import { convertCaptions, playlistSubtitles, subtitlesOf } from "./captions.ts";
import { ZENCODER_LOST } from "./fields.ts";
import { convertFile, pathOf, renditionOf, thumbnailsOf } from "./file-output.ts";

export function convertZencoder(job: unknown): Converted {
  return readZencoder(new Reader(job));
}

/** Converts a job. The reader records the used fields. */
export function readZencoder(job: Reader): Converted {
  const draft = new Draft();
  const input = job.at("input").text();
  if (input !== undefined) draft.inputUrl(input, "input");
  const outputs = job.any("outputs", "output").list();
  notify(draft, job.at("notifications"));
  const isStream = (output: Reader): boolean => /^(?:segmented|playlist)$/.test(output.at("type").text() ?? "");
  for (const output of outputs) {
    const type = output.at("type").text() ?? "standard";
    if (isStream(output)) thumbnailsOf(draft, output);
    else if (type === "standard") convertFile(draft, output);
    else if (isCaptions(output)) {
      if (!output.at("segmented").flag()) convertCaptions(draft, output, pathOf(draft, output, "vtt"));
    } else {
      output.use();
      draft.lost(output.path, `outputs of the type \`${type}\` are not possible`);
    }
  }
  convertStreams(draft, outputs.filter(isStream), outputs.filter(isCaptions));
  // Outputs' notifications come last: `events` can only extend a notification that exists.
  const ofOutputs = outputs.map((output) => output.at("notifications")).filter((list) => list.exists);
  for (const list of ofOutputs) notify(draft, list);
  if (ofOutputs.length > 0) draft.notificationOptions({ events: true });
  return draft.finish(job.lost(ZENCODER_LOST));
}

const isCaptions = (output: Reader): boolean => output.at("type").text() === "captions";

function notify(draft: Draft, notifications: Reader): void {
  for (const notification of notifications.list()) {
    const url = notification.isObject ? notification.at("url").text() : notification.text();
    if (url !== undefined) draft.notify(url, notification.path);
  }
}

// Converts segmented outputs and playlists of Zencoder to HLS streams.

/**
 * Adds an `httpstream` for each playlist with its segmented outputs, and for each segmented output without a playlist.
 */
function convertStreams(draft: Draft, outputs: readonly Reader[], captions: readonly Reader[]): void {
  const playlists = outputs.filter((output) => output.at("type").text() === "playlist");
  const segmented = outputs.filter((output) => output.at("type").text() === "segmented");
  const named = new Set<Reader>();
  for (const playlist of playlists) {
    const members = playlist
      .at("streams")
      .list()
      .flatMap((stream) => {
        const member = segmented.find((output) => isMeant(output, stream));
        if (member === undefined) draft.lost(stream.path, "names no segmented output of the job");
        return member ?? [];
      });
    for (const member of members) named.add(member);
    convertStream(draft, playlist, { members, captions });
  }
  for (const output of segmented) if (!named.has(output)) convertStream(draft, output, { members: [output], captions });
}

function isMeant(output: Reader, stream: Reader): boolean {
  const source = stream.at("source").text();
  const path = stream.at("path").text();
  const file = output.at("filename").text() ?? output.at("url").text() ?? "";
  return source === undefined ? path !== undefined && file.endsWith(path) : output.at("label").text() === source;
}

type Members = { readonly members: readonly Reader[]; readonly captions: readonly Reader[] };

function convertStream(draft: Draft, playlist: Reader, { members, captions }: Members): void {
  const { folder, playlist_name } = playlistPlace(pathOf(draft, playlist, "m3u8"));
  const lost = (part: string, message: string): void => draft.lost(`${playlist.path}: ${part}`, message);
  const variants = streamVariants(
    members.map((member) => renditionOf(draft, member)),
    lost,
  );
  // The playlists of the members get names of this service.
  for (const member of members) if (member !== playlist) pathOf(draft, member, "m3u8");
  const seconds = members.map((member) => member.at("segment_seconds").number()).find((value) => value !== undefined);
  draft.output(
    "httpstream",
    {
      key: playlist.at("label").text(),
      hls: { path: folder },
      ...(variants.length === 0 ? {} : { variants }),
      playlist_name,
      ...(seconds === undefined ? {} : { segment_duration: segmentSeconds(seconds) }),
      ...encryptionOf(draft, members),
      ...subtitlesOf(draft, members, null),
      ...playlistSubtitles(draft, playlist, captions),
    },
    playlist.path,
  );
  draft.note("changed", playlist.path, "the playlists of variants and the segments have names of this service");
}

function encryptionOf(draft: Draft, members: readonly Reader[]): Json {
  const encrypted = members.find(
    (member) => member.at("encryption_method").exists || member.at("encryption_key").exists,
  );
  if (encrypted === undefined) return {};
  const method = encrypted.at("encryption_method").text() ?? "aes-128";
  const key = encrypted.at("encryption_key").text();
  const uri = encrypted.at("encryption_key_url").text();
  if (!/^aes-?128/i.test(method))
    draft.lost(`${encrypted.path}.encryption_method`, "segments are encrypted by AES-128");
  if (uri === undefined) {
    draft.lost(`${encrypted.path}.encryption_method`, "`encryption` needs the URL of the key, `encryption_key_url`");
    return {};
  }
  for (const member of members) member.at("encryption_key_url").use();
  return { encryption: { ...(key !== undefined && /^[0-9a-f]{32}$/i.test(key) ? { key } : {}), key_uri: uri } };
}
