/** Checks the guard on this machine with probes, before the first code of a model runs. */
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import os from 'node:os'
import path from 'node:path'
import { type Interpreter, InterpreterError } from './interpreter.ts'
import { type Probe, probes, type Trap } from './probes.ts'
import { resultText } from './result.ts'

/**
 * Returns the names of the probes that escape, with what they read. Rejects with InterpreterError if no interpreter
 * starts.
 */
export async function guardHoles(
  start: () => Promise<Interpreter>,
  tried: readonly Probe[] = probes.filter(({ atStart }) => atStart),
): Promise<readonly string[]> {
  const trap = await setTrap()
  let interpreter: Interpreter | undefined
  try {
    const holes: string[] = []
    for (const { name, code } of tried) {
      interpreter = interpreter?.isOver() === false ? interpreter : await start()
      const got = trap.caught(await runCode(interpreter, code(trap)))
      if (got !== undefined) holes.push(`${name}: ${got}`)
    }
    return holes
  } finally {
    interpreter?.end()
    trap.close()
  }
}

interface SetTrap extends Trap {
  /** Returns what a probe with this output has reached, and resets the trap; undefined if nothing. */
  caught(output: string): string | undefined
  close(): void
}

/** Creates a secret file, a marker path and a server on 127.0.0.1 that no probe should reach. The caller must close the trap. */
export async function setTrap(): Promise<SetTrap> {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'rollscope-trap-'))
  const secretFile = path.join(folder, 'secret')
  const markerFile = path.join(folder, 'marker')
  const secret = crypto.randomUUID()
  writeFileSync(secretFile, secret)
  // This file reveals probes that list the folder.
  writeFileSync(path.join(folder, secret), '')
  let visits = 0
  const server = createServer((_, response) => {
    visits++
    response.end(secret)
  })
  server.on('connection', () => visits++)
  server.unref()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    secretFile,
    markerFile,
    port,
    url: `http://127.0.0.1:${port}`,
    caught(text) {
      if (text.includes(secret)) return 'Python code read a file or a folder of the host'
      if (process.env.PATH !== undefined && process.env.PATH.length > 12 && text.includes(process.env.PATH))
        return 'Python code read the environment'
      if (existsSync(markerFile)) {
        rmSync(markerFile)
        return 'Python code wrote a file or ran a command on the host'
      }
      if (visits > 0) {
        visits = 0
        return 'Python code reached the network'
      }
      return undefined
    },
    close() {
      server.closeAllConnections()
      server.close()
      // An escaped process may still write to the folder.
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
    },
  }
}

async function runCode(interpreter: Interpreter, code: string): Promise<string> {
  try {
    return resultText(await interpreter.run(code))
  } catch (error) {
    if (error instanceof InterpreterError) return ''
    throw error
  }
}
