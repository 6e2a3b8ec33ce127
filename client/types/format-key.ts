// Formats of outputs as types: `mp4:720p` is a format, `mp4:72Op` is not. The grammar is in docs/api-v2.md. The service
// checks that the container and the codec support the format.
import type {
  AudioCodec,
  AudioContainer,
  Channels,
  FrameRate,
  ImageContainer,
  PixelFormat,
  Preset,
  Profile,
  SampleRate,
  TextContainer,
  VideoCodec,
  VideoContainer,
} from "./api.ts";

type Size = Preset | `${number}x${number}` | `${number}x` | `x${number}`;
type Bitrate = `${number}k`;
type VideoToken = Size | Bitrate | `${FrameRate}fps` | VideoCodec | "novideo" | "x";
type AudioToken = Bitrate | `${SampleRate}hz` | Channels | AudioCodec | "pcm" | "noaudio" | "x";
type Quality = "1" | "2" | "3" | "4" | "5" | `vmaf${number}`;
type Option =
  | `quality=${Quality}`
  | `maxrate=${Bitrate}`
  | `pix-fmt=${PixelFormat}`
  | `vprofile=${Profile}`
  | `level=${number}`
  | `${"2pass" | "frag" | "metadata"}${"" | "=0" | "=1"}`;

/** Names with a hyphen may be written with `_`. Elsewhere `_` separates tokens. */
type Hyphenated<
  Text extends string,
  Names = ["prores_ks", "pcm_s16le", "pcm_u8", "pcm_alaw", "amr_nb", "pix_fmt"],
> = Names extends [infer Name extends string, ...infer Others] ? Hyphenated<WithHyphen<Text, Name>, Others> : Text;
type WithHyphen<Text extends string, Name extends string> = Text extends `${infer Before}${Name}${infer After}`
  ? Name extends `${infer One}_${infer Other}`
    ? `${Before}${One}-${Other}${After}`
    : Text
  : Text;

/** True if all tokens of a segment are of the kind. `x264` and `x265` are encoders, not heights. */
type AllAre<
  Text extends string,
  Token,
  Separator extends string,
> = Text extends `${infer First}${Separator}${infer Rest}`
  ? IsToken<First, Token> extends true
    ? AllAre<Rest, Token, Separator>
    : false
  : IsToken<Text, Token>;
type IsToken<Text extends string, Token> = Text extends ""
  ? true
  : Text extends "x264" | "x265"
    ? false
    : Text extends Token
      ? true
      : false;

type Segments<Text extends string> = Text extends `${infer First}:${infer Rest}` ? [First, ...Segments<Rest>] : [Text];
/** Commas or `_` separate options. */
type Commas<Text extends string> = Text extends `${infer First}_${infer Rest}` ? `${First},${Commas<Rest>}` : Text;
/** Trailing empty segments mean nothing. */
type Trimmed<Text extends string> = Text extends `${infer Rest}:` ? Trimmed<Rest> : Text;
type IsVideo<Text> = Text extends string ? AllAre<Hyphenated<Text>, VideoToken, "_"> : true;
type IsAudio<Text> = Text extends string ? AllAre<Hyphenated<Text>, AudioToken, "_"> : true;
type IsOptions<Text> = Text extends string ? AllAre<Commas<Hyphenated<Text>>, Option, ","> : true;
type IsSize<Text> = Text extends string ? AllAre<Text, Size, "_"> : true;

/** The kind of a format; `never` if the format is not valid. Formats are case-insensitive. */
export type FormatKind<Key extends string> = KindOf<Segments<Trimmed<Lowercase<Key>>>>;
type KindOf<Parts extends string[]> = Parts["length"] extends 1 | 2 | 3 | 4
  ? Parts[0] extends "httpstream"
    ? OnlyIf<Parts["length"] extends 1 ? true : false, "httpstream">
    : Parts[0] extends TextContainer
      ? OnlyIf<Parts["length"] extends 1 ? true : false, "text">
      : Parts[0] extends ImageContainer
        ? OnlyIf<Parts[2] extends undefined | "" ? IsSize<Parts[1]> & IsOptions<Parts[3]> : false, "image">
        : Parts[0] extends AudioContainer
          ? OnlyIf<Parts["length"] extends 4 ? false : IsAudio<Parts[1]> & IsOptions<Parts[2]>, "video">
          : Parts[0] extends VideoContainer
            ? OnlyIf<IsVideo<Parts[1]> & IsAudio<Parts[2]> & IsOptions<Parts[3]>, "video">
            : never
  : never;
type OnlyIf<Condition, Kind> = Condition extends true ? Kind : never;

/** Formats that editors suggest. */
export type CommonFormat =
  | `${"mp4" | "webm"}:${Preset}`
  | "mp4"
  | "webm"
  | "mp3"
  | "m4a"
  | "opus"
  | "jpg:640x"
  | "png:640x"
  | "gif:320x"
  | "httpstream";
