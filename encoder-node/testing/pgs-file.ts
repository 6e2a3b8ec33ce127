// Writes captions of Blu-ray (PGS), for which ffmpeg has no encoder.

/** Times in ms, places in pixels of the canvas. Without an end, a caption stays until the next. */
export type PgsCaption = {
  readonly fromMs: number;
  readonly toMs?: number;
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
  readonly isForced?: boolean;
};

const u16 = (value: number): number[] => [(value >> 8) & 255, value & 255];
const u24 = (value: number): number[] => [(value >> 16) & 255, ...u16(value)];
const u32 = (value: number): number[] => [(value >>> 24) & 255, ...u24(value)];

/** Entries of a palette: number, Y, Cr, Cb and alpha. */
const WHITE = [1, 235, 128, 128, 255];
const SHADE = [2, 60, 90, 200, 128];

const segment = (ms: number, type: number, content: readonly number[]): number[] => [
  ...[0x50, 0x47, ...u32(Math.round(ms * 90)), ...u32(0), type, ...u16(content.length)],
  ...content,
];

/** A file of the demuxer `sup`. Each caption is a white box with a transparent lower half. */
export function pgsFile(canvas: { width: number; height: number }, captions: readonly PgsCaption[]): Buffer {
  let sets = 0;
  const composition = (objects: readonly PgsCaption[]): number[] => [
    ...[...u16(canvas.width), ...u16(canvas.height), 0x10, ...u16(sets++), objects.length > 0 ? 0x80 : 0, 0, 0],
    ...[
      objects.length,
      ...objects.flatMap(({ x, y, isForced }) => [0, 0, 0, isForced ? 0x40 : 0, ...u16(x), ...u16(y)]),
    ],
  ];
  return Buffer.from(
    captions.flatMap((caption) => {
      const { fromMs, toMs, x, y, width, height } = caption;
      const windows = [1, 0, ...u16(x), ...u16(y), ...u16(width), ...u16(height)];
      const pixels = Array.from({ length: height }, (_, row) => [
        0,
        0xc0 | (width >> 8),
        width & 255,
        row < height / 2 ? 1 : 2,
        0,
        0,
      ]);
      const object = [...u16(width), ...u16(height), ...pixels.flat()];
      return [
        ...segment(fromMs, 0x16, composition([caption])),
        ...segment(fromMs, 0x17, windows),
        ...segment(fromMs, 0x14, [0, 0, ...WHITE, ...SHADE]),
        ...segment(fromMs, 0x15, [0, 0, 0, 0xc0, ...u24(object.length), ...object]),
        ...segment(fromMs, 0x80, []),
        ...(toMs === undefined
          ? []
          : [...segment(toMs, 0x16, composition([])), ...segment(toMs, 0x17, windows), ...segment(toMs, 0x80, [])]),
      ];
    }),
  );
}
