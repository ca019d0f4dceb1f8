#!/usr/bin/env node
// The command line. It may be started by an older Node, which reads no TypeScript: the Node that npm brought runs it.
import { spawn } from 'node:child_process'
import os from 'node:os'
import path from 'node:path'
import { packagedNode } from './installed.js'

const node = path.join(packagedNode(), 'bin', process.platform === 'win32' ? 'node.exe' : 'node')
const main = path.join(import.meta.dirname ?? path.dirname(new URL(import.meta.url).pathname), 'main.ts')
// These limits of V8's heap are those of `npm start`. Without them it keeps several times as much garbage.
const flags = ['--max-semi-space-size=16', '--heap-growing-percent=100', '--disable-warning=ExperimentalWarning']
const child = spawn(node, [...flags, main, ...process.argv.slice(2)], { stdio: 'inherit' })
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
