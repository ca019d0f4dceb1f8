/** The two ends of a worker of a page as a transport of the worker protocol. */
import {
  type Answer,
  createAnswers,
  type ErrorClasses,
  type StartWorker,
  type ToWorker,
} from '#lib/tasks/worker-protocol.ts'

/** The part of a worker that the page uses. */
export type PageWorker = Pick<Worker, 'postMessage' | 'terminate' | 'onmessage' | 'onerror'>

/** Returns how a worker starts on the page. The message of a lost worker's error is empty if the browser gives no reason. */
export const startPageWorker =
  (createWorker: () => PageWorker): StartWorker =>
  (receive, onGone) => {
    const worker = createWorker()
    worker.onmessage = ({ data }) => receive(data)
    worker.onerror = (event) => {
      event.preventDefault?.()
      worker.terminate()
      onGone(new Error(event.message))
    }
    return { post: (message, transfer) => worker.postMessage(message, [...transfer]), end: () => worker.terminate() }
  }

/** Answers the page's requests in this worker. */
export function answerPage<Request, Progress>(answer: Answer<Request, unknown, Progress>, classes: ErrorClasses): void {
  const port = self as unknown as {
    postMessage(message: unknown, transfer: readonly ArrayBuffer[]): void
    onmessage: (event: MessageEvent<ToWorker<Request>>) => void
  }
  const receive = createAnswers(answer, classes, (message, transfer) => port.postMessage(message, transfer))
  port.onmessage = ({ data }) => receive(data)
}
