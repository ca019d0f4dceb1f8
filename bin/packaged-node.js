/** Runs files with the Node that `npm install` brings. Any Node can read this file, also one that reads no TypeScript. */
import { spawn } from 'node:child_process'
import { createRequire } from 'node:module'
import os from 'node:os'
import path from 'node:path'

/** Limits of V8's heap. Without them it keeps several times as much garbage. */
export const NODE_FLAGS = ['--max-semi-space-size=16', '--heap-growing-percent=100']
/** Setting of the allocator of glibc, which others ignore: all threads share one arena. Otherwise freed memory stays in the arena of each. */
export const ALLOCATOR_SETTING = { MALLOC_ARENA_MAX: '1' }

/**
 * Runs a file with the parameters of this process, in its place where the system can do that, otherwise beside it. Ends the process
 * with advice if the packages are not installed.
 *
 * @param {string} file
 */
export function runWithPackagedNode(file) {
  const node = path.join(packagedNode(), 'bin', process.platform === 'win32' ? 'node.exe' : 'node')
  const parameters = [...NODE_FLAGS, '--disable-warning=ExperimentalWarning', file, ...process.argv.slice(2)]
  const env = { ...ALLOCATOR_SETTING, ...process.env }
  if (process.platform !== 'win32' && process.execve) process.execve(node, [node, ...parameters], env)
  const child = spawn(node, parameters, { stdio: 'inherit', env })
  // Who stops this process means the other. A terminal sends SIGINT to both by itself.
  process.on('SIGINT', () => {})
  for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
  child.on('error', (error) => {
    console.error(`rollscope: ${node} cannot be started: ${error.message}`)
    process.exitCode = 3
  })
  child.on('exit', (status, signal) => {
    process.exitCode = status ?? 128 + os.constants.signals[signal]
  })
}

/** Returns the folder of the packaged Node. */
function packagedNode() {
  try {
    return path.dirname(createRequire(import.meta.url).resolve('node/package.json'))
  } catch {
    console.error('The packages of Rollscope are not installed. Run npm install first.')
    process.exit(3)
  }
}
