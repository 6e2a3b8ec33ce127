// The renditions of an HTTP stream when the client names none (api-v2 §5).

/** From the smallest to the largest, sound alone first. Those larger than the source are for the planner to leave out. */
export const DEFAULT_LADDER: readonly string[] = [
  "mp4:x:64k",
  "mp4:240p::quality=4,maxrate=400k,vprofile=high",
  "mp4:360p::quality=4,maxrate=1000k,vprofile=high",
  "mp4:480p::quality=4,maxrate=1500k,vprofile=high",
  "mp4:720p::quality=4,maxrate=2000k,vprofile=high",
  "mp4:1080p::quality=4,maxrate=4000k,vprofile=high",
  "mp4:2160p::quality=4,maxrate=8000k,vprofile=high",
];
