/** A runtime for tests of values without a template. */
import type { Runtime } from './values.ts'

const absent = (): never => {
  throw new Error('there is no template here')
}

/** A runtime that charges nothing and in which nothing can be called. */
export const testRuntime: Runtime = {
  step: () => {},
  allocate: () => {},
  autoescape: false,
  clock: () => new Date(0),
  call: absent,
  filter: absent,
  test: absent,
}
