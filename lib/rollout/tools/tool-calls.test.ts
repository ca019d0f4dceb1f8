import { afterEach, describe, expect, test, vi } from 'vitest'
import type { MockTool } from '#lib/tools/mock-tool.ts'
import type { Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { ids, toolCallsOf } from '#lib/trajectory/tokens/tokens.ts'
import { call, drawMask, empty, endedOutcome, runScripted, user } from '#testing/scripted-rollout.ts'
import { calculator } from './calculator.ts'
import { mockTool } from './mock-tool.ts'
import { type AgentTool, ToolFailure } from './tool.ts'

const weather = (mock: Partial<MockTool['mock']> = {}, name = 'weather'): AgentTool =>
  mockTool({
    name,
    description: 'The weather.',
    inputSchema: {
      type: 'object',
      properties: { city: { type: 'string' }, days: { type: 'integer' } },
      required: ['city'],
    },
    mock: { reply: { kind: 'templated', template: 'Sunny in {{city}}.' }, ...mock },
  })
const asks = (city: unknown, name = 'weather') => call(name, { city })
const results = (trajectory: Trajectory) => toolCallsOf(trajectory).map(({ result }) => result?.text)
const hanging: AgentTool = { ...weather(), run: () => new Promise(() => {}) }

describe('a mock tool', () => {
  test('replies with the arguments, and the model continues', async () => {
    const { trajectory } = await runScripted({ scripts: [asks('Rome'), 'nice'], tools: [weather()] })
    expect(drawMask(trajectory)).toContain('(tool Sunny in Rome.) [nice]')
    expect(toolCallsOf(trajectory)).toMatchObject([{ result: { status: 'success', startedAt: expect.any(String) } }])
  })

  test('fails by the number of the call, in order of the text, and across a continuation', async () => {
    const tools = [weather({ delayMs: 1, failure: { kind: 'calls', calls: [2, 4], error: 'no network' } })]
    const { trajectory } = await runScripted({ scripts: [asks('A') + asks('B'), asks('C'), 'x'], tools })
    expect(results(trajectory)).toEqual(['Sunny in A.', 'Error: no network', 'Sunny in C.'])
    expect(toolCallsOf(trajectory)[1]?.result?.status).toBe('error')
    const again = await runScripted({
      scripts: [asks('D'), asks('E'), 'x'],
      tools,
      on: trajectory,
      messages: [user('r')],
    })
    expect(results(again.trajectory).slice(3)).toEqual(['Error: no network', 'Sunny in E.'])
  })

  test('does not count calls of other tools, but its own refused ones', async () => {
    const tools = [weather({ failure: { kind: 'calls', calls: [2], error: 'down' } }), calculator]
    const { trajectory } = await runScripted({
      scripts: [call('calculator', { expression: '1' }) + asks(5) + asks('B') + asks('C'), 'x'],
      tools,
    })
    expect(results(trajectory).slice(2)).toEqual(['Error: down', 'Sunny in C.'])
  })

  test('gives the same tokens in each run', async () => {
    const run = () =>
      runScripted({
        scripts: [asks('A') + asks('B') + asks('C'), asks('D'), 'x'],
        tools: [weather({ delayMs: 2, failure: { kind: 'every', nth: 2, error: 'down' } })],
      })
    const [first, second] = [await run(), await run()]
    expect(ids(first.trajectory)).toEqual(ids(second.trajectory))
  })

  test('has no part in the prompt: the tokens are those of a real tool', async () => {
    const { spec } = weather()
    const { mock: _, ...bare } = spec
    const model = (tool: typeof spec): Trajectory => ({ ...empty, model: { ...empty.model, tools: [tool] } })
    const mocked = await runScripted({ scripts: ['x'], tools: [weather()], on: model(spec) })
    const real = await runScripted({ scripts: ['x'], tools: [weather()], on: model(bare) })
    expect(drawMask(mocked.trajectory)).toContain('"name": "weather"')
    expect(ids(mocked.trajectory)).toEqual(ids(real.trajectory))
  })

  test.each(['constructor', '__proto__', 'toString'])('may be named %s', async (name) => {
    const { trajectory } = await runScripted({ scripts: [asks('Rome', name), 'x'], tools: [weather({}, name)] })
    expect(results(trajectory)).toEqual(['Sunny in Rome.'])
  })

  test.each(['constructor', '__proto__'])(
    'that is unknown and named %s leaves no property on every object',
    async (name) => {
      await runScripted({ scripts: [asks('Rome', name), 'x'], tools: [] })
      const inherited: string[] = []
      for (const key in {}) inherited.push(key)
      expect([...inherited, ...Object.keys(Object)]).toEqual([])
    },
  )
})

describe('arguments that do not match the schema', () => {
  test('are reported to the model by path, expectation and finding; nothing is executed', async () => {
    let runs = 0
    const counting: AgentTool = { ...weather(), run: () => String(++runs) }
    const { trajectory, events } = await runScripted({
      scripts: [asks(5) + call('weather', {}), asks('Rome'), 'x'],
      tools: [counting],
    })
    expect(results(trajectory)).toEqual([
      'Error: invalid arguments: city: expected a string, found 5. It was not executed.',
      'Error: invalid arguments: city: expected a value, it is required, found nothing. It was not executed.',
      '1',
    ])
    expect(toolCallsOf(trajectory).map(({ result }) => result?.status)).toEqual(['error', 'error', 'success'])
    expect(toolCallsOf(trajectory)[0]?.result).not.toHaveProperty('startedAt')
    expect(events.filter(({ type }) => type === 'tool-started')).toHaveLength(1)
    expect(trajectory.outcome).toEqual(endedOutcome('end_turn'))
  })

  test('are found in calls of the calculator too', async () => {
    const { trajectory } = await runScripted({ scripts: [call('calculator', { expression: 12 }), 'x'] })
    expect(results(trajectory)).toEqual([
      'Error: invalid arguments: expression: expected a string, found 12. It was not executed.',
    ])
  })
})

test('a long result is cut at its limit, in words, errors too, and its length is recorded', async () => {
  const long = 'lorem '.repeat(50)
  const failing = weather({ failure: { kind: 'always', error: long } }, 'failing')
  const played = (limits: object) =>
    runScripted({
      scripts: [asks(long) + asks('Bern') + asks('x', 'failing'), 'fine'],
      tools: [weather(), failing],
      settings: { limits },
    })
  const { trajectory } = await played({ maxResultCharacters: 120 })
  const [first, second, third] = toolCallsOf(trajectory).map(({ result }) => result)
  expect(first).toMatchObject({ status: 'success', wholeLength: long.length + 'Sunny in .'.length })
  expect(first?.text).toMatch(/^Sunny in lorem .*characters left out.*lorem \.$/s)
  expect([first?.text.length, third?.text.length]).toEqual([120, 120])
  expect(second).toMatchObject({ text: 'Sunny in Bern.' })
  expect(second).not.toHaveProperty('wholeLength')
  expect(third).toMatchObject({ status: 'error', wholeLength: long.length + 'Error: '.length })
  expect(drawMask(trajectory)).toMatch(/\(tool Sunny in [^)]*221 characters left out/)
  expect(results((await played({})).trajectory)[0]).toBe(`Sunny in ${long}.`)
})

describe('a tool that takes too long', () => {
  test('ends with an error result, and the run continues', async () => {
    const { trajectory } = await runScripted({
      scripts: [asks('Rome') + asks('Bern', 'quick'), 'sorry'],
      tools: [hanging, weather({}, 'quick')],
      settings: { limits: { toolTimeoutMs: 20 } },
    })
    expect(results(trajectory)).toEqual(['Error: no result within 20 ms. The call was given up.', 'Sunny in Bern.'])
    expect(toolCallsOf(trajectory)[0]?.result?.status).toBe('error')
    expect(trajectory.outcome).toEqual(endedOutcome('end_turn'))
  })

  test('cannot change its result after it is settled', async () => {
    let abortReason: unknown
    const heeding: AgentTool = {
      ...weather(),
      run: (_, { signal }) =>
        new Promise((_resolve, reject) =>
          signal.addEventListener('abort', () => {
            abortReason = signal.reason
            reject(new Error('aborted'))
          }),
        ),
    }
    const { trajectory } = await runScripted({
      scripts: [asks('Rome'), 'sorry'],
      tools: [heeding],
      settings: { limits: { toolTimeoutMs: 20 } },
    })
    expect(abortReason).toBeDefined()
    expect(results(trajectory)).toEqual(['Error: no result within 20 ms. The call was given up.'])
  })

  test('is stopped if it is a mock that waits', async () => {
    const controller = new AbortController()
    const context = { signal: controller.signal, number: 1, hold() {}, untimed: <T>(turn: Promise<T>) => turn }
    const waiting = weather({ delayMs: 600_000 }).run({ city: 'Rome' }, context)
    controller.abort()
    await expect(waiting).rejects.toThrow('aborted')
  })

  test('keeps its output, before the error, when it times out and when the run is stopped', async () => {
    const controller = new AbortController()
    let started = 0
    const holding: AgentTool = {
      ...weather(),
      run: ({ city }, { hold }) => {
        hold(() => (city === 'Rome' ? 'sunny until' : ''))
        if (++started === 3) controller.abort()
        return new Promise(() => {})
      },
    }
    const { trajectory } = await runScripted({
      scripts: [asks('Rome') + asks('Bern'), asks('Rome')],
      tools: [holding],
      settings: { limits: { toolTimeoutMs: 20 } },
      signal: controller.signal,
    })
    const late = 'Error: no result within 20 ms. The call was given up.'
    expect(results(trajectory)).toEqual([
      `sunny until\n${late}`,
      late,
      'sunny until\nError: the run was stopped before this call was finished.',
    ])
  })

  test('is timed from the start of its turn', async () => {
    const patient: AgentTool = {
      ...weather(),
      run: async ({ city }, { untimed }) => {
        await untimed(new Promise((resolve) => setTimeout(resolve, 60)))
        return city === 'Rome' ? 'at last' : new Promise(() => {})
      },
    }
    const { trajectory } = await runScripted({
      scripts: [asks('Rome') + asks('Bern'), 'x'],
      tools: [patient],
      settings: { limits: { toolTimeoutMs: 20 } },
    })
    expect(results(trajectory)).toEqual(['at last', 'Error: no result within 20 ms. The call was given up.'])
  })

  test('does not outlast a stop while it waits for its turn', async () => {
    const controller = new AbortController()
    const { trajectory } = await runScripted({
      scripts: [asks('Rome')],
      tools: [{ ...weather(), run: (_, { untimed }) => untimed(new Promise<string>(() => {})) }],
      signal: controller.signal,
      onEvent: ({ type }) => type === 'tool-started' && controller.abort(),
    })
    expect(trajectory.outcome).toEqual(endedOutcome('cancelled'))
  })

  test('has thirty seconds by default; the timer of an answered call is cleared', async () => {
    const set = vi.spyOn(globalThis, 'setTimeout')
    const clear = vi.spyOn(globalThis, 'clearTimeout')
    const timed = (ms: number) =>
      set.mock.results.filter((_, i) => set.mock.calls[i]?.[1] === ms).map(({ value }) => value)
    await runScripted({ scripts: [asks('Rome') + asks('Bern'), 'x'], tools: [weather()] })
    expect(timed(30_000)).toHaveLength(2)
    for (const timer of timed(30_000)) expect(clear).toHaveBeenCalledWith(timer)
    vi.restoreAllMocks()
  })

  test('does not delay a stop', async () => {
    const controller = new AbortController()
    const { trajectory } = await runScripted({
      scripts: [asks('Rome')],
      tools: [hanging],
      signal: controller.signal,
      onEvent: ({ type }) => type === 'tool-started' && controller.abort(),
    })
    expect(trajectory.outcome).toEqual(endedOutcome('cancelled'))
    expect(toolCallsOf(trajectory)).toMatchObject([{ result: { status: 'cancelled' } }])
  })
})

test('a tool failure may have its own text, which is all that the model reads', async () => {
  const failing: AgentTool = { ...weather(), run: () => Promise.reject(new ToolFailure('1\nZeroDivisionError')) }
  const { trajectory } = await runScripted({ scripts: [asks('A'), 'x'], tools: [failing] })
  expect(toolCallsOf(trajectory)[0]?.result).toMatchObject({ status: 'error', text: '1\nZeroDivisionError' })
  expect(drawMask(trajectory)).toContain('(tool 1 ZeroDivisionError)')
})

test.each([['ends by itself'], ['is stopped']])('a tool is closed once, when the run %s', async (how) => {
  const happened: string[] = []
  const controller = new AbortController()
  const closing: AgentTool = {
    ...weather(),
    run: () => {
      happened.push('called')
      if (how !== 'is stopped') return 'Sunny.'
      controller.abort()
      return new Promise(() => {})
    },
    close: () => void happened.push('closed'),
  }
  await runScripted({
    scripts: [asks('A'), 'x'],
    tools: [closing],
    signal: controller.signal,
    onEvent: ({ type }) => type === 'ended' && happened.push('told'),
  })
  expect(happened).toEqual(['called', 'closed', 'told'])
})

test('calls of one response run in parallel; their results are in the order of the calls', async () => {
  const { trajectory, events } = await runScripted({
    scripts: [asks('A', 'slow') + asks('B', 'quick') + asks('C', 'slow'), 'x'],
    tools: [weather({ delayMs: 40 }, 'slow'), weather({}, 'quick')],
  })
  expect(drawMask(trajectory)).toContain('(tool Sunny in A. tool Sunny in B. tool Sunny in C.)')
  const order = events.flatMap((event) =>
    event.type === 'tool-started' || event.type === 'tool-ended' ? [`${event.type} ${event.callId}`] : [],
  )
  expect(order.slice(0, 4)).toEqual([
    'tool-started call_0000',
    'tool-started call_0001',
    'tool-started call_0002',
    'tool-ended call_0001',
  ])
})

describe('a run without traces, whose calls bypass the SDK,', () => {
  const registry = globalThis as { [key: symbol]: unknown }
  const KEY = Symbol.for('opentelemetry.js.api.1')
  afterEach(() => {
    registry[KEY] = undefined
  })

  test('has the events of a traced run, for results, errors, refused and unknown calls', async () => {
    const spoiling: AgentTool = {
      ...weather({}, 'spoiling'),
      run: (input) => {
        Object.assign(input, { city: 'spoiled' })
        return 'done'
      },
    }
    const failing: AgentTool = { ...weather({}, 'failing'), run: () => Promise.reject('a text') }
    const own: AgentTool = { ...weather({}, 'own'), run: () => Promise.reject(new ToolFailure('own text')) }
    const run = async () => {
      const { events } = await runScripted({
        scripts: [
          asks('A') + asks(5) + asks('B', 'spoiling') + asks('C', 'failing') + asks('D', 'own'),
          `${asks('E', 'unknown')}<tool_call>{"name": "weather"</tool_call>`,
          'x',
        ],
        tools: [weather(), spoiling, failing, own],
        settings: { limits: { maxParallelToolCalls: 5, maxResultCharacters: 60 } },
      })
      // The clock counts its readings, and the order in which calls of one response end is not defined.
      const written = events.map((event) =>
        JSON.stringify(event, (key, value) => (key === 'elapsedMs' || key === 'firstTokenMs' ? 0 : value)),
      )
      return written.filter((_, index) => !/^tool-/.test(events[index]?.type ?? '')).concat(written.toSorted())
    }
    const untraced = await run()
    registry[KEY] = { trace: {} }
    expect(untraced).toEqual(await run())
    expect(JSON.stringify(untraced)).toContain('own text')
  })
})
