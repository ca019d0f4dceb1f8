/** A runtime for tests of values alone: nothing is charged, nothing can be called. */
import type { Runtime } from './values.ts'

const absent = (): never => {
  throw new Error('there is no template here')
}

export const testRuntime: Runtime = {
  step: () => {},
  allocate: () => {},
  autoescape: false,
  clock: () => new Date(0),
  call: absent,
  filter: absent,
  test: absent,
}
