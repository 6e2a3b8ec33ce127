// The part of Node's module that tests use of workerd's (nodejs_compat): the Worker itself is compiled without Node's
// types.
declare module "node:async_hooks" {
  export class AsyncLocalStorage<Store> {
    run<Result>(store: Store, call: () => Result): Result;
    getStore(): Store | undefined;
  }
}
