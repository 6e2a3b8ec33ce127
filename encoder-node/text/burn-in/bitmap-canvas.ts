// The canvas of captions that are images: its size in the track's own data, and its shape.
import type { MediaProbe, ProbedStream } from "#shared/media/media-probe.ts";
import { sourceFacts } from "#shared/media/source-facts.ts";
import type { Size } from "#shared/plan/source/frame-size.ts";

/** Wider canvases have square pixels. A canvas of 720 pixels is as wide as the frames, whatever their shape is. */
const SD_WIDTH = 720;
/** DVB subtitles that state no size (ETSI EN 300 743 §5.1.3). */
const DVB_CANVAS: Size = { width: SD_WIDTH, height: 576 };

/** Presentation composition segment of PGS, which starts with the size. */
const PGS_COMPOSITION = 0x16;
/** Each segment of DVB starts with this byte. */
const DVB_SYNC = 0x0f;
/** Display definition segment of DVB: a byte, and width and height less 1 (§7.2.1). */
const DVB_DEFINITION = 0x14;

/** Size in pixels. `data`: the first packets of the track. */
export function canvasSize(stream: Partial<ProbedStream>, data: Buffer, probe: MediaProbe): Size {
  const { codec_name: codec, width = 0, height = 0 } = stream;
  const { video } = sourceFacts(probe);
  const size = codec === "hdmv_pgs_subtitle" ? pgsSize(data) : codec === "dvb_subtitle" ? dvbSize(data) : null;
  if (size) return size;
  // Other tracks are drawn for the frames of their video.
  return width && height ? { width, height } : { width: video?.codedWidth ?? 0, height: video?.codedHeight ?? 0 };
}

/** Shape of the canvas in square pixels. */
export function canvasShape({ codec_name: codec }: Partial<ProbedStream>, size: Size, probe: MediaProbe): Size {
  const { video } = sourceFacts(probe);
  if (!video) return size;
  const { codedWidth, codedHeight, displayWidth, displayHeight, rotation } = video;
  const isOfFrame = size.width === codedWidth && size.height === codedHeight;
  if (codec === "hdmv_pgs_subtitle" && size.width > SD_WIDTH && !isOfFrame) return size;
  const [width, height] = rotation % 180 === 0 ? [displayWidth, displayHeight] : [displayHeight, displayWidth];
  return { width, height };
}

/** A type, a length of two bytes, and the content. */
function pgsSize(data: Buffer): Size | null {
  for (let at = 0; at + 7 <= data.length; at += 3 + data.readUInt16BE(at + 1)) {
    if (data[at] === PGS_COMPOSITION) return { width: data.readUInt16BE(at + 3), height: data.readUInt16BE(at + 5) };
  }
  return null;
}

/** A sync byte, a type, a page of two bytes, a length of two bytes, and the content. */
function dvbSize(data: Buffer): Size {
  for (let at = 0; at + 11 <= data.length; ) {
    if (data[at] !== DVB_SYNC) at += 1;
    else if (data[at + 1] !== DVB_DEFINITION) at += 6 + data.readUInt16BE(at + 4);
    else return { width: data.readUInt16BE(at + 7) + 1, height: data.readUInt16BE(at + 9) + 1 };
  }
  return DVB_CANVAS;
}
