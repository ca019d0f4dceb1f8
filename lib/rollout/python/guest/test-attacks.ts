/**
 * Tests the guard without Python, with JavaScript that has access to all modules and globals. Writes the names of the attacks
 * that were not refused.
 */
import childProcess from 'node:child_process'
import dgram from 'node:dgram'
import dns from 'node:dns'
import fs from 'node:fs'
import http from 'node:http'
import http2 from 'node:http2'
import https from 'node:https'
import inspector from 'node:inspector'
import net from 'node:net'
import sqlite from 'node:sqlite'
import { setTimeout as wait } from 'node:timers/promises'
import tls from 'node:tls'
import traceEvents from 'node:trace_events'
import { pathToFileURL } from 'node:url'
import v8 from 'node:v8'
import vm from 'node:vm'
import { Worker } from 'node:worker_threads'
import type { Trap } from '../probes.ts'
import { closeNode, closePyodide } from './guard.ts'

const node = process
const { fetch, WebSocket } = globalThis
const { secretFile, markerFile, url, port } = JSON.parse(node.argv[4] ?? '') as Trap
const host = '127.0.0.1'
const settled = (emitter: NodeJS.EventEmitter) =>
  new Promise((resolve, reject) => emitter.on('error', reject).on('connect', resolve).on('response', resolve))

const attacks: Readonly<Record<string, () => unknown>> = {
  readFileSync: () => fs.readFileSync(secretFile),
  'readFile, promised': () => fs.promises.readFile(secretFile),
  openAsBlob: async () => (await fs.openAsBlob(secretFile)).text(),
  readdirSync: () => fs.readdirSync('/'),
  writeFileSync: () => fs.writeFileSync(markerFile, ''),
  symlinkSync: () => fs.symlinkSync(secretFile, `${markerFile}-link`),
  cpSync: () => fs.cpSync(secretFile, markerFile),
  sqlite: () => new sqlite.DatabaseSync(markerFile),
  spawnSync: () => childProcess.spawnSync('touch', [markerFile]),
  execSync: () => childProcess.execSync(`touch ${markerFile}`),
  fork: () => childProcess.fork(markerFile),
  Worker: () => new Worker('', { eval: true }),
  'net.connect': () => settled(net.connect(port, host)),
  'Socket.connect': () => settled(new net.Socket().connect(port, host)),
  'Server._listen2': () => Reflect.get(new net.Server(), '_listen2').call(new net.Server(), markerFile, -1, -1),
  'net._createServerHandle': () => Reflect.get(net, '_createServerHandle')(host, 0, 4),
  'a pipe of one’s own': () => {
    const Pipe: new (kind: number) => { bind(name: string): number } = Object(
      Reflect.get(node.stdout, '_handle'),
    ).constructor
    return new Pipe(1).bind(markerFile)
  },
  'a datagram’s handle': () => {
    const socket = new dgram.Socket({ type: 'udp4' } as never)
    for (const symbol of Object.getOwnPropertySymbols(socket)) {
      const { handle } = (Reflect.get(socket, symbol) ?? {}) as {
        readonly handle?: { bind(...all: unknown[]): number }
      }
      if (handle) return handle.bind(host, 0, 0)
    }
    throw new Error('it has none')
  },
  listen: () => net.createServer().listen(0),
  'http.get': () => settled(http.get(url)),
  'http.Agent': () => settled(new http.Agent().createConnection({ port, host }) as NodeJS.EventEmitter),
  ClientRequest: () => settled(new http.ClientRequest(url).end()),
  'https.get': () => settled(https.get(`https://${host}:${port}`)),
  'http2.connect': () => settled(http2.connect(url)),
  'tls.connect': () => settled(tls.connect(port, host)),
  fetch: () => fetch(url),
  WebSocket: () =>
    new Promise((resolve, reject) => {
      const socket = new WebSocket(`ws://${host}:${port}`)
      socket.addEventListener('error', reject)
      socket.addEventListener('open', resolve)
    }),
  'dgram.createSocket': () => dgram.createSocket('udp4'),
  'dgram.Socket.send': () => new dgram.Socket({ type: 'udp4' } as never).send('out', port, host),
  'dns.lookup': () => dns.lookup('example.org', () => {}),
  'dns.Resolver': () => new dns.Resolver(),
  'dns, promised': () => dns.promises.resolve('example.org'),
  'process.kill': () => node.kill(node.ppid, 0),
  'process.binding': () => (node as unknown as { binding(name: string): unknown }).binding('fs'),
  'process.dlopen': () => node.dlopen({ exports: {} }, secretFile),
  'process.report': () => node.report.writeReport(markerFile),
  getBuiltinModule: () => node.getBuiltinModule('node:fs'),
  Function: () => new Function('')(),
  eval: () => globalThis['eval' as 'Object']('1'),
  'vm.runInThisContext': () => vm.runInThisContext('1'),
  'vm.Script': () => new vm.Script('1'),
  'import of a module': () => import('node:fs'),
  'import of text': () => import(['data:text/javascript', 'export default 1'].join(',')),
  'import of a file': () => import(pathToFileURL(secretFile).href),
  'inspector.open': () => inspector.open(0, host),
  setFlagsFromString: () => v8.setFlagsFromString('--no-disallow-code-generation-from-strings'),
  traceEvents: () => traceEvents.createTracing({ categories: ['v8'] }).enable(),
  setHeapSnapshotNearHeapLimit: () => v8.setHeapSnapshotNearHeapLimit(1),
  writeHeapSnapshot: () => v8.writeHeapSnapshot(markerFile),
  'WebAssembly memory': () => new WebAssembly.Memory({ initial: 4000 }).grow(1000),
  'call sites': () => {
    Error.prepareStackTrace = () => 'open'
    if (new Error('').stack !== 'open') throw new Error('closed')
  },
  'the global process': () => {
    if (globalThis.process === undefined) throw new Error('it is not there')
  },
}

if (node.argv[5] === 'guarded') {
  closeNode(pathToFileURL(`${node.argv[2]}/`))
  closePyodide()
}
// Some attacks fail only after they were started.
node.on('uncaughtException', () => {})
/** These attacks succeed without the guard, and leave files and listening ports, or end the process. */
const GUARDED_ONLY = [
  'traceEvents',
  'setHeapSnapshotNearHeapLimit',
  'writeHeapSnapshot',
  'setFlagsFromString',
  'inspector.open',
  'process.report',
]
const tried = Object.entries(attacks).filter(([name]) => node.argv[5] === 'guarded' || !GUARDED_ONLY.includes(name))
const ANSWER_MS = 10_000
const open: string[] = []
for (const [name, attack] of tried) {
  try {
    // Without a network an answer may never arrive; then the attack was not refused either.
    await Promise.race([attack(), wait(ANSWER_MS)])
    open.push(name)
  } catch {}
}
fs.writeSync(1, `${JSON.stringify({ tried: tried.map(([name]) => name), open })}\n`)
node.exit()
