// Types for the parts of mpd-parser that tests use. The package has no types.
declare module "mpd-parser" {
  type Playlist = {
    readonly attributes: Readonly<Record<string, unknown>>;
    readonly resolvedUri: string;
    readonly segments: readonly { readonly resolvedUri: string; readonly presentationTime: number }[];
  };
  type Groups = Readonly<Record<string, Readonly<Record<string, { readonly playlists: readonly Playlist[] }>>>>;
  export function parse(
    text: string,
    options: { readonly manifestUri: string },
  ): {
    readonly duration: number;
    readonly playlists: readonly Playlist[];
    readonly mediaGroups: Readonly<Record<"AUDIO" | "SUBTITLES", Groups>>;
  };
}
