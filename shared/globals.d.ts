// Web globals of Node and Workers that shared/ uses. Declared here because its tsconfig loads no platform types. The
// list is minimal, so that shared/ uses no other platform features by accident.

interface URL {
  readonly href: string;
  readonly protocol: string;
  readonly hostname: string;
  readonly origin: string;
  readonly pathname: string;
  readonly search: string;
  readonly hash: string;
  readonly username: string;
  readonly password: string;
}

declare var URL: { new (url: string): URL; canParse(url: string): boolean };

declare var TextEncoder: { new (): { encode(text: string): Uint8Array } };
