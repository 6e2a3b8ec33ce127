// Plans the runs that measure the loudness of outputs before they are encoded.
import type { AudioCodec } from "../../format/codecs.ts";
import { hasTracks, type OutputSpec } from "../../job/output-spec.ts";
import type { FfmpegCapabilities } from "../command/capabilities.ts";
import { chainText } from "../command/filter-text.ts";
import { seconds } from "../command/opening-arguments.ts";
import type { CommandPart, PlannedRun } from "../command/planned-run.ts";
import { type AudioEncodeOptions, audioArguments, outputLayout } from "../encoders/audio-encoders.ts";
import { mixFilters, OVERSAMPLED_HZ, OVERSAMPLING, unlimitedMix, volumeFilter } from "../encoders/audio-filters.ts";
import { chooseAudioEncoder } from "../encoders/choose-encoder.ts";
import { mapAudio } from "../outputs/map-audio.ts";
import { fileTrim, isEncodedAudio } from "../outputs/plan-file.ts";
import { STREAM_AUDIO, streamAudios } from "../outputs/stream-audio.ts";
import { planRun, type RunInputs } from "../runs/plan-run.ts";
import type { SpeakerLayout } from "../source/channel-layouts.ts";
import { outputAudios } from "../source/output-tracks.ts";
import type { AudioTrack, SourceTracks } from "../source/source-tracks.ts";
import { type Trim, trimArguments } from "../source/trim.ts";
import { streamTrim } from "../streams/stream-clip.ts";
import type { ChosenGain } from "./gain.ts";
import { PEAK_WINDOW_SECONDS } from "./read-measurement.ts";

/** The object of a measurement: a mix of the source's channels, in the part of the source that an output shows. */
export type LoudnessMix = {
  /** Number of the output's track; null without a list of tracks. */
  readonly number: number | null;
  readonly layout: SpeakerLayout;
  readonly trim: Trim;
  readonly track: AudioTrack;
  /** True if a gain will be applied: the mix then has no limiter of its own. */
  readonly isAdjusted: boolean;
  /** Encoding of the mix. In a stream: of its first rendition with this layout. */
  readonly encoding: Pick<AudioEncodeOptions, "spec" | "container" | "gaps">;
};

/** The mixes of an output with the parameter `loudness`; none if it gets no encoded audio. */
export function loudnessMixes(output: OutputSpec, source: SourceTracks): LoudnessMix[] {
  if (!hasTracks(output) || !output.loudness) return [];
  const isAdjusted = output.loudness.targetLufs !== null;
  if (output.type === "video") {
    const trim = fileTrim(output, source);
    const selected = outputAudios(output, trim, source);
    const { container } = output;
    return (selected.ok ? selected.value.audios : []).flatMap(({ track, spec, traits }, at): LoudnessMix[] => {
      if (track.undecodable || !isEncodedAudio(spec)) return [];
      const encoding = { spec, container };
      return [
        { number: traits && at + 1, layout: outputLayout(spec, container, track), trim, track, isAdjusted, encoding },
      ];
    });
  }
  const trim = streamTrim(output, source);
  const mixes = streamAudios(output, source).flatMap(({ number, track, specs }) =>
    specs.map((spec): LoudnessMix => {
      const layout = outputLayout(spec, STREAM_AUDIO.container, track);
      return { number, layout, trim, track, isAdjusted, encoding: { spec, ...STREAM_AUDIO } };
    }),
  );
  return [...Map.groupBy(mixes, ({ number, layout }) => `${number} ${layout}`).values()].flatMap(
    ([first]) => first ?? [],
  );
}

/** Codecs that change the loudness: ffmpeg's AAC makes noise at 128k up to 0.5 LU quieter. */
const LOSSY: ReadonlySet<AudioCodec> = new Set(["aac", "ac3", "mp2", "mp3", "opus", "vorbis", "wmav2"]);
/** Codecs of telephones, which Matroska lacks. */
const NOT_IN_TRIALS: ReadonlySet<AudioCodec> = new Set(["amr-nb", "pcm-alaw"]);

/** True if only a trial encode shows how loud the output will be. */
export const needsTrial = ({ encoding }: LoudnessMix, { limitDb }: ChosenGain): boolean =>
  limitDb !== null || LOSSY.has(encoding.spec.codec);

/** Names of the files that runs write; `at` is the position of the mix. */
export const loudnessFile = (at: number): string => `loudness-${at}.txt`;
export const PEAKS_FILE = "peaks.txt";
export const TRIAL_FILE = "trial.mka";

/** A run that measures mixes with the same start of reading: `loudnessFile` gets the loudness of each. */
export const planMeasurement = (inputs: RunInputs, tracks: SourceTracks, mixes: readonly LoudnessMix[]): PlannedRun =>
  planRun({ inputs, tracks, parts: mixes.map(partOf), sourceOptions: seekOptions(mixes[0]) });

const seekOptions = (mix: LoudnessMix | undefined): string[] =>
  mix && mix.trim.seekMs > 0 ? ["-ss", seconds(mix.trim.seekMs)] : [];

function partOf(mix: LoudnessMix, at: number): CommandPart {
  const { layout, trim, track, isAdjusted } = mix;
  const channels = isAdjusted ? unlimitedMix(layout, track) : mixFilters(layout, track);
  const filters = [...channels, ...trimFilter(trim)];
  return printingPart(mix, [...(filters.length > 0 ? [chainText(filters)] : []), measured(loudnessFile(at))], at);
}

/** A part without an output: its filters print measurements. */
const printingPart = (mix: LoudnessMix, filters: readonly string[], at: number): CommandPart =>
  audioPart(mix, ["-af", filters.join(","), "-f", "null", "-"], at);

function audioPart({ track, trim }: LoudnessMix, encoding: readonly string[], at: number): CommandPart {
  const { map, argv, graphs, inputs } = mapAudio(track, encoding, `a${at}`);
  return {
    branches: [],
    argv: [...map, ...argv],
    ...(graphs.length > 0 ? { graphs } : {}),
    ...(inputs.length > 0 ? { inputs } : {}),
    expectedFrames: null,
    endMs: trim.endMs ?? track.endMs,
    startMs: trim.startMs,
  };
}

/** A run that encodes the audio with a gain to `TRIAL_FILE`. With a limiter, `PEAKS_FILE` gets the peaks before it. */
export function planTrial(
  inputs: RunInputs,
  tracks: SourceTracks,
  mix: LoudnessMix,
  gain: ChosenGain,
  capabilities: FfmpegCapabilities,
): PlannedRun | null {
  const { spec, ...encoding } = mix.encoding;
  const codec = NOT_IN_TRIALS.has(spec.codec) ? "pcm-s16le" : spec.codec;
  const encoder = chooseAudioEncoder(codec, capabilities);
  if (!encoder) return null;
  const { layout, track, trim } = mix;
  const loudness = { targetLufs: 0, truePeakDb: 0, toleranceLu: 0, gains: [{ layout, ...gain }] };
  const argv = audioArguments(encoder, { ...encoding, spec: { ...spec, codec }, track, seekMs: trim.seekMs, loudness });
  const encoded = audioPart(mix, [...argv, ...trimArguments(trim), "-f", "matroska", TRIAL_FILE], 0);
  const parts = [encoded, ...(gain.limitDb === null ? [] : [peaksPart(mix, gain)])];
  return planRun({ inputs, tracks, parts, sourceOptions: seekOptions(mix) });
}

/** Prints the peaks that the limiter gets. */
function peaksPart(mix: LoudnessMix, gain: ChosenGain): CommandPart {
  const before = [...volumeFilter(gain.gainDb), OVERSAMPLING];
  return printingPart(
    mix,
    [
      chainText([...unlimitedMix(mix.layout, mix.track), ...trimFilter(mix.trim), ...before]),
      `asetnsamples=n=${OVERSAMPLED_HZ * PEAK_WINDOW_SECONDS}:p=0`,
      "astats=metadata=1:reset=1:measure_perchannel=none:measure_overall=Peak_level",
      `ametadata=mode=print:key=lavfi.astats.Overall.Peak_level:file=${PEAKS_FILE}`,
    ],
    1,
  );
}

/** A run that measures the trial encode at `path`. */
export const planTrialMeasurement = (path: string, tracks: SourceTracks, mix: LoudnessMix): PlannedRun =>
  planRun({
    inputs: { source: path },
    tracks: { ...tracks, video: null },
    parts: [printingPart({ ...mix, track: onlyTrack(mix.track) }, [measured(loudnessFile(0))], 0)],
    sourceOptions: [],
  });

/** The track of a trial encode. */
const onlyTrack = ({ merged: _merged, file: _file, ...track }: AudioTrack): AudioTrack => ({
  ...track,
  streamIndex: 0,
});

/**
 * True peaks by the same filter, at four times the sample rate (ITU-R BS.1770-4 annex 2). `ebur128` prints only after
 * each 0.1 s, so shorter audio gets silence.
 */
const measured = (file: string): string =>
  `apad=whole_dur=0.1,ebur128=peak=true:metadata=1:framelog=verbose,ametadata=mode=print:file=${file}`;

/** The output's part of the source. Audio filters count from where reading starts. */
function trimFilter({ seekMs, startMs, endMs }: Trim): string[] {
  if (startMs === 0 && endMs === null) return [];
  const end = endMs === null ? "" : `:end=${seconds(endMs - seekMs)}`;
  return [`atrim=start=${seconds(startMs - seekMs)}${end}`];
}
