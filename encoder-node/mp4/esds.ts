// The descriptors that contain a decoder's configuration in MP4 (ISO/IEC 14496-1 §7.2.6).

const ES = 3;
const DECODER_CONFIG = 4;
const DECODER_SPECIFIC = 5;
/** Object type, stream type, buffer size and two bitrates. */
const DECODER_CONFIG_BYTES = 13;
/** ISO/IEC 14496-3: the AAC family. */
const MPEG4_AUDIO = 0x40;

/**
 * Returns the DecoderSpecificInfo in the body of an `esds` box: for AAC, its AudioSpecificConfig. Throws for other
 * codecs.
 */
export function decoderConfig(esds: Buffer): Buffer {
  const stream = descriptor(esds.subarray(4), ES);
  const decoder = descriptor(stream.subarray(streamFieldBytes(stream)), DECODER_CONFIG);
  if (decoder.readUInt8(0) !== MPEG4_AUDIO) throw new Error(`Unsupported audio object type ${decoder.readUInt8(0)}`);
  return descriptor(decoder.subarray(DECODER_CONFIG_BYTES), DECODER_SPECIFIC);
}

/** Returns the body of the descriptor at the start of some bytes. Its size is coded in groups of seven bits. */
function descriptor(bytes: Buffer, tag: number): Buffer {
  if (bytes.readUInt8(0) !== tag) throw new Error(`MP4 descriptor ${bytes.readUInt8(0)} instead of ${tag}`);
  let sizeBytes = 0;
  let at = 1;
  for (let more = true; more; at += 1) {
    const byte = bytes.readUInt8(at);
    sizeBytes = sizeBytes * 128 + (byte & 0x7f);
    more = byte > 0x7f;
  }
  return bytes.subarray(at, at + sizeBytes);
}

/** Bytes of an ES_Descriptor before its first descriptor: an id, flags, and the optional fields. */
function streamFieldBytes(stream: Buffer): number {
  const flags = stream.readUInt8(2);
  const dependsOn = flags & 0x80 ? 2 : 0;
  const url = flags & 0x40 ? 1 + stream.readUInt8(3 + dependsOn) : 0;
  return 3 + dependsOn + url + (flags & 0x20 ? 2 : 0);
}
