// Services whose requests can be converted. A small file, because the table of commands imports it.

export const OLD_SERVICES = ["coconut", "zencoder", "mediaconvert"] as const;
export type OldService = (typeof OLD_SERVICES)[number];

export const SERVICE_NAMES: Readonly<Record<OldService, string>> = {
  coconut: "Coconut",
  zencoder: "Zencoder",
  mediaconvert: "MediaConvert",
};
