/** `rollscope`: what can be asked without the page. */
import path from 'node:path'
import { command } from '../lib/command-line/command.ts'
import { readConfig } from '../lib/server/config.ts'
import { BUILT_IN } from '../lib/server/servers.ts'

const folder = path.resolve(import.meta.dirname, '..')
const { hub, tokenizerFolders } = readConfig(process.env, folder)

process.exitCode = await command(process.argv.slice(2), {
  folder: process.cwd(),
  places: { builtIn: { [BUILT_IN]: path.join(folder, 'models', 'tiny-qwen3') }, folders: tokenizerFolders, hub },
  builtIn: BUILT_IN,
  print: (text) => process.stdout.write(text),
  complain: (text) => process.stderr.write(text),
})
