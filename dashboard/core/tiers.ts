/** Tiers of video size, by which usage is counted; docs/usage.md has their limits. */
export const TIERS = ["audio", "sd", "hd", "uhd"] as const;
export type Tier = (typeof TIERS)[number];

/** Names of the tiers for people. */
export const TIER_NAMES = { audio: "Audio", sd: "SD", hd: "HD", uhd: "UHD" } as const satisfies Record<Tier, string>;
