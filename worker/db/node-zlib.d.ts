// The functions of Node's module that the Worker uses (nodejs_compat). The Worker is compiled without Node's types.
// CompressionStream takes no dictionary, and without a dictionary short texts hardly shrink.
declare module "node:zlib" {
  type Options = { dictionary: Uint8Array };
  export function deflateRawSync(
    text: string,
    options?: Options,
  ): Uint8Array & { toString(encoding: "base64"): string };
  export function inflateRawSync(packed: Uint8Array, options?: Options): Uint8Array;
}
