import { spawnSync } from 'node:child_process'
import path from 'node:path'
import { expect, test } from 'vitest'
import { wrongNode } from './required-node.ts'

test('wrongNode returns nothing for the required Node and newer ones', () => {
  expect(wrongNode('24.0.0', 'unit', [])).toBeUndefined()
  expect(wrongNode('26.1.0', 'unit', [])).toBeUndefined()
})

test('wrongNode names the required Node, the one in use, and the command that works', () => {
  expect(wrongNode('20.20.2', 'unit', ['run', 'lib/parsers'])).toMatch(
    /^The tests need Node 24 or newer, and this is Node 20\.20\.2 .*: npm run unit -- lib\/parsers$/,
  )
  expect(wrongNode('20.20.2', 'e2e', ['test'])).toMatch(/: npm run e2e$/)
})

/** Makes this Node report an older version, and removes the module that the older one lacks. */
const NODE_20 = `import { registerHooks } from 'node:module'
Object.defineProperty(process.versions, 'node', { value: '20.20.2' })
registerHooks({
  resolve(name, context, next) {
    if (name === 'node:sqlite') throw new Error('No such built-in module: ' + name)
    return next(name, context)
  },
})`

test.each([
  ['vitest', ['run', 'lib/parsers'], 'npm run unit -- lib/parsers'],
  ['vitest', ['run', '--config', 'peers/vitest.config.ts'], 'npm run test:peers'],
  ['playwright', ['test', 'e2e/playground/run.spec.ts'], 'npm run e2e -- e2e/playground/run.spec.ts'],
])('%s %j on Node 20 fails with the command that works', (program, parameters, command) => {
  const older = encodeURIComponent(NODE_20)
  const { status, stdout, stderr } = spawnSync(path.resolve('node_modules', '.bin', program), parameters, {
    env: { ...process.env, NODE_OPTIONS: `--import data:text/javascript,${older}` },
    encoding: 'utf8',
  })
  expect(status).toBe(1)
  expect(`${stdout}${stderr}`).toContain(command)
})
