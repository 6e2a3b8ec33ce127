// The tests of the parameters for audio, loudness and captions (api-v2 §5, and the pages that it names).
import type { Row } from "./contract-tables.ts";
import { type Proof, testNamed } from "./proof.ts";

const PARSED = testNamed("shared/request/outputs/outputs-section.test.ts", "reads a file %s with %j");
const VARIANTS = testNamed(
  "shared/plan/outputs/plan-stream.test.ts",
  "show a crop as if it were the source, and keep boxes on a blurred backdrop",
);
const READ = testNamed(
  "shared/request/outputs/overlays.test.ts",
  "reads %j, alone and in lists, for files, images and streams",
);
const STREAMS = testNamed("shared/request/outputs/outputs-section.test.ts", "reads a stream with %j");

const audio = (title: string): Proof => testNamed("encoder-node/ffmpeg/plans/audio-tracks.ffmpeg.test.ts", title);
const audioStreams = (title: string): Proof => testNamed("encoder-node/publish/audio-tracks.ffmpeg.test.ts", title);
const texts = (title: string): Proof => testNamed("encoder-node/tasks/encode/subtitles.ffmpeg.test.ts", title);
const traits = (title: string): Proof => testNamed("shared/plan/text/choose-texts.test.ts", title);
const burnt = (title: string): Proof => testNamed("encoder-node/text/burn-in/burn-in.ffmpeg.test.ts", title);
const overlaid = (title: string): Proof => testNamed("encoder-node/ffmpeg/plans/overlays.ffmpeg.test.ts", title);
const leveled = (title: string): Proof => testNamed("encoder-node/prepare/loudness.ffmpeg.test.ts", title);
const played = (title: string): Proof => testNamed("test/streams/stream-playback.test.ts", title);

const TRAITS = audio("writes the requested tracks to %s with languages, names and dispositions");
const CHOSEN = texts("chooses a track by its language, and moves its cues");
const STYLE = testNamed("encoder-node/text/burn-in/caption-script.test.ts", "writes the style of the request");
const SHIFTED = burnt("are the same in chunks of %s as in the whole");

const SPOKEN = testNamed(
  "encoder-node/speech/speech.ffmpeg.test.ts",
  "recognizes each language once for all outputs, and announces it as made by a machine",
);

const AUDIO = {
  from: audio("merges mono tracks to a layout, in the order of the request"),
  url: audio("takes a track from another file, also in a trimmed output"),
  offset: audio("shifts a track of %s by %s seconds to the sample"),
  language: TRAITS,
  name: TRAITS,
  role: TRAITS,
  default: TRAITS,
  format: audio("merges tracks beside other tracks and video"),
  map: audio("mixes channels by the matrix %j like ffmpeg's %s"),
  optional: audio("leaves out optional tracks that the source lacks, with a note"),
};
const CAPTIONS = {
  from: CHOSEN,
  url: testNamed("encoder-node/prepare/fetch-subtitles.test.ts", "makes WebVTT in UTF-8 of %s"),
  language: CHOSEN,
  name: traits("takes all text tracks with traits of the input, unique names and one default"),
  default: played("players list forced text and captions of the input, and show the text: %s"),
  kind: traits("prefers requested traits to those of the track"),
  forced: CHOSEN,
  optional: texts("makes a file without text if its input lacks an optional track"),
  shift: CHOSEN,
};
const BURN = {
  url: burnt("are those of ffmpeg's own filter"),
  from: burnt("come from text tracks of the input, with the styles of ASS"),
  language: SPOKEN,
  optional: burnt("come from text tracks of the input, with the styles of ASS"),
  shift: SHIFTED,
  font: burnt("are in all renditions of streams, and fail alone"),
  background: SHIFTED,
  keep_style: burnt("come from text tracks of the input, with the styles of ASS"),
};
const PLACED = overlaid("is at its anchor in its size, for nine anchors and five sizes");
const SHOWN = overlaid("of images and texts on %s are right to the frame");
const BOXED = overlaid("has its box at its anchor");
const OVERLAYS = {
  url: PLACED,
  text: SHOWN,
  timecode: overlaid("on %s from %s has, %i frames later, %s"),
  anchor: PLACED,
  "x, y": PLACED,
  "width, height": overlaid("%s has these sides"),
  opacity: overlaid("%s is blended with opacity %d"),
  "start, end": SHOWN,
  fade: overlaid("of fades on %s are a function of the time"),
  size: BOXED,
  "color, background": BOXED,
  font: overlaid("needs a font with its letters"),
};
const LOUDNESS = {
  "a number from −31 to −5": leveled("applies one gain to all samples when the peaks allow it"),
  '{ "target": -16, "true_peak": -2, "tolerance": 0.5 }': leveled(
    "limits true peaks, and corrects the gain for the loudness that the limiter removes",
  ),
  '"measure"': leveled("finds the loudness that EBU Tech 3341 states for %s"),
};
const EXTENSIONS = {
  crop: VARIANTS,
  fit: VARIANTS,
  subtitles: texts("adds all text tracks with their languages, names and dispositions"),
  captions: testNamed(
    "encoder-node/testing/sources/captions.ffmpeg.test.ts",
    "keeps the captions of the source, and announces them in streams",
  ),
  burn: burnt("are in all renditions of streams, and fail alone"),
  overlays: overlaid("is in all renditions of a stream, and fails alone"),
  loudness: leveled("levels the audio of videos and streams, and plans the same filters for chunked jobs"),
  audio: audioStreams("lists each track in each group of the master playlist, with the same name"),
};

const tested =
  (proofs: Readonly<Record<string, Proof>>, others: Proof) =>
  ({ name }: Row): Proof => {
    const known = name.replaceAll("`", "");
    return (Object.hasOwn(proofs, known) ? proofs[known] : undefined) ?? others;
  };

/** By heading. Rows without a test of their own are parsed. */
export const PARAMETERS: Readonly<Record<string, (row: Row) => Proof | null>> = {
  "5. Output parameters": tested(EXTENSIONS, STREAMS),
  "Audio tracks and languages": tested(AUDIO, PARSED),
  "Captions and subtitles": tested(CAPTIONS, PARSED),
  "Burnt-in captions": tested(BURN, STYLE),
  Overlays: tested(OVERLAYS, READ),
  Loudness: tested(LOUDNESS, PARSED),
};
