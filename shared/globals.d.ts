// The few web globals that both Node and Workers have and that shared/ uses. Declared here because its tsconfig loads
// no platform's types; only what is used, so that nothing else creeps in.

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

declare var URL: {
  new (url: string): URL;
  canParse(url: string): boolean;
};

declare var TextEncoder: {
  new (): { encode(text: string): Uint8Array };
};
