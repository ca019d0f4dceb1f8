/** The worker of the template lab: templates are programs, and encoding is work; neither may hold up the page. */
import { tasks } from '#lib/lab/tasks.ts'
import { loadTokenizerFiles, tokenizerFilesSchema } from '#lib/tokenizer-files/tokenizer-files.ts'
import { createTaskHost, type FromWorker, type ToWorker } from './task-host.ts'

const port = self as unknown as {
  postMessage(message: FromWorker): void
  onmessage: (event: MessageEvent<ToWorker>) => void
}

// A turn through a channel: timers are held back to 4 ms.
const { port1: here, port2: there } = new MessageChannel()
const waiting: (() => void)[] = []
here.onmessage = () => waiting.shift()?.()

const receive = createTaskHost({
  tasks,
  loadTokenizer: (name, files) =>
    loadTokenizerFiles(name, tokenizerFilesSchema.parse(JSON.parse(new TextDecoder().decode(files)))),
  post: (message) => port.postMessage(message),
  nextTurn: () =>
    new Promise((resolve) => {
      waiting.push(resolve)
      there.postMessage(undefined)
    }),
  now: () => performance.now(),
})
port.onmessage = ({ data }) => receive(data)
