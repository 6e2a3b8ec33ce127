// Closed captions in encoded video. Not every encoder copies them, and not every version of one.
import { openFile } from "../run-files/open-file.ts";
import type { ReadySegment } from "./track-reader.ts";

/** The start of a message with captions in H.264 and HEVC: ITU-T T.35, country and provider, "GA94", type 3 (A/53). */
const MESSAGE = Buffer.from("b500314741393403", "hex");

/** Whether frames of a segment have closed captions. Packets of MPEG-TS may part some of the messages, but not all. */
export async function holdsCaptions({ path, offset, segment }: ReadySegment): Promise<boolean> {
  const file = await openFile(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(segment.sizeBytes), 0, segment.sizeBytes, offset);
    return buffer.subarray(0, bytesRead).includes(MESSAGE);
  } finally {
    await file.close();
  }
}
