/**
 * Time limit of waits for a condition, an element or a player. Only a test that hangs waits so long: a busy machine
 * takes a minute for what takes a second, and jobs on the shared system wait for jobs of other files.
 */
export const PATIENCE_MS = 240_000;
