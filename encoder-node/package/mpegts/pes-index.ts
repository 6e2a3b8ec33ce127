// Finds the PES packets of a one-track MPEG-TS segment in its file.
import { visitStream } from "./stream-packets.ts";
import { type ElementaryStream, payloadOf, pesStart, unwrapped } from "./ts-packets.ts";

/** A PES packet. Its transport packets are in [`offset`, `endOffset`) of the file; tables may be among them. */
export type PesSpan = {
  /** When its first frame is shown and decoded, in ticks. */
  readonly shownAt: number;
  readonly decodedAt: number;
  readonly path: string;
  readonly offset: number;
  readonly endOffset: number;
};

export type PesIndex = { readonly stream: ElementaryStream; readonly spans: readonly PesSpan[] };

/** `near`: a time close to that of the first frame, in ticks. Throws when the file is not a segment of one track. */
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
