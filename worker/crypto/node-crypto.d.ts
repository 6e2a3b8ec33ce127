// The parts of Node's module that the Worker uses (nodejs_compat); it is compiled without Node's types. Web Crypto
// has no synchronous HMAC, which the hub needs between two frames of a socket.
declare module "node:crypto" {
  interface Hmac {
    update(data: string | Uint8Array): Hmac;
    digest(): Uint8Array;
    digest(encoding: "hex"): string;
  }
  export class X509Certificate {
    constructor(pem: string);
    readonly validFrom: string;
    readonly validTo: string;
    readonly publicKey: { export(options: { type: "spki"; format: "der" }): Uint8Array<ArrayBuffer> };
  }
  export function createHmac(algorithm: "sha256", key: Uint8Array): Hmac;
}
