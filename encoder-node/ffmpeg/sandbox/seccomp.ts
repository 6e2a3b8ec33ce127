// A seccomp(2) filter for the tool of a run. It denies system calls that no run needs and through which unprivileged
// processes reached flaws of the kernel. Pure.

type Machine = {
  /** AUDIT_ARCH of audit(7). */
  readonly audit: number;
  /** Numbers of the denied calls. Numbers above 400 are the same on all machines. */
  readonly denied: readonly number[];
  readonly clone: number;
};

/**
 * mount_setattr, pidfd_getfd, io_uring_*, and the newer calls for mounts: open_tree, move_mount, fsopen, fsconfig,
 * fsmount, fspick.
 */
const DENIED = [442, 438, 425, 426, 427, 428, 429, 430, 431, 432, 433];
/**
 * The flags of clone3 are in memory, where a filter cannot read them. Libraries use `clone` when clone3 does not exist.
 */
const CLONE3 = 435;

/**
 * In this order: mount, umount2, pivot_root, chroot, unshare, setns; ptrace, process_vm_readv, process_vm_writev, kcmp;
 * bpf, perf_event_open, userfaultfd; add_key, request_key, keyctl; name_to_handle_at, open_by_handle_at; init_module,
 * finit_module, kexec_load, kexec_file_load.
 */
const MACHINES: Readonly<Partial<Record<NodeJS.Architecture, Machine>>> = {
  x64: {
    audit: 0xc000003e,
    denied: [
      ...[165, 166, 155, 161, 272, 308, 101, 310, 311, 312, 321, 298, 323, 248, 249, 250, 303, 304],
      ...[175, 313, 246, 320],
    ],
    clone: 56,
  },
  arm64: {
    audit: 0xc00000b7,
    denied: [
      ...[40, 39, 41, 51, 97, 268, 117, 270, 271, 272, 280, 241, 282, 217, 218, 219, 264, 265],
      ...[105, 273, 104, 294],
    ],
    clone: 220,
  },
};

/** struct seccomp_data: the number of the call, the machine, and the lower half of the first argument. */
const NUMBER = 0;
const AUDIT = 4;
const FIRST_ARGUMENT = 16;
const CLONE_NEWUSER = 0x10000000;
/** Calls of x32 have this bit, and other numbers. */
const X32_BIT = 0x40000000;

/** Classic BPF (linux/filter.h): load a word, compare it, return. */
const LOAD = 0x20;
const IF_EQUAL = 0x15;
const IF_AT_LEAST = 0x35;
const IF_ANY_BIT = 0x45;
const RETURN = 0x06;
const ALLOW = 0x7fff0000;
const errno = (number: number): number => 0x00050000 | number;
const [EPERM, ENOSYS] = [1, 38];

type Step = readonly [code: number, value: number, ifTrue?: number, ifFalse?: number];
const when = (test: number, value: number, answer: number): Step[] => [
  [test, value, 0, 1],
  [RETURN, answer],
];

function filterSteps({ audit, denied, clone }: Machine): Step[] {
  return [
    [LOAD, AUDIT],
    [IF_EQUAL, audit, 1, 0],
    [RETURN, errno(EPERM)],
    [LOAD, NUMBER],
    ...when(IF_AT_LEAST, X32_BIT, errno(ENOSYS)),
    ...[...denied, ...DENIED].flatMap((number) => when(IF_EQUAL, number, errno(EPERM))),
    ...when(IF_EQUAL, CLONE3, errno(ENOSYS)),
    [IF_EQUAL, clone, 0, 3],
    [LOAD, FIRST_ARGUMENT],
    ...when(IF_ANY_BIT, CLONE_NEWUSER, errno(EPERM)),
    [RETURN, ALLOW],
  ];
}

/** struct sock_filter. */
function encoded(steps: readonly Step[]): Buffer {
  const bytes = Buffer.alloc(steps.length * 8);
  for (const [at, [code, value, ifTrue = 0, ifFalse = 0]] of steps.entries()) {
    bytes.writeUInt16LE(code, at * 8);
    bytes.writeUInt8(ifTrue, at * 8 + 2);
    bytes.writeUInt8(ifFalse, at * 8 + 3);
    bytes.writeUInt32LE(value >>> 0, at * 8 + 4);
  }
  return bytes;
}

/** The program of the filter in hexadecimal digits; null on machines with unknown numbers. It needs `no_new_privs`. */
export function seccompFilter(machine: NodeJS.Architecture): string | null {
  const numbers = MACHINES[machine];
  return numbers ? encoded(filterSteps(numbers)).toString("hex") : null;
}
