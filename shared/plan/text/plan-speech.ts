// Plans the run that writes the audio of a source as samples for the recognition of speech.
import type { Clip } from "../../job/clip.ts";
import type { MediaProbe } from "../../media/media-probe.ts";
import { chainText } from "../command/filter-text.ts";
import type { PlannedRun } from "../command/planned-run.ts";
import { audioFilters } from "../encoders/audio-filters.ts";
import { planRun, type RunInputs } from "../runs/plan-run.ts";
import { ptsOriginArguments } from "../source/pts-origin.ts";
import type { AudioTrack, SourceTracks } from "../source/source-tracks.ts";

export const SPEECH_SAMPLES = "speech.pcm";
/** The rate of Whisper's models. */
const SPEECH_HZ = 16_000;

/** The first sample is at the start of the source's timeline, or of the clip. */
export function planSpeech(
  inputs: RunInputs,
  probe: MediaProbe,
  tracks: SourceTracks,
  audio: AudioTrack,
  clip?: Clip,
): PlannedRun {
  const start = clip ? [`start=${clip.startMs / 1000}`] : [];
  const end = clip?.endMs == null ? [] : [`end=${clip.endMs / 1000}`];
  const trim = clip ? [chainText([`atrim=${[...start, ...end].join(":")}`])] : [];
  const filters = [audioFilters("mono", audio, { gaps: "filled from 0", seekMs: 0 }), ...trim].join(",");
  const argv = [
    ...["-map", `0:${audio.streamIndex}`, "-af", filters],
    ...["-ar", String(SPEECH_HZ), "-c:a", "pcm_s16le", "-f", "s16le", SPEECH_SAMPLES],
  ];
  const { startMs, endMs } = audio;
  const part = { branches: [], argv, expectedFrames: null, endMs, startMs };
  return planRun({ inputs, tracks, parts: [part], sourceOptions: ptsOriginArguments(probe) });
}
