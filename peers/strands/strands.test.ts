/**
 * Runs agents of the real, unchanged Python strands-sglang against the built-in server, as against SGLang. It keeps only the
 * origin of an address, so it uses the built-in server at the application's root.
 */
import { expect, inject, test } from 'vitest'
import { conversations } from '../servers/conversations.ts'
import { application, difference, type Tokens, tokenColumns } from '../set-up/application.ts'
import { python } from '../set-up/python.ts'

const places = inject('places')
const rollscope = application(places.application)
const LOGPROB_TOLERANCE = 1e-3

interface PythonRollout {
  readonly token_ids: readonly number[]
  readonly loss_mask: readonly number[]
  readonly logprobs: readonly (number | null)[]
}

async function runPython(baseUrl: string): Promise<Tokens[]> {
  const rollouts = await python(places.peers.strands, 'strands/agent.py', [baseUrl, places.peers.model], conversations)
  return (rollouts as PythonRollout[]).map(({ token_ids, loss_mask, logprobs }) => ({
    ids: token_ids,
    mask: loss_mask,
    logprobs,
  }))
}

function compare(left: readonly Tokens[], right: readonly Tokens[], who: string): void {
  expect(left.map(({ ids }) => ids)).toEqual(right.map(({ ids }) => ids))
  expect(left.map(({ mask }) => mask)).toEqual(right.map(({ mask }) => mask))
  const found = left.map(({ logprobs }, index) => difference(logprobs, right[index]?.logprobs ?? []))
  const compared = found.reduce((sum, one) => sum + one.compared, 0)
  const largest = Math.max(...found.map((one) => one.largest))
  const tokens = left.reduce((sum, { ids }) => sum + ids.length, 0)
  console.log(
    `${who}: ${left.length} rollouts, ${tokens} ids equal, ${compared} logprobs, largest difference ${largest.toExponential(1)}`,
  )
  // All tokens have logprobs, except the first of each rollout.
  expect(compared).toBe(tokens - left.length)
  expect(largest).toBeLessThan(LOGPROB_TOLERANCE)
}

test('strands-sglang gets the same from the built-in server as from SGLang, and records what Rollscope records', async () => {
  const onBuiltIn = await runPython(rollscope.baseUrl)
  const onSglang = await runPython(places.sglang)
  compare(onBuiltIn, onSglang, 'strands-sglang on the built-in server and on SGLang')
  const own: Tokens[] = []
  for (const conversation of conversations)
    own.push(
      tokenColumns(await rollscope.converse(conversation, { server: 'built-in', stream: false, promptLogprobs: true })),
    )
  compare(own, onBuiltIn, 'Rollscope and strands-sglang on the built-in server')
})
