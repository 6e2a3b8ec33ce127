// How people run Copra's command line, where this service is installed.

const named = globalThis.document?.querySelector<HTMLMetaElement>('meta[name="copra-command"]')?.content;

/** `npm run copra --` in a checkout. The build of the npm package writes `npx copra` into the page (build-package.ts). */
export const COMMAND = named ?? "npm run copra --";
export const IS_PACKAGE = COMMAND === "npx copra";
