/** A zod type without the index signatures of loose objects, deeply read-only. */
export type Plain<T> = T extends readonly (infer E)[]
  ? readonly Plain<E>[]
  : T extends object
    ? keyof Known<T> extends never
      ? { readonly [K in keyof T]: Plain<T[K]> }
      : Known<T>
    : T
type Known<T> = { readonly [K in keyof T as string extends K ? never : K]: Plain<T[K]> }
