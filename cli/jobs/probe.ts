// copra probe: prints the streams of a source.
import { fraction } from "#shared/media/media-probe.ts";
import type { Copra, NewProbe, Probe } from "../../client/index.ts";
import { clientOf } from "../client.ts";
import type { Run } from "../command-spec.ts";
import type { Target } from "../connection/target.ts";
import { type Context, listOption, type Options, textOption } from "../context.ts";
import { type Source, sourceOf } from "../encode/source.ts";
import { uploadFile } from "../encode/upload.ts";
import { EXIT } from "../exit.ts";
import { printable } from "../terminal/printable.ts";
import { table } from "../terminal/table.ts";
import { bytesText, durationText } from "../terminal/values.ts";

export const probe: Run = async (context, [source = ""], options) => {
  const { copra, target } = await clientOf(context);
  const input = await inputOf(context, sourceOf(source, context.env, listOption(options, "header")), copra, target);
  const result = await copra.probes.run({ input, ...settingsOf(options) }, { signal: context.signal });
  const { error } = result;
  context.output.data(result, () => (error === undefined ? probeText(result) : printable(error)));
  return result.status === "completed" ? EXIT.done : EXIT.failed;
};

/** Uploads a local file. A later `encode` uses the same upload. */
async function inputOf(context: Context, source: Source, copra: Copra, target: Target): Promise<NewProbe["input"]> {
  const { env, signal, now, output } = context;
  if (source.kind === "remote") return source.input as NewProbe["input"];
  output.words(`Uploading ${bytesText(source.size)}`);
  const nothing = (): void => undefined;
  const upload = await uploadFile(source, { copra, target, env, signal, now, onStart: nothing, onProgress: nothing });
  return { upload };
}

function settingsOf(options: Options): Pick<NewProbe, "settings"> {
  const queue = textOption(options, "queue");
  const require = listOption(options, "require");
  return { settings: { queue, require: require.length > 0 ? require : undefined } };
}

function probeText({ source, metadata }: Probe): string {
  const { format, streams = [] } = metadata ?? {};
  const { duration, size, bit_rate: bitRate, format_name: name = "" } = format ?? {};
  const facts = [
    ["source", printable(source)],
    ["format", printable(name)],
    ...(duration === undefined ? [] : [["length", `${durationText(Number(duration))} (${Number(duration)} s)`]]),
    ...(size === undefined ? [] : [["size", bytesText(Number(size))]]),
    ...(bitRate === undefined ? [] : [["bitrate", rateText(bitRate)]]),
  ];
  const tracks = streams.map((stream) => [
    String(stream.index ?? ""),
    stream.codec_type ?? "",
    printable([stream.codec_name, stream.profile].filter(Boolean).join(" ")),
    shapeOf(stream),
    stream.bit_rate === undefined ? "" : rateText(stream.bit_rate),
    printable(stream.tags?.language ?? ""),
  ]);
  return [table(facts), "", table(tracks)].join("\n");
}

type Stream = NonNullable<Probe["metadata"]>["streams"][number];

/** Returns the size and frame rate of a video, or the channels and sample rate of audio. */
function shapeOf({ width, height, avg_frame_rate: rate, channels, sample_rate: sampleRate }: Stream): string {
  const perSecond = fraction(rate);
  const fps = perSecond === null ? "" : `${Math.round(perSecond * 1000) / 1000} fps`;
  if (width !== undefined) return `${width}x${height} ${fps}`.trim();
  return channels === undefined ? "" : `${channels} ch ${sampleRate === undefined ? "" : `${sampleRate} Hz`}`.trim();
}

const rateText = (bitsPerSecond: string | number): string => `${Math.round(Number(bitsPerSecond) / 1000)} kbit/s`;
