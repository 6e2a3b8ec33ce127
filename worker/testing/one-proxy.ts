// Works around a bug of @cloudflare/vitest-pool-workers 0.23, which @cloudflare/vitest-plugin 1.5 does not have. The
// classes that stand for the Worker and its Durable Objects wrap their prototype in a further Proxy whenever one of
// them is constructed, so that each request passes as many proxies as there were requests before it: the 600th of a
// file took 0.29 s, with this 3 ms (2026-11-22). Each of their prototypes is wrapped once.

/** The name of the pool's classes, in createProxyPrototypeClass. */
const CLASS_NAME = "Class";

const wrapped = new WeakSet<object>();

globalThis.Proxy = new Proxy(Proxy, {
  construct(NativeProxy, [target, handler]) {
    if (wrapped.has(target)) return target;
    const proxy: object = new NativeProxy(target, handler);
    if (Object.hasOwn(target, "constructor") && target.constructor.name === CLASS_NAME) wrapped.add(proxy);
    return proxy;
  },
});

export {};
