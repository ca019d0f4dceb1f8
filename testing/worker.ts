/** Workers of tests: in this thread, their messages copied, and later. */
import { createTaskHost, type FromWorker, type HostDeps, type ToWorker } from '#lib/browser/workers/task-host.ts'

/** `startHost` gives what is to be done with each message from the page. */
export function fakeWorker(
  startHost: (post: (message: FromWorker) => void, nextTurn: () => Promise<void>) => (message: ToWorker) => unknown,
) {
  let isAlive = true
  const worker = {
    onmessage: null as ((event: MessageEvent) => void) | null,
    onerror: null as ((event: ErrorEvent) => void) | null,
    got: [] as ToWorker[],
    get isAlive() {
      return isAlive
    },
    postMessage(message: ToWorker, transfer?: readonly ArrayBuffer[]) {
      const data = structuredClone(message, { transfer: [...(transfer ?? [])] })
      worker.got.push(data)
      setImmediate(() => isAlive && receive(data))
    },
    terminate() {
      isAlive = false
    },
  }
  const receive = startHost(
    (message) => {
      const data = structuredClone(message)
      setImmediate(() => isAlive && worker.onmessage?.({ data } as MessageEvent))
    },
    () => new Promise((resolve) => setImmediate(() => isAlive && resolve())),
  )
  return worker
}

/** One that runs these tasks. */
export const inThisThread = <Held>(deps: Pick<HostDeps<Held>, 'tasks' | 'hold'>) =>
  fakeWorker((post, nextTurn) => createTaskHost({ ...deps, post, nextTurn, now: () => performance.now() }))
