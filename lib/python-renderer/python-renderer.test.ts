/** Tests the Python process with fake programs; peers/ tests the real Python. */
import { execFileSync, spawn } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { folderOfFile } from '#testing/files/folders.ts'
import { type PythonRenderRequest, renderInPython } from './python-renderer.ts'

const folder = folderOfFile()

const question: PythonRenderRequest = {
  template: '{{ x }}',
  messages: '[{"role": "user", "content": 1.0}]',
  tools: '',
  options: '{}',
  specialTokens: { bos_token: '<s>' },
  tokenizerJson: undefined,
}
const script = path.join(import.meta.dirname, 'python-renderer.py')
const never = new AbortController().signal

/** Creates a program that is started in place of Python. */
function program(name: string, script: string): string {
  const file = path.join(folder, name)
  writeFileSync(file, `#!${process.execPath}\n${script}\n`)
  chmodSync(file, 0o755)
  return file
}

test('The Python renderer sends the whole request and returns the answer', async () => {
  const echo = program(
    'echo.cjs',
    `let text = ''
process.stdin.on('data', (chunk) => {
  text += chunk
  if (!text.endsWith('\\n')) return
  console.log(JSON.stringify({ versions: { python: '3.12.1', transformers: '5.0.0' }, text, ids: [1, 2] }))
  process.exit()
})`,
  )
  const answer = await renderInPython({ program: echo, script }, question, never)
  expect(answer).toMatchObject({ kind: 'rendered', version: 'python 3.12.1, transformers 5.0.0', ids: [1, 2] })
  expect(answer.kind === 'rendered' && JSON.parse(answer.text)).toEqual({ ...question, tokenizerJson: null })
})

test('The Python renderer reports template errors in Python’s words', async () => {
  const raising = program(
    'raising.cjs',
    `console.log(JSON.stringify({ versions: { python: '3' }, error: { className: 'UndefinedError', message: "'x' is undefined", line: null } }))`,
  )
  expect(await renderInPython({ program: raising, script }, question, never)).toEqual({
    kind: 'raised',
    version: 'python 3',
    className: 'UndefinedError',
    message: "'x' is undefined",
    line: undefined,
  })
})

test.each([
  ['is not there', path.join(folder, 'nowhere'), /there is no .*nowhere on this machine.*ROLLSCOPE_PYTHON/],
  ['is no program', folder, /cannot be started: /],
  [
    'lacks transformers',
    program('bare.cjs', `console.log('{"missing": "No module named x", "versions": {"python": "3"}}')`),
    /No module named x.*pip install transformers/,
  ],
  [
    'dies',
    program('dies.cjs', `console.error('Traceback\\nMemoryError'); process.exit(1)`),
    /ended without an answer: MemoryError/,
  ],
  ['says something else', program('chats.cjs', `console.log('hello')`), /ended without an answer: it printed nothing/],
  [
    'says too much',
    program('floods.cjs', `const fs = require('fs'); for (;;) fs.writeSync(1, 'x'.repeat(65536))`),
    /returned more than 1 MiB/,
  ],
  ['never ends', program('hangs.cjs', 'setInterval(() => {}, 1000)'), /took longer than 0.2 s/, 200],
])('The Python renderer reports why a Python that %s is unavailable', async (_, python, why, milliseconds = 60_000) => {
  const answer = await renderInPython({ program: python, script }, question, never, { milliseconds, output: 1 << 20 })
  expect(answer).toEqual({ kind: 'unavailable', why: expect.stringMatching(why) })
})

test('The Python renderer stops the process when the caller aborts', async () => {
  const hangs = program('waits.cjs', 'setInterval(() => {}, 1000)')
  const leaving = new AbortController()
  const asked = renderInPython({ program: hangs, script }, question, leaving.signal)
  leaving.abort(new Error('left'))
  await expect(asked).rejects.toThrow('left')
})

test('The Python renderer runs one process at a time and skips aborted requests', async () => {
  const log = path.join(folder, 'asked.log')
  const slow = program(
    'slow.cjs',
    `const fs = require('fs'); fs.appendFileSync(${JSON.stringify(log)}, '<')
setTimeout(() => { fs.appendFileSync(${JSON.stringify(log)}, '>'); console.log('{"versions": {}, "text": ""}') }, 100)`,
  )
  const leaving = new AbortController()
  const first = renderInPython({ program: slow, script }, question, never)
  const gone = renderInPython({ program: slow, script }, question, leaving.signal)
  const last = renderInPython({ program: slow, script }, question, never)
  leaving.abort(new Error('left'))
  await expect(gone).rejects.toThrow('left')
  await Promise.all([first, last])
  expect(readFileSync(log, 'utf8')).toBe('<><>')
})

test('The Python renderer passes on no keys or tokens of the environment', async () => {
  process.env.SGLANG_API_KEY = 'secret-of-the-server'
  try {
    const tells = program(
      'tells.cjs',
      `console.log(JSON.stringify({ versions: {}, text: JSON.stringify(process.env) }))`,
    )
    const answer = await renderInPython({ program: tells, script }, question, never)
    const text = answer.kind === 'rendered' ? answer.text : ''
    expect(text).toContain('HF_HUB_OFFLINE')
    expect(text).not.toContain('secret-of-the-server')
  } finally {
    delete process.env.SGLANG_API_KEY
  }
})

test.skipIf(process.platform !== 'linux' || !hasPython())(
  'The Python script ends with the application, even if that was killed during an endless template',
  async () => {
    const begun = path.join(folder, 'begun')
    const python = path.join(folder, 'python-with-fakes')
    writeFileSync(python, `#!/bin/sh\nPYTHONPATH='${fakeTransformers(begun)}' exec python3 "$@"\n`, { mode: 0o755 })
    const asking = `
      const { renderInPython } = await import(${JSON.stringify(path.join(import.meta.dirname, 'python-renderer.ts'))})
      await renderInPython(${JSON.stringify({ program: python, script })}, ${JSON.stringify(question)}, new AbortController().signal)`
    const application = spawn(process.execPath, ['--input-type=module', '--eval', asking], { stdio: 'inherit' })
    await expect.poll(() => existsSync(begun)).toBe(true)
    const python3 = `/proc/${readFileSync(begun, 'utf8')}/exe`
    expect(existsSync(python3)).toBe(true)
    application.kill('SIGKILL')
    await expect.poll(() => existsSync(python3)).toBe(false)
  },
)

function hasPython(): boolean {
  try {
    execFileSync('python3', ['--version'])
    return true
  } catch {
    return false
  }
}

/** Creates the modules that the script imports; rendering writes the process id to a file and never ends. */
function fakeTransformers(begun: string): string {
  const modules = path.join(folder, 'modules')
  const write = (name: string, text: string) => {
    mkdirSync(path.dirname(path.join(modules, name)), { recursive: true })
    writeFileSync(path.join(modules, name), text)
  }
  write('jinja2.py', "__version__ = '3.1.6'")
  write(
    'transformers.py',
    `__version__ = '5.0.0'
class PreTrainedTokenizerFast:
    def __init__(self, **_):
        pass
    def apply_chat_template(self, *_, **__):
        import os
        with open('${begun}.new', 'w') as file:
            file.write(str(os.getpid()))
        os.rename('${begun}.new', '${begun}')
        while True:
            pass
`,
  )
  write('tokenizers/__init__.py', "__version__ = '0.22'\ndef Tokenizer(_):\n    return None\n")
  write('tokenizers/models.py', 'def WordLevel(_):\n    return None\n')
  return modules
}
