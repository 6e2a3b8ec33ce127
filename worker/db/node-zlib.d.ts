// The functions of Node's module that the Worker uses (nodejs_compat); it is compiled without Node's types. The Web's
// CompressionStream takes no dictionary, without which a short text hardly gets shorter.
declare module "node:zlib" {
  type Options = { dictionary: Uint8Array };
  export function deflateRawSync(
    text: string,
    options?: Options,
  ): Uint8Array & { toString(encoding: "base64"): string };
  export function inflateRawSync(packed: Uint8Array, options?: Options): Uint8Array;
}
