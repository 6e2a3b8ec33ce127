// The fields of outputs, by their kind. The declarations of the parameters have their texts.
import { type FormField, type SchemaFields, withSchema } from "./form-field.ts";
import type { OutputKind } from "./output-list.ts";
import { FIELDS } from "./schema-fields.ts";

/** The order of fields, with or without their members. Other fields follow in the order of the schemas. */
const ORDER = [
  ...["path", "hls.path", "dash", "number", "scene", "from", "url", "shift", "language", "optional", "interval"],
  ...["offsets", "sprite", "vtt", "live_playlist", "drop_similar_variants", "offset", "duration", "if", "key"],
  ...[
    "square",
    "blur",
    "fit",
    "pad_color",
    "crop_focus",
    "crop",
    "transpose",
    "hflip",
    "vflip",
    "deinterlace",
    "watermark",
    "burn",
    "overlays",
    "captions",
    "audio",
  ],
  ...["loudness", "subtitles", "thumbnails", "segment_duration", "playlist_name", "hls", "encryption.key_uri"],
];

function rankOf(member: string): number {
  const at = [member, member.split(".")[0] ?? ""].map((name) => ORDER.indexOf(name)).find((rank) => rank >= 0);
  return at ?? ORDER.length;
}

function fields(schema: SchemaFields, kind: OutputKind): readonly FormField[] {
  const texts = Object.entries(schema).flatMap(([member, { texts: { forms, ...texts } = {} }]) =>
    "label" in texts && (forms?.includes(kind) ?? true) ? [{ member, ...texts }] : [],
  );
  return withSchema(
    texts.toSorted((one, other) => rankOf(one.member) - rankOf(other.member)),
    schema,
  );
}

export const OUTPUT_FIELDS: Readonly<Record<OutputKind, readonly FormField[]>> = {
  video: fields(FIELDS.video, "video"),
  audio: fields(FIELDS.video, "audio"),
  image: fields(FIELDS.image, "image"),
  animated: fields(FIELDS.image, "animated"),
  text: fields(FIELDS.text, "text"),
  stream: fields(FIELDS.stream, "stream"),
};
