/** `rollscope`: starts the application, and answers what can be asked without the page. */
import path from 'node:path'
import { BUILT_IN } from '#lib/api/server-name.ts'
import { command } from '../lib/command-line/command.ts'
import { EXIT } from '../lib/command-line/exit.ts'
import { type Config, ConfigError, readConfig } from '../lib/server/config.ts'
import { runningInstances } from '../lib/store/files/instance.ts'
import manifest from '../package.json' with { type: 'json' }

const folder = path.resolve(import.meta.dirname, '..')
const { hub, tokenizerFolders, dataFolder } = readEnvironment()

// Who reads may have enough, as `| head` has: then it ends as a program does that the signal for it ends.
const CLOSED_PIPE_STATUS = 141
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error
  process.exit(CLOSED_PIPE_STATUS)
})

let isStopped = false
process.exitCode = await command(process.argv.slice(2), {
  folder: process.cwd(),
  places: { builtIn: { [BUILT_IN]: path.join(folder, 'models', 'tiny-qwen3') }, folders: tokenizerFolders, hub },
  builtIn: BUILT_IN,
  input: process.stdin,
  print: (text) => process.stdout.write(text),
  complain: (text) => process.stderr.write(text),
  version: manifest.version,
  async start() {
    await import('../scripts/serve.ts')
  },
  stop() {
    isStopped = true
  },
  running: () => runningInstances(dataFolder),
})
// The application has a handler for this signal, and ends the process with the status that is set.
if (isStopped) process.emit('SIGTERM')

function readEnvironment(): Config {
  try {
    return readConfig(process.env, folder)
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    console.error(error.message)
    process.exit(EXIT.usage)
  }
}
