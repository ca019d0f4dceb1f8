/** Tests the application's end of the channel with processes that misbehave. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { beforeAll, beforeEach, expect, test } from 'vitest'
import { folderOfTest } from '#testing/files/folders.ts'
import { InterpreterError, type InterpreterPlace, startInterpreter } from './interpreter.ts'
import { LONGEST_LINE, MOST_BYTES } from './protocol.ts'
import { testPlace } from './test-place.ts'

let folder: string
let place: InterpreterPlace
beforeAll(async () => {
  place = await testPlace()
})
beforeEach(() => {
  folder = folderOfTest()
  mkdirSync(path.join(folder, 'guest'))
})

const READY = `write('{"type":"ready"}\\n');`
const ON_LINE = (action: string) => `process.stdin.once('data', () => { ${action} })`

function start(script: string, signal?: AbortSignal) {
  const guestFile = path.join(folder, 'guest', 'main.cjs')
  writeFileSync(guestFile, `const write = (...all) => process.stdout.write(...all)\n${script}`)
  return startInterpreter({ ...place, guestFile }, signal)
}

test.each([
  ['ends', 'process.exit(3)', 'it ended with status 3'],
  ['breaks', 'nothing()', 'it ended with status 1: ReferenceError: nothing is not defined'],
  ['says why', `write('{"type":"failed","why":"the guard is open"}\\n')`, 'the guard is open'],
  ['says something else', `write('Hello\\n')`, 'the interpreter wrote an unexpected message'],
  ['answers what nobody asked', `write('{"type":"ran","number":1}\\n')`, 'unexpected message'],
])('an interpreter process that %s before it is ready is reported', async (_, script, why) => {
  const failure = await start(script).catch((error: unknown) => error)
  expect(failure).toBeInstanceOf(InterpreterError)
  expect(failure).toHaveProperty('message', expect.stringContaining(why))
})

test.each([
  ['ends', 'process.exit(0)', 'it ended with status 0'],
  ['is killed', `process.abort()`, 'it ended by SIGABRT'],
  ['says something else', `write('Hello\\n')`, 'the interpreter wrote an unexpected message'],
  ['answers another call', `write('{"type":"ran","number":2}\\n')`, 'unexpected message'],
  ['answers without a text', `write('{"type":"ran","number":1,"value":{}}\\n')`, 'unexpected message'],
  ['answers twice', `write('{"type":"ran","number":1}\\n{"type":"ready"}\\n')`, 'unexpected message'],
  ['never ends its line', `const more = () => write('x'.repeat(65536), more); more()`, 'unexpected message'],
])('an interpreter process that %s instead of an answer is reported', async (_, script, why) => {
  const interpreter = await start(READY + ON_LINE(script))
  expect(interpreter.isOver()).toBe(false)
  await expect(interpreter.run('1')).rejects.toThrow(why)
  expect(interpreter.isOver()).toBe(true)
  await expect(interpreter.run('1')).rejects.toThrow(InterpreterError)
})

test('an answer of the interpreter may arrive in pieces, and be as long as the line limit', async () => {
  const text = `'\\u0001'.repeat(${MOST_BYTES})`
  const interpreter = await start(
    `${READY} ${ON_LINE(`const line = JSON.stringify({ type: 'ran', number: 1, value: { text: ${text} } }) + '\\n'; write(line.slice(0, 100)); setTimeout(() => write(line.slice(100)), 10)`)}`,
  )
  const { value } = await interpreter.run('1')
  expect(value?.text).toHaveLength(MOST_BYTES)
  expect(6 * MOST_BYTES).toBeLessThan(LONGEST_LINE)
  interpreter.end()
})

test('printed text is available while the code runs, and after the process has ended', async () => {
  const printed = (text: string, bytes: number) => `write('{"type":"printed","text":"${text}","bytes":${bytes}}\\n')`
  const interpreter = await start(
    `${READY} ${ON_LINE(`${printed('a', 1)}; ${printed('é', 3)}; process.stdin.once('data', () => process.exit(0))`)}`,
  )
  const answer = interpreter.run('1')
  await expect.poll(() => interpreter.printed()).toEqual({ text: 'aé' })
  interpreter.end()
  await expect(answer).rejects.toThrow(InterpreterError)
  expect(interpreter.printed()).toEqual({ text: 'aé' })
})

test('a process that prints more than its limit is ended', async () => {
  const more = `for (let i = 0; i < 12; i++) write(JSON.stringify({ type: 'printed', text: 'x'.repeat(100_000), bytes: 1 }) + '\\n')`
  await expect((await start(READY + ON_LINE(more))).run('1')).rejects.toThrow('unexpected message')
})

test('messages named like properties of Object change nothing', async () => {
  const names = `"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}`
  const script = `write('{"type":"printed","text":"a","bytes":1,${names}}\\n{"type":"ran","number":1,"value":{"text":"b",${names}},${names}}\\n')`
  const interpreter = await start(READY + ON_LINE(script))
  const ran = await interpreter.run('1')
  expect(ran).toEqual({ type: 'ran', number: 1, printed: { text: 'a' }, value: { text: 'b' } })
  expect([Reflect.get({}, 'polluted'), Reflect.get(ran, 'polluted')]).toEqual([undefined, undefined])
  interpreter.end()
})

test('an interpreter that never starts is ended with its signal', async () => {
  const controller = new AbortController()
  const started = start('setInterval(() => {}, 1000)', controller.signal)
  controller.abort()
  await expect(started).rejects.toThrow('the interpreter was stopped while it started')
})

test('ending an interpreter ends its process, whatever it does', async () => {
  const interpreter = await start(`${READY} ${ON_LINE('for (;;);')}`)
  const answer = interpreter.run('1')
  interpreter.end()
  await expect(answer).rejects.toThrow('it was ended')
})

test.skipIf(process.platform !== 'linux')(
  'an endless loop, one long operation and a long sleep end with the application, also after a kill',
  async () => {
    const codes = ['while True: pass', 'sum(range(10**15))', '__import__("time").sleep(10**6)']
    const script = `
    import { startInterpreter } from ${JSON.stringify(path.join(import.meta.dirname, 'interpreter.ts'))}
    const place = ${JSON.stringify(place)}
    await Promise.all(${JSON.stringify(codes)}.map(async (code) => {
      const interpreter = await startInterpreter(place)
      interpreter.run('print(1)\\n' + code).catch(() => {})
      while (interpreter.printed().text === '') await new Promise((resolve) => setTimeout(resolve, 5))
    }))
    console.log('running')`
    const application = spawn(process.execPath, ['--input-type=module-typescript', '--eval', script])
    await once(application.stdout, 'data')
    const children = readFileSync(`/proc/${application.pid}/task/${application.pid}/children`, 'utf8').trim().split(' ')
    const exists = (pid: string) => existsSync(`/proc/${pid}/exe`)
    // Each has two processes: the interpreter, and the shell that watches it.
    expect(children.map(exists)).toEqual(codes.flatMap(() => [true, true]))
    application.kill('SIGKILL')
    await expect.poll(() => children.filter(exists)).toEqual([])
  },
)

test('a missing Node program is reported', async () => {
  await expect(startInterpreter({ ...place, node: '/nowhere/node' })).rejects.toThrow('ENOENT')
})
