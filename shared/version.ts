// The version of this release: that of package.json, which the Worker cannot read.
export const VERSION = "0.2.0";
