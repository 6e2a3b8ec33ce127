// Finds the PES packets in the file of a single-track MPEG-TS segment.
import { visitStream } from "./stream-packets.ts";
import { type ElementaryStream, payloadOf, pesStart, unwrapped } from "./ts-packets.ts";

/** A PES packet. Its transport packets are in [`offset`, `endOffset`) of the file; tables may be among them. */
export type PesSpan = {
  /** Presentation time and decoding time of its first frame, in ticks. */
  readonly shownAt: number;
  readonly decodedAt: number;
  readonly path: string;
  readonly offset: number;
  readonly endOffset: number;
};

export type PesIndex = { readonly stream: ElementaryStream; readonly spans: readonly PesSpan[] };

/**
 * `near`: a time close to the first frame's time, in ticks. Throws when the file is not a segment of a single track.
 */
export async function indexPes(path: string, near: number): Promise<PesIndex> {
  const starts: { shownAt: number; decodedAt: number; offset: number }[] = [];
  const { stream, sizeBytes } = await visitStream(path, ({ packet, offset, isStart }) => {
    if (!isStart) return;
    const { shownAt, decodedAt } = pesStart(payloadOf(packet));
    starts.push({ shownAt: unwrapped(shownAt, near), decodedAt: unwrapped(decodedAt, near), offset });
  });
  const spans = starts.map((start, at) => ({ ...start, path, endOffset: starts[at + 1]?.offset ?? sizeBytes }));
  return { stream, spans };
}
