import { type Agent, Message, TextBlock, ToolResultBlock } from '@strands-agents/sdk'
import { afterEach, expect, test } from 'vitest'
import { sampleTrajectory } from '#testing/sample-trajectory.ts'
import { sdkHistory, sdkQuestion } from './sdk-history.ts'
import { shortenHistory } from './sdk-text.ts'

const registry = globalThis as { [key: symbol]: unknown }
const KEY = Symbol.for('opentelemetry.js.api.1')
const before = registry[KEY]
afterEach(() => {
  registry[KEY] = before
})

const sdkMessages = () =>
  JSON.stringify([
    sdkHistory(sampleTrajectory),
    sdkQuestion([{ role: 'user', content: 'a further question' }], sampleTrajectory),
  ])

test('the SDK keeps no texts of a token-in/token-out run, unless its traces are read', () => {
  expect(sdkMessages()).not.toContain('further')
  expect(sdkMessages()).toContain('(in the trajectory)')
  registry[KEY] = { trace: {} }
  expect(sdkMessages()).toContain('a further question')
  expect(sdkMessages()).not.toContain('(in the trajectory)')
})

test('the SDK keeps no texts of results in an untraced run, but their ids and states', async () => {
  const kept = async () => {
    const result = new ToolResultBlock({
      toolUseId: 'call_1',
      status: 'error',
      content: [new TextBlock('a long text')],
    })
    const message = new Message({ role: 'user', content: [result] })
    let added: ((event: { message: Message }) => void) | undefined
    const agent = { messages: [message], addHook: (_: unknown, hook: typeof added) => (added = hook) }
    shortenHistory(agent as unknown as Agent)
    added?.({ message })
    return JSON.stringify(message)
  }
  expect(await kept()).toContain('(in the trajectory)')
  expect(await kept()).not.toContain('a long text')
  expect(await kept()).toMatch(/call_1.*error|error.*call_1/)
  registry[KEY] = { trace: {} }
  expect(await kept()).toContain('a long text')
})

test('the SDK keeps the newest message in a run without traces', () => {
  const left = () => {
    const messages = ['1', '2', '3', '4'].map((text) => new Message({ role: 'user', content: [new TextBlock(text)] }))
    let added: ((event: { message: Message }) => void) | undefined
    const agent = { messages, addHook: (_: unknown, hook: typeof added) => (added = hook) }
    shortenHistory(agent as unknown as Agent)
    added?.({ message: messages.at(-1) as Message })
    return messages.length
  }
  expect(left()).toBe(1)
  registry[KEY] = { trace: {} }
  expect(left()).toBe(4)
})
