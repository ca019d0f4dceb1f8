/**
 * Checks the version of Node. Test runners start with the first Node on the PATH, but the tested code needs the one of `npm
 * run`.
 */
import { readFileSync } from 'node:fs'
import path from 'node:path'

/**
 * Throws an Error with advice if this Node is too old. The configuration of each test runner calls it; `script` is the script
 * of package.json that starts the runner.
 */
export function requireNode(script: string): void {
  const message = wrongNode(process.versions.node, script, process.argv.slice(2))
  if (message) throw new Error(message)
}

/**
 * Returns advice if `version` is too old for the tests, otherwise undefined. `parameters` are those of the runner, so that
 * the printed command can be pasted.
 */
export function wrongNode(version: string, script: string, parameters: readonly string[]): string | undefined {
  const required = read('.nvmrc').trim()
  if (Number.parseInt(version, 10) >= Number(required)) return undefined
  const written: string[] = JSON.parse(read('package.json')).scripts[script].split(' ')
  const own = parameters.filter((word) => !written.includes(word))
  const command = `npm run ${script}${own.length > 0 ? ` -- ${own.join(' ')}` : ''}`
  return `The tests need Node ${required} or newer, and this is Node ${version} (${process.execPath}). npm uses the Node that \`npm install\` brought: ${command}`
}

const read = (file: string): string => readFileSync(path.resolve(import.meta.dirname, '..', file), 'utf8')
