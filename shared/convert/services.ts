// The services whose requests can be converted. Small, so that the table of commands can have them.

export const OLD_SERVICES = ["coconut", "zencoder", "mediaconvert"] as const;
export type OldService = (typeof OLD_SERVICES)[number];

export const SERVICE_NAMES: Readonly<Record<OldService, string>> = {
  coconut: "Coconut",
  zencoder: "Zencoder",
  mediaconvert: "MediaConvert",
};
