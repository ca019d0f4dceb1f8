/** Workers for tests: they run in this thread, copy their messages and deliver them asynchronously. */

import { TaskError } from '#lib/browser/workers/task-error.ts'
import { createTaskHost, type HostDeps, type StepProgress, type TaskRequest } from '#lib/browser/workers/task-host.ts'
import {
  type Answer,
  createAnswers,
  type ErrorClasses,
  type FromWorker,
  type ToWorker,
} from '#lib/tasks/worker-protocol.ts'

/** Returns a worker. `startHost` returns the function that answers its requests, which `copy` copies. */
export function fakeWorker<Request, Progress>(
  startHost: (nextTurn: () => Promise<void>) => Answer<Request, unknown, Progress>,
  classes: ErrorClasses,
  copy: (message: ToWorker<Request>, options: StructuredSerializeOptions) => ToWorker<Request> = structuredClone,
) {
  let isAlive = true
  const worker = {
    onmessage: null as ((event: MessageEvent) => void) | null,
    onerror: null as ((event: ErrorEvent) => void) | null,
    /** Requests and aborts that the worker received. */
    got: [] as (Request | { readonly kind: 'abort'; readonly id: number })[],
    /** Messages that it sent, with the transferred buffers. */
    posted: [] as { readonly message: FromWorker; readonly transfer: readonly ArrayBuffer[] }[],
    get isAlive() {
      return isAlive
    },
    postMessage(message: ToWorker<Request>, transfer?: readonly ArrayBuffer[]) {
      const data = copy(message, { transfer: [...(transfer ?? [])] })
      worker.got.push(data.kind === 'request' ? data.request : data)
      setImmediate(() => isAlive && receive(data))
    },
    terminate() {
      isAlive = false
    },
  }
  const nextTurn = () => new Promise<void>((resolve) => setImmediate(() => isAlive && resolve()))
  const receive = createAnswers(startHost(nextTurn), classes, (message, transfer) => {
    const data = structuredClone(message, { transfer: [...transfer] })
    worker.posted.push({ message, transfer })
    setImmediate(() => isAlive && worker.onmessage?.({ data } as MessageEvent))
  })
  return worker
}

/** Returns a worker that runs these tasks. */
export const inThisThread = <Held>(deps: Pick<HostDeps<Held>, 'tasks' | 'hold'>) =>
  fakeWorker((nextTurn) => createTaskHost({ ...deps, nextTurn, now: () => performance.now() }), [TaskError])

/** Returns a worker whose tasks begin a step and never end it, as a regular expression without end does. */
export const stuckWorker = () =>
  fakeWorker<TaskRequest, StepProgress>(
    () =>
      ({ kind }, { report }) => {
        if (kind !== 'run') return
        report('begins')
        return new Promise(() => {})
      },
    [TaskError],
  )
