/** Tests what a model reads after its code ran in the real interpreter. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type AgentTool, type ToolCallContext, ToolFailure } from '../tools/tool.ts'
import { createPython, type Python } from './python.ts'
import { testOptions } from './test-place.ts'

let python: Python
let tool: AgentTool
let number = 0
beforeAll(() => {
  python = createPython({ ...testOptions, mostRuns: 1 })
  tool = python.open()
})
afterAll(() => python.close())

/** Returns the output of the last call so far. */
let soFar = () => ''
const context = (signal = new AbortController().signal): ToolCallContext => ({
  signal,
  number: ++number,
  hold(left) {
    soFar = left
  },
  untimed: (waiting) => waiting,
})
/** The result, or the error as the model reads it. */
async function run(code: string, signal?: AbortSignal, of = tool): Promise<string> {
  try {
    return await of.run({ code }, context(signal))
  } catch (error) {
    return error instanceof ToolFailure ? `✗ ${error.message}` : `✗ Error: ${(error as Error).message}`
  }
}
const ANEW = '[new interpreter: earlier definitions are lost]'
const ENDED = 'Error: the Python process ended while it ran this code: it used too much memory, or crashed.'

test.each([
  ['print("a"); print("b")', 'a\nb'],
  ['x = 3.0\nx', '3.0'],
  ['1e16, 1e-7, 10**30, -0.0', `(1e+16, 1e-07, ${10n ** 30n}, -0.0)`],
  ['print(1)\n[x, "é", None]', "1\n[3.0, 'é', None]"],
  ['None', ''],
  ['', ''],
  ['def f(n):\n    return n * x', ''],
  ['f(2)', '6.0'],
  ['import sys\nprint("out")\nprint("err", file=sys.stderr)', 'out\nerr'],
  ['if __name__ == "__main__":\n    print("main")', 'main'],
  ['from fractions import Fraction\nsum([Fraction(1, 3)] * 3)', 'Fraction(1, 1)'],
  ['import asyncio\nasync def g():\n    await asyncio.sleep(0)\n    return 4\nasyncio.run(g())', '4'],
  ['"\\ud800"', "'\\ud800'"],
  ['open("note", "w").write("kept")\nopen("note").read()', "'kept'"],
  ['import random\nrandom.random() == random.random()', 'False'],
])('the python tool runs %j', async (code, result) => {
  expect(await run(code)).toBe(result)
})

describe('the python tool returns Python’s tracebacks of the author’s own code', () => {
  test('after the printed lines', async () => {
    expect(await run('print("before")\ndef divide():\n    return 1 / 0\ndivide()')).toMatch(
      /^✗ before\nTraceback \(most recent call last\):\n {2}File "<call \d+>", line 4, in <module>\n {4}divide\(\)\n[ ~^]+\n {2}File "<call \d+>", line 3, in divide\n {4}return 1 \/ 0\n[ ~^]+\nZeroDivisionError: division by zero$/,
    )
  })
  test.each([
    ['x = (', /^✗ {3}File "<call \d+>", line 1\n {4}x = \(\n {8}\^\nSyntaxError: '\(' was never closed$/],
    ['import numpy', /import numpy\nModuleNotFoundError: No module named 'numpy'$/],
    ['import js', /line 1, in <module>\n {4}import js\nModuleNotFoundError: No module named 'js'$/],
    ['def again(): again()\nagain()', /RecursionError: maximum recursion depth exceeded$/],
    ['input()', /EOFError: EOF when reading a line$/],
    ['exit(3)', /SystemExit: 3$/],
    ['raise KeyboardInterrupt', /KeyboardInterrupt$/],
    ['class Bad(Exception):\n    def __str__(self): raise ValueError\nraise Bad', /Bad: <exception str\(\) failed>$/],
    [
      'try:\n    1/0\nexcept Exception as e:\n    raise ValueError("x") from e',
      /direct cause of the following exception:\n\nTraceback[\s\S]*ValueError: x$/,
    ],
  ])('for %j', async (code, expected) => {
    expect(await run(code)).toMatch(expected)
  })
})

test('the python tool keeps definitions after an error', async () => {
  expect(await run('x')).toBe('3.0')
})

test.each([
  ['at once', 'bytearray(10**9)', /bytearray\(10\*\*9\)\n[ ~^]+\nMemoryError$/],
  ['bit by bit', 'def fill():\n    kept = []\n    while True: kept.append(bytearray(10**7))\nfill()', /MemoryError$/],
])(
  'code that does not fit into memory, %s, gets a MemoryError; the interpreter continues',
  async (_, code, expected) => {
    expect(await run(code)).toMatch(expected)
    expect(await run('x')).toBe('3.0')
  },
)

test('output of the python tool is cut at its limit, at a character, with its full size; an error follows it', async () => {
  const text = await run('print("é" * 600_000)\n1/0')
  expect(text.startsWith('✗ éé')).toBe(true)
  expect(text).toContain('é\n[cut: 1,000,000 of 1,200,001 bytes are shown]\nTraceback')
  expect(text).toMatch(/ZeroDivisionError: division by zero$/)
  expect(await run('"a" * 1_500_000')).toMatch(/^'aaa+\n\[cut: 1,000,000 of 1,500,002 bytes are shown\]$/)
})

test('calls of the python tool in one response run one after another, in their order', async () => {
  expect(await Promise.all([run('steps = [1]'), run('steps.append(2)'), run('steps')])).toEqual(['', '', '[1, 2]'])
})

test('code that is too long is not run', async () => {
  expect(await run('#'.repeat(200_001))).toBe('✗ Error: the code is too long (more than 200,000 characters)')
})

test('endless output is cut at its limit and still counted', async () => {
  const controller = new AbortController()
  const flood = run('while True:\n    print("flood" * 200)', controller.signal)
  const end = () => soFar().slice(-80)
  await expect.poll(() => end()).toMatch(/\n\[cut: 1,000,000 of [\d,]+ bytes are shown\]$/)
  const seen = end()
  await expect.poll(() => end()).not.toBe(seen)
  controller.abort()
  expect((await flood).length).toBeLessThan(1_001_000)
})

test('code that never ends is ended with its signal, even if it refuses, and keeps its output; the next call reports the new interpreter', async () => {
  const controller = new AbortController()
  const endless = 'print("é", end="")\nwhile True:\n    try:\n        while True: pass\n    except BaseException: pass'
  const stopped = run(endless, controller.signal)
  const after = run('x')
  await expect.poll(() => soFar()).toBe(`${ANEW}\né`)
  controller.abort()
  expect(await stopped).toBe(`✗ ${ANEW}\né\n${ENDED}`)
  expect(await after).toMatch(/^✗ \[new interpreter: earlier definitions are lost\]\nTraceback[\s\S]*NameError/)
})

test('a process that ends by itself keeps its output, and the error', async () => {
  const output = await run('print("kept")\nimport ctypes\nctypes.string_at(2**32 - 8, 100)')
  expect(output).toMatch(/^✗ kept\nStack \(most recent call first\):\n[\s\S]+ in string_at\n/)
  expect(output.endsWith(`\n${ENDED}`)).toBe(true)
})

test('the next run has an interpreter of its own; a run that has ended runs no code', async () => {
  expect(await run('kept = 1; import math; math.pi = 3')).toBe(ANEW)
  const next = python.open()
  const waiting = run('import math\nmath.pi, "kept" in globals()', undefined, next)
  await tool.close?.()
  expect(await waiting).toContain('(3.141592653589793, False)')
  expect(await run('1')).toBe('✗ Error: the run has ended')
  await next.close?.()
})
