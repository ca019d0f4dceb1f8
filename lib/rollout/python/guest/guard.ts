/**
 * Closes this process before foreign Python code runs in it. Four walls protect the host, so that one can fail:
 * 1. Node's permission model, by the flags of the process: no files but its own, no child processes, workers or native
 *    modules.
 * 2. No text becomes JavaScript: --disallow-code-generation-from-strings.
 * 3. Pyodide gets stand-ins for Node's modules and for `process`; after its start it gets no modules.
 * 4. Functions that reach the network, other processes or the engine's own switches are removed from the real modules,
 *    because the permission model of Node 24 limits neither the network nor the files of node:sqlite.
 * The experiments are described in docs/decisions/0033.
 */
import childProcess from 'node:child_process'
import cluster from 'node:cluster'
import dgram from 'node:dgram'
import dns from 'node:dns'
import fs from 'node:fs'
import http from 'node:http'
import http2 from 'node:http2'
import https from 'node:https'
import inspector from 'node:inspector'
import module, { registerHooks, syncBuiltinESMExports } from 'node:module'
import net from 'node:net'
import repl from 'node:repl'
import sqlite from 'node:sqlite'
import tls from 'node:tls'
import traceEvents from 'node:trace_events'
import v8 from 'node:v8'
import vm from 'node:vm'
import worker from 'node:worker_threads'
import { lock, refuseWhenLocked, throwAccessError } from './lock.ts'

/** The largest WebAssembly memory of one interpreter, in pages. Growth beyond it is Python's MemoryError. */
const MOST_PAGES = (256 * 1024 * 1024) / 65_536

/** Closes Node before Pyodide is loaded. Throws if a wall is missing. */
export function closeNode(pyodideFolder: URL): void {
  checkFlags()
  registerHooks({
    resolve(specifier, context, next) {
      const isPyodides = context.parentURL?.startsWith(pyodideFolder.href) ?? false
      const standIn = isPyodides ? STAND_INS[specifier] : undefined
      if (standIn !== undefined)
        return { url: new URL(`stand-ins/${standIn}.ts`, import.meta.url).href, shortCircuit: true }
      refuseWhenLocked(`the module ${specifier}`)
      if (isPyodides && !AS_THEY_ARE.includes(specifier) && !specifier.startsWith(pyodideFolder.href))
        throwAccessError(`the module ${specifier}`)
      return next(specifier, context)
    },
  })
  closeModules()
  limitMemory()
  replaceProcess()
  for (const name of GLOBALS) Reflect.deleteProperty(globalThis, name)
  globalThis.console = new Proxy({} as Console, { get: () => () => {} })
}

/** Closes Pyodide after its start, before the first line of foreign code. */
export function closePyodide(): void {
  lock()
  for (const name of ['process', 'require']) Reflect.deleteProperty(globalThis, name)
  // Through it, the call sites of an exception would expose the functions and objects of every frame.
  Object.defineProperty(Error, 'prepareStackTrace', { value: undefined, writable: false, configurable: false })
}

/** Stand-ins by the module names that Pyodide uses: Emscripten's `require`, and imports. */
const STAND_INS: Readonly<Record<string, string>> = {
  'node:fs': 'fs',
  'node:fs/promises': 'fs',
  'node:child_process': 'child-process',
  'node:crypto': 'crypto',
  'node:tty': 'tty',
  'node:vm': 'nothing',
  ws: 'nothing',
}
const AS_THEY_ARE = ['node:url', 'node:path', 'node:module']

function checkFlags(): void {
  const { permission } = process
  if (permission === undefined) throw new Error('Node runs without its permission model')
  for (const scope of ['child', 'worker', 'addon', 'wasi'])
    if (permission.has(scope)) throw new Error(`the permission model allows ${scope}`)
  for (const scope of ['fs.read', 'fs.write'])
    if (permission.has(scope, '/') || permission.has(scope, process.cwd()))
      throw new Error(`the permission model allows ${scope}`)
  try {
    new Function('')
  } catch {
    return
  }
  throw new Error('code can be made from text')
}

function closeModules(): void {
  closeHandles()
  const whole = { childProcess, dns, 'dns.promises': dns.promises, vm, inspector, v8, traceEvents, repl, sqlite }
  for (const [name, closed] of Object.entries(whole)) closeFunctions(name, closed, Object.keys(closed))
  closeFunctions('net', net, ['connect', 'createConnection', 'createServer', '_createServerHandle'])
  closeFunctions('net.Socket', net.Socket.prototype, ['connect'])
  closeFunctions('net.Server', net.Server.prototype, ['listen', '_listen2'])
  closeFunctions('dgram', dgram, ['createSocket'])
  closeFunctions('dgram.Socket', dgram.Socket.prototype, ['bind', 'connect', 'send'])
  closeFunctions('tls', tls, ['connect'])
  closeFunctions('http', http, ['request', 'get', 'createServer'])
  closeFunctions('https', https, ['request', 'get', 'createServer'])
  closeFunctions('http2', http2, ['connect', 'createServer', 'createSecureServer'])
  closeFunctions('worker', worker, ['Worker'])
  closeFunctions('cluster', cluster, ['fork'])
  closeFunctions('module', module, ['register', 'registerHooks'])
  closeFunctions('process', process, PROCESS_FUNCTIONS)
  Object.defineProperty(process, 'report', { value: undefined, writable: false, configurable: false })
  syncBuiltinESMExports()
}

/** Closes the native classes of pipes and datagrams: with one object of them, code could create, bind and connect others. */
function closeHandles(): void {
  const pipe = Reflect.get(new net.Socket({ fd: 2, readable: false, writable: false }), '_handle')
  const socket = new dgram.Socket({ type: 'udp4' } as never)
  const state = Object.getOwnPropertySymbols(socket).find(({ description }) => description === 'state symbol')
  const datagrams = (Reflect.get(socket, state ?? '') as { readonly handle: object } | undefined)?.handle
  for (const [name, handle] of Object.entries({ pipe, datagrams })) {
    if (typeof handle !== 'object' || handle === null) throw new Error(`Node keeps its ${name} elsewhere`)
    closeFunctions(name, Object.getPrototypeOf(handle), HANDLE_FUNCTIONS)
  }
}

const HANDLE_FUNCTIONS = ['open', 'bind', 'bind6', 'listen', 'connect', 'connect6', 'send']

/** Functions of `process` that reach other processes, native code, Node's own bindings or all modules. */
const PROCESS_FUNCTIONS = [
  'kill',
  '_kill',
  'dlopen',
  '_debugProcess',
  '_debugEnd',
  '_linkedBinding',
  'getBuiltinModule',
  'execve',
  'loadEnvFile',
]

function closeFunctions(of: string, closed: object, names: readonly string[]): void {
  for (const name of names) {
    if (typeof Reflect.get(closed, name) !== 'function') continue
    // It is not an arrow function, because some are called with `new`.
    Object.defineProperty(closed, name, {
      value: function refused() {
        throwAccessError(`${of}.${name}`)
      },
      writable: false,
      configurable: false,
    })
  }
}

function limitMemory(): void {
  const { grow } = WebAssembly.Memory.prototype
  Object.defineProperty(WebAssembly.Memory.prototype, 'grow', {
    value(this: WebAssembly.Memory, pages: number) {
      if (this.buffer.byteLength / 65_536 + pages > MOST_PAGES) throw new RangeError('no more memory')
      return grow.call(this, pages)
    },
    writable: false,
    configurable: false,
  })
}

/** Replaces `process` for Pyodide, because the properties of the real one lead to every module. */
function replaceProcess(): void {
  const { platform, version, versions } = process
  const constants = { fs: fs.constants }
  globalThis.process = Object.freeze({
    platform,
    version,
    versions: Object.freeze({ ...versions }),
    argv: [],
    env: {},
    stdin: { fd: 0 },
    stdout: { fd: 1 },
    stderr: { fd: 2 },
    // Emscripten reads the flags of open() from it; under the permission model the real one throws.
    binding: () => constants,
  }) as unknown as NodeJS.Process
}

const GLOBALS = [
  'fetch',
  'Request',
  'Response',
  'WebSocket',
  'EventSource',
  'CloseEvent',
  'Worker',
  'BroadcastChannel',
  'MessageChannel',
  'navigator',
  'localStorage',
  'sessionStorage',
  'Storage',
  'eval',
]
