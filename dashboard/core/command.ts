// How people run Copra's command line, where this service is installed.

const named = globalThis.document?.querySelector<HTMLMetaElement>('meta[name="copra-command"]')?.content;

/** `npm run copra --` in a checkout. local/package/build-package.ts writes `npx --no copra` into the page of the package. */
export const COMMAND = named ?? "npm run copra --";
export const IS_PACKAGE = COMMAND === "npx --no copra";
