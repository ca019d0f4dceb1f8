/** Pyodide as it comes, in a Node without limits: what the probes are tried against, to see that they would get out. */
import { createInterface } from 'node:readline'
import { setTimeout as wait } from 'node:timers/promises'
import { loadPyodide } from 'pyodide'

// What a probe has begun may fail later than it is tried.
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
  // What was begun and not awaited.
  await wait(50)
  process.stdout.write(`${JSON.stringify(printed)}\n`)
}
