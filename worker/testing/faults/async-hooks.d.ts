// The part of Node's module that tests use in workerd (nodejs_compat). The Worker itself is compiled without Node's
// types.
declare module "node:async_hooks" {
  export class AsyncLocalStorage<Store> {
    run<Result>(store: Store, call: () => Result): Result;
    getStore(): Store | undefined;
  }
}
