// Requested audio tracks of outputs (docs/audio-tracks.md).
import * as z from "zod";
import { AudioTrackSpec } from "../format/format-spec.ts";

/** Purposes of a track. `clear`: speech is enhanced for people who are hard of hearing. */
export const AUDIO_ROLES = ["main", "dub", "commentary", "description", "clear"] as const;
const AudioRole = z.enum(AUDIO_ROLES);
export type AudioRole = z.infer<typeof AudioRole>;

export const RequestedTrack = z.object({
  /** A number of an audio track of the input, a language, or numbers of tracks that are merged; null: chosen. */
  from: z.union([z.int(), z.string(), z.array(z.int())]).nullable(),
  /** Another file, whose chosen audio is the track. */
  url: z.string().nullable(),
  /** Time by which the track starts later; negative: its start is removed. */
  offsetMs: z.number(),
  /** BCP 47. Null: the language, name and role of the source's track. */
  language: z.string().nullable(),
  name: z.string().nullable(),
  role: AudioRole.nullable(),
  isDefault: z.boolean(),
  /** Null: as the output's format. */
  format: AudioTrackSpec.nullable(),
  /** Gains over the input channels, for each output channel. */
  map: z.array(z.array(z.number())).nullable(),
  /** True to leave the track out if the input lacks it. */
  isOptional: z.boolean(),
});
export type RequestedTrack = z.infer<typeof RequestedTrack>;

/** `all`: each audio track of the input that can be decoded. */
export const RequestedAudio = z.union([z.literal("all"), z.array(RequestedTrack)]);
export type RequestedAudio = z.infer<typeof RequestedAudio>;

/** Players choose a track by these traits. `language` is a BCP 47 tag. */
export type TrackTraits = {
  readonly language: string;
  readonly name: string;
  readonly role: AudioRole;
  readonly isDefault: boolean;
};
