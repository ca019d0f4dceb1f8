/** Workers for tests: they run in this thread, copy their messages and deliver them asynchronously. */
import { createTaskHost, type FromWorker, type HostDeps, type ToWorker } from '#lib/browser/workers/task-host.ts'

/** Returns a worker. `startHost` returns the handler of messages from the page. */
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

/** Returns a worker that runs these tasks. */
export const inThisThread = <Held>(deps: Pick<HostDeps<Held>, 'tasks' | 'hold'>) =>
  fakeWorker((post, nextTurn) => createTaskHost({ ...deps, post, nextTurn, now: () => performance.now() }))
