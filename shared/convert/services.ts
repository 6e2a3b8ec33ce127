// The services whose requests can be converted. Small, so that the table of commands can have them.

export const OLD_SERVICES = ["coconut", "coconut-v1", "zencoder", "elastic-transcoder", "mediaconvert"] as const;
export type OldService = (typeof OLD_SERVICES)[number];

export const SERVICE_NAMES: Readonly<Record<OldService, string>> = {
  coconut: "Coconut, API v2",
  "coconut-v1": "Coconut, API v1",
  zencoder: "Zencoder",
  "elastic-transcoder": "Elastic Transcoder",
  mediaconvert: "MediaConvert",
};
