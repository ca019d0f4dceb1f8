import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import { freePort } from '../../../e2e/support/free-port.ts'

interface BarePage {
  /** Address of the page. */
  readonly base: string
  close(): Promise<void>
}

const NEXT = path.join('node_modules', 'next', 'dist', 'bin', 'next')
const FOLDER = path.join(import.meta.dirname, 'next')
/** The settings import those of the application, which Next's own loader of TypeScript does not find. */
const READS_TYPESCRIPT = '--experimental-next-config-strip-types'
const environment = { ...process.env, NEXT_TELEMETRY_DISABLED: '1' }

/** Builds a page of Next with one button, with the settings of the application, and serves it. */
export async function serveBareNext(): Promise<BarePage> {
  const { status } = spawnSync(process.execPath, [NEXT, 'build', READS_TYPESCRIPT, FOLDER], {
    env: environment,
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  if (status !== 0) throw new Error('the bare page cannot be built')
  const port = await freePort()
  const child = spawn(
    process.execPath,
    [NEXT, 'start', READS_TYPESCRIPT, FOLDER, '-p', String(port), '-H', '127.0.0.1'],
    {
      env: environment,
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  )
  await new Promise<void>((resolve, reject) => {
    child.stdout.on('data', (chunk) => `${chunk}`.includes('Ready') && resolve())
    child.once('exit', () => reject(new Error('the bare page is served nowhere')))
  })
  return {
    base: `http://127.0.0.1:${port}/`,
    async close() {
      const ended = once(child, 'exit')
      child.kill()
      await ended
    },
  }
}
