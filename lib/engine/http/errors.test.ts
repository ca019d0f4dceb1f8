import { expect, test } from 'vitest'
import { recording, recordingNames } from '#testing/sglang/recordings.ts'
import { contextCounts, EngineError, errorFromStatus } from './errors.ts'

test.each([
  [
    '0.4.6 to 0.5.23, the tokenizer’s check',
    "The input (5000 tokens) is longer than the model's context length (4096 tokens).",
    { needed: 5000, holds: 4096 },
  ],
  [
    '0.4.6 to 0.5.23, the scheduler’s check',
    'Input length (5000 tokens) exceeds the maximum allowed length (4090 tokens). Use a shorter input or enable --allow-auto-truncate.',
    { needed: 5000, holds: 4090 },
  ],
  [
    '0.4.6 to 0.5.23, prompt and reply together',
    "Requested token count exceeds the model's maximum context length of 4096 tokens. You requested a total of 4190 tokens: 4090 tokens from the input messages and 100 tokens for the completion.",
    { needed: 4190, holds: 4096 },
  ],
  [
    'of vLLM 0.32, the chat endpoint’s check',
    "Input length (4405) exceeds model's maximum context length (4096).",
    { needed: 4405, holds: 4096 },
  ],
  [
    'of vLLM 0.32, a prompt with images',
    'The decoder prompt (length 4405) is longer than the maximum model length of 4096. Make sure that `max_model_len` is no smaller than the number of text tokens plus multimodal tokens.',
    { needed: 4405, holds: 4096 },
  ],
  ['a fork without numbers', 'prompt exceeds the context length', {}],
  ['a fork with one number', 'over the maximum context length of 4096 tokens.', { holds: 4096 }],
])('the refusal %s is a context overflow', (_what, words, counts) => {
  expect(contextCounts(words)).toEqual(counts)
})

test.each([
  'n exceeds the limit of 8',
  'stop_regex is 300 bytes, which exceeds the maximum allowed length of 256 bytes',
  'top_logprobs_num exceeds the vocabulary',
  'The number of stop strings exceeds 32',
  'max_new_tokens must be at least 0, got -1.',
  'request body exceeds the maximum length',
])('the refusal %s is not a context overflow', (words) => {
  expect(contextCounts(words)).toBeUndefined()
})

test('only recorded refusals that name the context are a context overflow', () => {
  const refusals = recordingNames.flatMap((name) => {
    const { status, response } = recording(name)
    return status === 400 ? [{ name, error: errorFromStatus(status, JSON.stringify(response), {}) }] : []
  })
  expect(refusals.length).toBeGreaterThan(20)
  const overflows = refusals.filter(({ error }) => error.code === 'CONTEXT_LENGTH').map(({ name }) => name)
  expect(overflows).toEqual([
    'chat-err-sum',
    'chat-stream-err-sum',
    'completion-err-sum',
    'errors-err-over-length-batch',
    'errors-err-over-length-equal',
    'errors-err-over-length-input',
    'errors-err-over-length-sum',
  ])
})

test('a refusal names the parameter, or the value of it, that the server does not support', () => {
  const { response } = recording('errors-err-unknown-sampling-param')
  expect(errorFromStatus(400, JSON.stringify(response), {})).toMatchObject({
    code: 'UNKNOWN_PARAMETER',
    message: 'the server does not support the parameter max_tokens (400)',
    parameter: 'max_tokens',
  })
  const python = "SamplingParams.__init__() got an unexpected keyword argument 'min_p'"
  expect(errorFromStatus(500, python, {})).toMatchObject({ code: 'UNKNOWN_PARAMETER', parameter: 'min_p' })
  expect(errorFromStatus(400, '{"error": {"message": "top_p must be in (0, 1], got 2."}}', {})).toMatchObject({
    code: 'UPSTREAM_REJECTED',
    parameter: 'top_p',
  })
  for (const [name, parameter] of [
    ['core-generate-json-schema-bad', 'json_schema'],
    ['core-generate-regex-bad', 'regex'],
  ] as const)
    expect(errorFromStatus(400, JSON.stringify(recording(name).response), {})).toMatchObject({ parameter })
  expect(errorFromStatus(400, 'The model is busy', {}).parameter).toBeUndefined()
})

test('an HTML error page of a megabyte with unclosed tags is read in time', () => {
  expect(errorFromStatus(500, '<'.repeat(1 << 20), {})).toMatchObject({ code: 'UPSTREAM_ERROR' })
})

test('the hint on a refused key depends on whether a key was sent', () => {
  expect(errorFromStatus(401, '', {}).hint).toContain('save one for this server')
  expect(errorFromStatus(401, '', {}, 'sk-1').hint).toContain('change it')
})

test('no hint repeats the message of the same failure', () => {
  const failures = [
    ['CONNECT_REFUSED', 'nothing listens'],
    ['CONNECT_TIMEOUT', 'does not answer'],
    ['TLS_FAILED', 'certificate is'],
    ['CONNECTION_RESET', 'closed the connection'],
    ['HEADERS_TIMEOUT', 'accepted the request'],
    ['BODY_TIMEOUT', 'stopped'],
    ['DEADLINE', 'took longer'],
    ['UPSTREAM_BUSY', 'busy'],
    ['UPSTREAM_ERROR', 'failed'],
  ] as const
  for (const [code, words] of failures) expect(new EngineError(code, words).hint).not.toMatch(new RegExp(words, 'i'))
})

test('the sentence form of an error message begins with a capital letter', () => {
  const error = new EngineError('CONNECT_REFUSED', 'nothing listens at the server’s address (ECONNREFUSED)')
  expect(error.sentence).toBe('Nothing listens at the server’s address (ECONNREFUSED)')
})
