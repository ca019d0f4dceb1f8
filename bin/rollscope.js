#!/usr/bin/env node
// The command line. It may be started by an older Node, which reads no TypeScript: the Node that npm brought runs it.
import { spawnSync } from 'node:child_process'
import { createRequire } from 'node:module'
import path from 'node:path'

const packaged = path.dirname(createRequire(import.meta.url).resolve('node/package.json'))
const node = path.join(packaged, 'bin', process.platform === 'win32' ? 'node.exe' : 'node')
const main = path.join(import.meta.dirname ?? path.dirname(new URL(import.meta.url).pathname), 'main.ts')
const { status, error } = spawnSync(node, ['--disable-warning=ExperimentalWarning', main, ...process.argv.slice(2)], {
  stdio: 'inherit',
})
if (error) console.error(`rollscope: ${node} cannot be started: ${error.message}`)
process.exitCode = status ?? 3
