/** Runs the same conversations on the built-in server and on the real llama.cpp, whose address is all that Rollscope is given. */
import { beforeAll, expect, inject, test } from 'vitest'
import { application, difference, tokenColumns } from '../set-up/application.ts'
import { conversations } from './conversations.ts'
import { comparedText, compareWithServer } from './same-replies.ts'

const { application: address, server } = inject('llamacpp')
const rollscope = application(address)

beforeAll(async () => {
  await rollscope.addServer('llamacpp', server)
})

test('Every greedy reply of six conversations has the same ids and nearly the same logprobs as on the built-in server', async () => {
  expect(conversations).toHaveLength(6)
  console.log(`llama.cpp: ${comparedText(await compareWithServer(rollscope, 'llamacpp', 'llama.cpp'))}`)
})

test('A server of which only the address is known gives a run with tools, by its own tokenizer and template', async () => {
  const [conversation] = conversations
  if (!conversation) throw new Error('there are no conversations')
  const trajectory = await rollscope.converse(conversation, { server: 'llamacpp', stream: true, tokenizer: 'server' })
  expect(trajectory.outcome).toEqual({ kind: 'ended', reason: 'end_turn' })
  const calls = trajectory.segments.flatMap((segment) => (segment.kind === 'response' ? segment.toolCalls : []))
  expect(calls.map(({ result }) => result?.status)).toContain('success')
})

test('A LoRA adapter of the server is used by the name of its file, and another name is refused', async () => {
  const [conversation] = conversations
  if (!conversation) throw new Error('there are no conversations')
  const run = (adapter?: string) =>
    rollscope.converse(conversation, {
      server: 'llamacpp',
      stream: false,
      tokenizer: 'server',
      ...(adapter !== undefined && { adapter }),
    })
  const [base, adapted] = [tokenColumns(await run()), tokenColumns(await run('tiny-adapter'))]
  expect(adapted.logprobs.some((logprob) => logprob !== null)).toBe(true)
  expect(difference(base.logprobs, adapted.logprobs).largest).toBeGreaterThan(1e-3)
  await expect(run('other')).rejects.toThrow(/422 .*it has tiny-adapter/s)
})

test('A request for prompt logprobs is refused before the run, with the remedy', async () => {
  const [conversation] = conversations
  if (!conversation) throw new Error('there are no conversations')
  await expect(
    rollscope.converse(conversation, { server: 'llamacpp', stream: false, promptLogprobs: true, tokenizer: 'server' }),
  ).rejects.toThrow(/422 .*NOT_IN_ENGINE.*promptLogprobs|422 .*promptLogprobs.*NOT_IN_ENGINE/s)
})
