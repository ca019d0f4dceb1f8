/** Collects the garbage of this thread. */
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** Returns a function that collects the garbage of this thread, also if Node was started without `--expose-gc`. */
export function garbageCollection(): () => void {
  setFlagsFromString('--expose-gc')
  return runInNewContext('gc') as () => void
}
