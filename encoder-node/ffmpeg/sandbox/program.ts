// The program that isolates a run of a tool and then becomes the tool: Perl, an essential package of Debian, makes the
// system calls. One program instead of a chain of ten of util-linux halves the CPU time of a short run. Pure.
import { type HardLimits, type RunLimits, resourceLimits } from "../limits.ts";

const MACHINES = ["x64", "arm64"];
/** Numbers of system calls on each of the machines. */
const CALLS: Readonly<Record<string, readonly [x64: number, arm64: number]>> = {
  mount: [165, 40],
  statfs: [137, 43],
  unshare: [272, 97],
  setns: [308, 268],
  prctl: [157, 167],
  capset: [126, 91],
  prlimit64: [302, 261],
  setgroups: [116, 159],
  setresgid: [119, 149],
  setresuid: [117, 147],
};

/** True if the program works on this machine: Copra knows the numbers of its system calls. */
export const isKnownMachine = (machine: string): boolean => MACHINES.includes(machine);

/** Exit code when the setup fails before the tool starts. The message is in stderr. */
const SETUP_FAILED = 125;

/** Matches a line of stderr in which the program reports that it failed or could not start the tool. */
export const SANDBOX_FAILURE = /^sandbox: /m;

/**
 * Functions of the program. `syscall` may write to its arguments, so they are copies. Constants are from the headers of
 * Linux: CLONE_NEWUSER; PR_SET_PDEATHSIG, PR_CAPBSET_DROP, PR_SET_NO_NEW_PRIVS, PR_SET_SECUREBITS, PR_SET_SECCOMP;
 * MS_BIND, MS_REMOUNT; SIOCSIFFLAGS with IFF_UP and IFF_RUNNING.
 */
const FUNCTIONS = `
sub fail { print STDERR "sandbox: @_\\n"; exit ${SETUP_FAILED} }
sub call { my ($name, @rest) = @_; syscall($n{$name}, @rest) == -1 and fail("$name: $!") }
sub note { my ($path, $text) = @_; open my $file, ">", $path or return 0; print $file $text; close $file }
sub own_user {
  my ($user, $group) = ($>, $) + 0);
  call("unshare", 0x10000000);
  note("/proc/self/setgroups", "deny");
  note("/proc/self/uid_map", "0 $user 1") && note("/proc/self/gid_map", "0 $group 1") or fail("uid_map: $!");
}
# Opens all files first: from within another user namespace, a process may not.
sub enter {
  my @files = map { open my $file, "<", $_ or fail("$_: $!"); $file } @_;
  call("setns", fileno $_, 0) for @files;
}
sub end_with_parent { call("prctl", 1, 9, 0, 0, 0) }
sub loopback_up {
  my $request = pack("a16sx22", "lo", 65);
  socket(my $socket, 2, 2, 0) or fail("loopback: $!");
  ioctl($socket, 0x8914, $request) or fail("loopback: $!");
}
sub folder { my $path = $root; for (split m{/+}, shift) { $path .= "/$_"; -d $path or mkdir $path, 0755 or fail("$path: $!") } }
sub mount_at {
  my ($from, $path, $flags, $recursive) = @_;
  my ($to, $stats) = ("$root$path", "\\0" x 120);
  call("mount", $from, $to, 0, 4096 | $recursive, 0);
  return unless $flags;
  # A user namespace cannot clear the flags of mounts that it inherits: f_flags of statfs(2) has them.
  syscall($n{statfs}, my $target = $to, $stats) == 0 or fail("statfs $to: $!");
  call("mount", "none", $to, 0, 32 | 4096 | $flags | (14 & unpack "x80Q", $stats), 0);
}
sub require_inode {
  my ($path, $inode) = @_;
  my ($device, $number) = stat "$root$path";
  "$device:$number" eq $inode or fail("the source was replaced");
}
# The first number that the kernel does not know is EINVAL.
sub drop_bounding {
  for (0 .. 63) { if (syscall($n{prctl}, 24, $_, 0, 0, 0) == -1) { $! == 22 ? last : fail("capabilities: $!") } }
}
sub drop_privileges {
  call("prctl", 38, 1, 0, 0, 0);
  call("capset", pack("LL", 0x20080522, 0), pack("L6", (0) x 6));
}
sub limit { my ($resource, $soft, $hard) = @_; call("prlimit64", 0, $resource, pack("QQ", $soft, $hard), 0) }
sub filter { my $steps = pack "H*", shift; call("prctl", 22, 2, pack("Sx![P]P", length($steps) / 8, $steps), 0, 0) }
sub branch { fork // fail("fork: $!") }
sub end_of { waitpid shift, 0; my $end = $?; $end & 127 ? 128 + ($end & 127) : $end >> 8 }
sub start { exec { $ARGV[0] } @ARGV or fail("$ARGV[0]: $!") }
`;

/** A statement of the program: a function with its arguments. */
export type Step = string;

/** A step that calls a function of the program with texts and numbers. */
export const step = (name: string, ...values: readonly (string | number)[]): Step =>
  `${name}(${values.map((value) => (typeof value === "number" ? value : quoted(value))).join(", ")});`;

/** A text in the program. */
export const quoted = (text: string): string => `'${text.replace(/[\\']/g, "\\$&")}'`;

/** The command line that runs `steps` and then the command that the last step starts. `rootFolder`: of `mount_at`. */
export function isolated(steps: readonly Step[], command: readonly string[], rootFolder = ""): string[] {
  const machine = MACHINES.indexOf(process.arch);
  const numbers = Object.entries(CALLS).map(([name, of]) => `${name} => ${of[machine]}`);
  const program = [`my %n = (${numbers.join(", ")}); my $root = ${quoted(rootFolder)};`, FUNCTIONS, ...steps];
  return ["perl", "-e", program.join("\n"), "--", ...command];
}

/** Steps that limit the run's resources. */
export const limitSteps = (limits: RunLimits, hard: HardLimits): Step[] =>
  resourceLimits(limits, hard).map((values) => step("limit", ...values));
