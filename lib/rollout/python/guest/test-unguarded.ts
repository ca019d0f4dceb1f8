/** An unmodified Pyodide in Node without limits. The probes run in it to show that they would escape. */
import { createInterface } from 'node:readline'
import { setTimeout as wait } from 'node:timers/promises'
import { loadPyodide } from 'pyodide'

// An action of a probe may fail only after it was started.
process.on('uncaughtException', () => {})
const pyodide = await loadPyodide()
let printed = ''
const add = (text: string) => {
  printed += `${text}\n`
}
pyodide.setStdout({ batched: add })
pyodide.setStderr({ batched: add })
for await (const line of createInterface(process.stdin)) {
  printed = ''
  try {
    await pyodide.runPythonAsync(JSON.parse(line) as string)
  } catch (error) {
    add(String(error))
  }
  // Waits for actions that were started and not awaited.
  await wait(50)
  process.stdout.write(`${JSON.stringify(printed)}\n`)
}
