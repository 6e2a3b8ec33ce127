// Version of this release. It equals the version in package.json, which the Worker cannot read.
export const VERSION = "0.3.0";

/** The User-Agent of requests of the Worker and of the command line. */
export const USER_AGENT = `copra/${VERSION}`;
export const NODE_USER_AGENT = `copra-node/${VERSION}`;
