// How people run Copra's command line, where this service is installed.

const named = globalThis.document?.querySelector<HTMLMetaElement>('meta[name="copra-command"]')?.content;

/** `npm run copra --` in a checkout. The page of the package has `npx --no copra` (local/package/build-package.ts). */
export const COMMAND = named ?? "npm run copra --";
export const IS_PACKAGE = COMMAND === "npx --no copra";
