import { answerPage } from './port.ts'
import { TaskError } from './task-error.ts'
import { createTaskHost, type HostDeps } from './task-host.ts'

/** Runs these tasks in this worker. */
export function serveTasks<Held>(deps: Pick<HostDeps<Held>, 'tasks' | 'hold'>): void {
  // A message channel provides a turn of the event loop, because timers are delayed to 4 ms.
  const { port1: here, port2: there } = new MessageChannel()
  const waiting: (() => void)[] = []
  here.onmessage = () => waiting.shift()?.()
  const nextTurn = () =>
    new Promise<void>((resolve) => {
      waiting.push(resolve)
      there.postMessage(undefined)
    })
  answerPage(createTaskHost({ ...deps, nextTurn, now: () => performance.now() }), [TaskError])
}
